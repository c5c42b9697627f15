"""Every example that is shown to a user is run: in docstrings, README.md and docs/."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import calibrant

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = ["calibrant", *(m.name for m in pkgutil.walk_packages(calibrant.__path__, "calibrant."))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def check(example: doctest.DocTest) -> None:
    failures: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(example, out=failures.append, clear_globs=False)
    assert not failures, "".join(failures)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for example in doctest.DocTestFinder().find(importlib.import_module(name)):
        check(example)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page are run in order, in one namespace, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        code, line = block[1], text.count("\n", 0, block.start(1))
        if code.lstrip().startswith(">>>"):
            parser = doctest.DocTestParser()
            example = parser.get_doctest(code, namespace, page.name, str(page), line)
            check(example)
            namespace.update(example.globs)
        else:  # the empty lines make a traceback point at the page
            exec(compile("\n" * line + code, page, "exec"), namespace)
