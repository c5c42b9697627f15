"""Python modules import what lies below them, never what is built on top of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1] / "python"

#: From the bottom to the top; what is not named here lies below all of it.
LAYERS = (
    ("io", "plotting"),
    (
        "evidence",
        "_evidence_reading",
        "_evidence_rows",
        "_partition_states",
        "distributed",
        "telemetry",
    ),
    ("compat", "report"),
    ("cli", "commands", "__main__"),
)
#: Imported where they are used, by modules below them: pictures by the ``plot`` of a result, and
#: evidence by its name in a state.
WHEN_USED = {"calibrant.plotting", "calibrant.evidence"}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def layer(module: str) -> int:
    first = module.removeprefix("calibrant").lstrip(".").split(".")[0]
    return next((k for k, names in enumerate(LAYERS, 1) if first in names), 0)


def imports(tree: ast.AST, module: str) -> Iterator[tuple[str, bool]]:
    """Each module of the package that is imported, and whether it is on import; types are not."""
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
        yield from ((name, at_once and not inside) for name, at_once in imports(node, module))


IMPORTS = {
    module: sorted(set(imports(ast.parse(path.read_text("utf-8")), module)))
    for module, path in MODULES.items()
}


def test_imports_point_down():
    upward = [
        f"{module} imports {name}"
        for module, found in IMPORTS.items()
        for name, at_once in found
        if layer(name) > layer(module) and (at_once or name not in WHEN_USED)
    ]
    assert upward == []


def test_no_module_needs_itself():
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " > ".join((*path, module))
        if module in done:
            return
        for name, at_once in IMPORTS.get(module, ()):
            # What is taken of the package itself is the extension and the version.
            if at_once and name != "calibrant":
                visit(name, (*path, module))
        done.add(module)

    for module in MODULES:
        visit(module, ())


def test_layers_are_there():
    for name in (name for names in LAYERS for name in names):
        assert f"calibrant.{name}" in MODULES
