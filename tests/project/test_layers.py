"""The rooms of every layer have the same names, and files use only those of rooms below theirs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from rooms import BUILD, CORE, FOUNDATION, ROOMS, TOP

ROOT = Path(__file__).parents[2]
ORDER = (*FOUNDATION, *ROOMS)
CPP = [ROOT / "cpp" / name for name in ("include/calibrant", "src", "bindings", "tests")]
SOURCES = {".cpp", ".hpp", ".py", ".pyi"}


def folders(path: Path) -> set[str]:
    """The folders in it that hold sources and are no project of their own."""
    return {
        folder.name
        for folder in path.iterdir()
        if folder.is_dir()
        and any(file.suffix in SOURCES for file in folder.rglob("*"))
        and not is_project(folder / "CMakeLists.txt")
    }


def is_project(build: Path) -> bool:
    return build.exists() and re.search(r"^project\(", build.read_text(), re.MULTILINE) is not None


def test_rooms_of_python_and_its_tests():
    found = folders(ROOT / "python" / "calibrant")
    assert found <= {*ORDER}
    assert found >= {*FOUNDATION, *TOP}
    assert folders(ROOT / "tests") <= {*ROOMS, "laws", "project", "support"}


@pytest.mark.parametrize("layer", CPP, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_rooms_of_the_core(layer):
    assert folders(layer) <= {*CORE}


@pytest.mark.skipif(not BUILD.exists(), reason="the core is built in one piece")
def test_every_room_of_the_core_is_built():
    assert folders(BUILD.parent) == {*CORE}


def sources() -> Iterator[Path]:
    """Give every folder that holds sources."""
    tops = [ROOT / "python", ROOT / "tests", *([ROOT / "cpp"] if BUILD.exists() else [])]
    for top in tops:
        yield from {file.parent for file in top.rglob("*") if file.suffix in SOURCES}


def test_no_folder_holds_more_than_30_sources():
    counts = {
        folder.relative_to(ROOT).as_posix(): sum(
            file.suffix in SOURCES for file in folder.iterdir()
        )
        for folder in sources()
    }
    assert {folder: n for folder, n in counts.items() if n > 30} == {}


# Includes

CPP_ROOT = ROOT / "cpp"
PUBLIC = CPP_ROOT / "include"
#: Where the compiler looks for a file, as the CMakeLists.txt say.
INCLUDE_FOLDERS = (PUBLIC, CPP_ROOT / "src", CPP_ROOT, CPP_ROOT / "tests")


def included(source: Path) -> list[Path]:
    """The files of the project that a source includes."""
    names = re.findall(r'^\s*#\s*include "([^"]+)"', source.read_text("utf-8"), re.MULTILINE)
    found = [
        next((folder / name for folder in INCLUDE_FOLDERS if (folder / name).exists()), None)
        for name in names
    ]
    assert None not in found, f"{source} includes what is not there: {names}"
    return [path for path in found if path is not None]


INCLUDES = {
    source: included(source)
    for layer in CPP
    for source in sorted(layer.rglob("*"))
    if source.suffix in {".cpp", ".hpp"}
}


@cache
def cpp_height(source: Path) -> int:
    """The place of its room; sources in none are as high as what they include."""
    layer = next(layer for layer in CPP if layer in source.parents)
    room = source.relative_to(layer).parts[0]
    if room in CORE:
        return CORE.index(room)
    return max(map(cpp_height, INCLUDES[source]), default=-1)


@pytest.mark.skipif(not BUILD.exists(), reason="the core is built in one piece")
def test_includes_point_down():
    assert len(INCLUDES) > 100
    assert [
        (source.relative_to(ROOT).as_posix(), header.relative_to(ROOT).as_posix())
        for source, headers in INCLUDES.items()
        for header in headers
        if cpp_height(header) > cpp_height(source)
    ] == []


def test_public_headers_include_public_headers_only():
    """So that programs which include them see no tables of kernels; and so few are installed."""
    public = [source for source in INCLUDES if PUBLIC in source.parents]
    assert 0 < len(public) <= 45
    assert [
        (source.relative_to(PUBLIC).as_posix(), header.relative_to(ROOT).as_posix())
        for source in public
        for header in INCLUDES[source]
        if PUBLIC not in header.parents
    ] == []


# Imports


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT / "python").with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in sorted((ROOT / "python").rglob("*.py"))}


def imports(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """Each module of the package that is imported, and whether when it is loaded; types are not."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "calibrant":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield (inner if inner in MODULES else str(node.module)), True
        elif isinstance(node, ast.Import):
            yield from ((a.name, True) for a in node.names if a.name in MODULES)
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        yield from ((name, at_once and not inside) for name, at_once in imports(node))


IMPORTS = {
    # What is taken of the package itself is the extension and the version.
    module: sorted({found for found in imports(ast.parse(path.read_text("utf-8")))
                    if found[0] != "calibrant"})
    for module, path in MODULES.items()
}  # fmt: skip


@cache
def height(module: str) -> int:
    """The place of its room; modules in none lie as high as what they are made of."""
    room = [*module.split("."), ""][1]
    if room in ORDER:
        return ORDER.index(room)
    return max((height(name) for name, at_once in IMPORTS.get(module, ()) if at_once), default=-1)


def upward(*, at_once: bool) -> list[tuple[str, str]]:
    return [
        (module, name)
        for module, found in IMPORTS.items()
        for name, when in found
        if when == at_once and height(name) > height(module)
    ]


def test_imports_point_down():
    assert upward(at_once=True) == []


def test_what_is_loaded_late_from_above_is_public():
    """A result loads its picture when it is drawn; nothing reaches into the rooms above it."""
    private = [
        (module, name) for module, name in upward(at_once=False) if re.search(r"\._[a-z]", name)
    ]
    assert private == []


def test_no_module_needs_itself():
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " > ".join((*path, module))
        if module in done:
            return
        for name, at_once in IMPORTS.get(module, ()):
            if at_once:
                visit(name, (*path, module))
        done.add(module)

    for module in MODULES:
        visit(module, ())


def test_rooms_are_listed_once():
    assert all(a != b for a, b in pairwise(sorted(ORDER)))
