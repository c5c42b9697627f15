"""Every example that is shown to a user is run: in docstrings, README.md and docs/.

Blocks of a page are run in order, in one folder: `python` in one namespace; `calibrant` commands,
each line of `sh` and the lines with a $ of `console`, in this process. C++ is not built here: it
must be an excerpt of examples/cpp, which CI builds and runs. `text` is output. What cannot be run
has a line above that says why, and is counted.
"""

import doctest
import importlib
import inspect
import pkgutil
import re
import shlex
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

import calibrant
from calibrant import commands

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = [page for page in PAGES if page.parent.name != "examples"]  # those: test_examples.py
MODULES = ["calibrant", *(m.name for m in pkgutil.walk_packages(calibrant.__path__, "calibrant."))]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+) -->\n)?"
    r"^```(?P<language>\w*)\n(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
INDENTED = re.compile(r"^[^\s\-*\d].*\n\n {4}(?P<code>\S.*)", re.MULTILINE)  # not in a list
LANGUAGES = {"python", "sh", "console", "cpp", "cmake", "text", "json"}
# How many blocks of a page are not run, each with its reason in the page.
NOT_RUN = {
    "CONTRIBUTING.md": 3,
    "README.md": 1,
    "docs/production/distributed.md": 3,
    "docs/guide/compat.md": 2,
    "docs/production/embedding-cpp.md": 2,
    "docs/start/get-started.md": 1,
    "docs/reference/hardening.md": 1,
    "docs/reference/performance.md": 2,
    "docs/guide/plotting.md": 1,
    "docs/guide/report.md": 1,
}


def names_of(pages: list[Path]) -> list[str]:
    return [page.relative_to(ROOT).as_posix() for page in pages]


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    line: int
    reason: str | None


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(m["language"], m["code"], text.count("\n", 0, m.start("code")), m["reason"])
        for m in FENCE.finditer(text)
    ]


def check(example: doctest.DocTest) -> None:
    failures: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(example, out=failures.append, clear_globs=False)
    assert not failures, "".join(failures)


class Finder(doctest.DocTestFinder):
    """Finds classes where they are written, whatever module they are shown in."""

    def _from_module(self, module: ModuleType, thing: object) -> bool:
        if inspect.isclass(thing):
            functions = [value for value in vars(thing).values() if inspect.isfunction(value)]
            if functions:
                return any(function.__globals__ is vars(module) for function in functions)
        return super()._from_module(module, thing)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for example in Finder().find(importlib.import_module(name)):
        check(example)


def marks_of(page: Path) -> list[pytest.MarkDecorator]:
    """Of DuckDB and polars there is nothing for Python without a GIL."""
    imports = re.search(r"^>>> import .*(?:duckdb|polars)", page.read_text("utf-8"), re.MULTILINE)
    return [pytest.mark.gil] if imports else []


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=marks_of(page)) for page in RUN], ids=names_of(RUN)
)
def test_pages(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page are run in order, in one namespace, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_of(page):
        if block.reason is not None:
            continue
        if block.language == "python":
            run_python(block, page, namespace)
        elif block.language == "sh":
            for line in block.code.splitlines():
                run_command(line)
        elif block.language == "console":
            run_session(block.code)
        elif block.language in ("cpp", "cmake"):
            assert is_excerpt(block.code), f"not in examples/cpp:\n{block.code}"


def run_python(block: Block, page: Path, namespace: dict[str, object]) -> None:
    if block.code.lstrip().startswith(">>>"):
        parser = doctest.DocTestParser()
        example = parser.get_doctest(block.code, namespace, page.name, str(page), block.line)
        check(example)
        namespace.update(example.globs)
    else:  # the empty lines make a traceback point at the page
        exec(compile("\n" * block.line + block.code, page, "exec"), namespace)


def run_command(line: str) -> list[str]:
    """The lines that `calibrant ...` prints, on both outputs; it must succeed."""
    program, *arguments = shlex.split(line, comments=True)
    assert program == "calibrant", f"run nothing else, or say why not: {line}"
    done = CliRunner().invoke(commands.calibrant, arguments)
    assert done.exit_code == 0, done.output
    return [printed.rstrip() for printed in done.output.splitlines()]


def run_session(session: str) -> None:
    """Run each `$ command`; the lines below it must be found in what it prints."""
    assert session.startswith("$ "), "a session begins with a command: $ calibrant ..."
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        printed = run_command(command)
        assert set(shown.splitlines()) <= set(printed), "\n".join(printed)


def is_excerpt(code: str) -> bool:
    files = (ROOT / "examples" / "cpp").iterdir()
    return any(code in file.read_text(encoding="utf-8") for file in files)


@pytest.mark.parametrize("page", PAGES, ids=names_of(PAGES))
def test_every_block_names_a_language(page: Path) -> None:
    """Nothing passes for output that is code: no bare fence, and no block by indentation."""
    assert {block.language for block in blocks_of(page)} <= LANGUAGES
    assert page.read_text(encoding="utf-8").count("\n```") == 2 * len(blocks_of(page))
    without_fences = FENCE.sub("", page.read_text(encoding="utf-8"))
    assert [m["code"] for m in INDENTED.finditer(without_fences)] == []


def test_blocks_that_are_not_run_are_counted() -> None:
    found = Counter(
        name
        for page, name in zip(PAGES, names_of(PAGES), strict=True)
        for block in blocks_of(page)
        if block.reason is not None
    )
    assert dict(found) == NOT_RUN
