"""Every public name is in the API reference, and every page in the navigation and the map."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest

import calibrant

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAME = re.compile(r"^::: (calibrant[\w.]*)$", re.MULTILINE)
SHOWN = [
    name for page in sorted((DOCS / "api").glob("*.md")) for name in NAME.findall(page.read_text())
]


def is_public(module: str) -> bool:
    """Commands are for the shell: docs/guide/commands.md describes them."""
    parts = module.split(".")
    return not any(part.startswith("_") for part in parts) and parts[1] not in ("cli", "commands")


MODULES = [
    "calibrant",
    *(
        module.name
        for module in pkgutil.walk_packages(calibrant.__path__, "calibrant.")
        if is_public(module.name)
    ),
]


def resolved(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError:  # a method
        return pkgutil.resolve_name(name)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_reference(module: str) -> None:
    here = importlib.import_module(module)
    public = {name: getattr(here, name) for name in here.__all__}
    shown = [resolved(name) for name in SHOWN]
    missing = [
        name
        for name, value in public.items()
        if not isinstance(value, ModuleType)
        and name != "__version__"
        and not any(value is other for other in shown)
    ]
    assert missing == []


def test_no_name_is_shown_twice_and_none_without_a_docstring() -> None:
    assert len(SHOWN) == len(set(SHOWN)) > 200
    found = {name: resolved(name) for name in SHOWN}
    described = {name: x for name, x in found.items() if inspect.isclass(x) or inspect.isroutine(x)}
    assert [name for name, x in described.items() if not (x.__doc__ or "").strip()] == []


def test_learn_plus_plus_is_shown() -> None:
    """It is in no ``__all__``: there is none without scikit-learn."""
    assert "calibrant.LearnPlusPlus" in SHOWN


PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def test_every_page_is_in_the_navigation() -> None:
    """Once: MkDocs warns of pages that are not there, but not of those that are there twice."""
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"^ +- (?:[^:\n]+: )?([\w/-]+\.md)$", settings, re.MULTILINE)
    assert sorted(name for name in listed if not name.startswith("source/")) == PAGES


@pytest.mark.parametrize("index", [page for page in PAGES if page.endswith("index.md")])
def test_every_page_is_in_the_index_above_it(index: str) -> None:
    """An index lists the pages of its folder and of those folders that have none."""
    text = (DOCS / index).read_text(encoding="utf-8")
    listed = {(DOCS / index).parent / name for name in re.findall(r"\]\(([\w/-]+\.md)\)", text)}
    below = {DOCS / page for page in PAGES if nearest_index(page) == index}
    assert below
    assert below <= listed


def nearest_index(page: str) -> str:
    """The first ``index.md`` above a page; that of a folder is below that of its parent."""
    for folder in (DOCS / page).relative_to(DOCS).parents:
        index = (folder / "index.md").as_posix()
        if index in PAGES and index != page:
            return index
    return ""
