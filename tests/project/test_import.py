"""What importing calibrant loads, and the version it says."""

from __future__ import annotations

import importlib.metadata
import inspect
import pickle
import pkgutil
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import calibrant

pytestmark = [pytest.mark.threads, pytest.mark.build]

#: What the package itself needs.
SUPPORT = {
    "calibrant", "calibrant._core", "calibrant._core._testing", "calibrant._runtime",
    "calibrant._runtime.main_interpreter",
}  # fmt: skip


def test_import_brings_in_numpy_and_the_standard_library_only():
    # NumPy first: what it brings in itself is its own affair.
    load = "import sys, numpy; old = set(sys.modules); import calibrant"
    script = f"{load}; print(*set(sys.modules) - old)"
    # Python's own, but not named by it: tells the main interpreter from others.
    allowed = sys.stdlib_module_names | {"calibrant", "numpy", "_xxsubinterpreters"}
    assert {name.split(".")[0] for name in run(script).split()} <= allowed


def test_modules_are_there_when_they_are_asked_for():
    script = (
        "import calibrant, sys; old = set(sys.modules); names = set(dir(calibrant)); "
        "print('calibrant.report' in old, names >= {'report', 'drift', 'telemetry'}, "
        "calibrant.report.report.__name__, calibrant.compat.mapie.__name__, "
        "calibrant.drift.drift.__name__, 'matplotlib' in sys.modules)"
    )
    assert run(script) == "False True report calibrant.compat.mapie drift False\n"


def test_import_does_not_read_package_metadata():
    script = "import sys, numpy; sys.modules['importlib.metadata'] = None; import calibrant"
    run(script)


def test_import_loads_no_module_of_a_concept():
    """They are loaded when a name of theirs is used, so that the import itself takes little."""
    load = "import sys, calibrant; old = set(sys.modules); calibrant.brier_score; "
    loaded = run(load + "print(*old); print(*sys.modules)").splitlines()
    old, new = ({name for name in names.split() if "calibrant" in name} for names in loaded)
    assert old == SUPPORT
    assert "calibrant.scores" in new - old
    assert "calibrant.samples" not in new


def test_names_for_type_checkers_are_those_that_are_there():
    stub = Path(calibrant.__file__).with_suffix(".pyi").read_text()
    named = dict(re.findall(r"^(?:from [\w.]+ import|   ) (\w+) as (\w+),?$", stub, re.MULTILINE))
    assert all(name == again for name, again in named.items())
    assert named.keys() == {*calibrant.__all__, *calibrant._MODULES, "LearnPlusPlus"}
    assert named.keys() - {"LearnPlusPlus"} <= set(dir(calibrant))
    assert len(set(calibrant.__all__)) == len(calibrant.__all__)


def test_names_that_are_not_there():
    with pytest.raises(AttributeError, match="module 'calibrant' has no attribute 'brier'"):
        _ = calibrant.brier
    with pytest.raises(ImportError, match="cannot import name 'brier'"):
        from calibrant import brier  # noqa: F401


def test_no_name_is_also_that_of_a_module():
    """It would be the module once that is imported."""
    modules = {module.name for module in pkgutil.iter_modules(calibrant.__path__)}
    assert modules & calibrant._HOMES.keys() == set()
    assert modules - {"cli", "commands"} >= {*calibrant._MODULES}
    others = {name for name in modules if not name.startswith("_")} - {*calibrant._MODULES, "cli"}
    named = {name for name in others if importlib.import_module(f"calibrant.{name}").__all__}
    assert named == {"commands"}


def test_the_compiled_version_is_the_installed_one():
    assert calibrant.__version__ == importlib.metadata.version("calibrant")


def run(script):
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", ["report", "drift"])
def test_modules_that_can_be_called_stay_modules(name):
    module = importlib.import_module(f"calibrant.{name}")
    function = getattr(module, name)
    assert getattr(calibrant, name) is module
    assert isinstance(module, types.ModuleType)
    assert inspect.signature(module) == inspect.signature(function)
    assert pickle.loads(pickle.dumps(function)) is function
    script = f"""
import importlib, calibrant
module = importlib.reload(calibrant.{name})
assert module is calibrant.{name}
assert module.__signature__.parameters
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    with pytest.raises(TypeError, match=r"y_proba|reference"):
        module(None, None)


def test_calling_a_module_is_calling_its_function():
    assert calibrant.report([1, 0], [0.75, 0.5]).n == 2
    table = calibrant.streaming.Scorecard()
    table.update([1, 0, 1], [0.75, 0.5, 0.5])
    assert calibrant.drift(table, table).n_current == 3
    with pytest.raises(TypeError, match=r"got the result calibrant\.Scorecard"):
        calibrant.drift(table.result(), table)
    with pytest.raises(TypeError, match=r"cannot merge Scorecard into streaming\.Scorecard"):
        table.merge(table.result())
    assert repr(table).startswith("streaming.Scorecard(n=3")


@pytest.mark.parametrize("name", ["", *(f".{name}" for name in calibrant._MODULES)])
def test_completion_shows_public_names_only(name):
    module = importlib.import_module(f"calibrant{name}")
    assert [n for n in dir(module) if n.startswith("_")] in ([], ["__version__"])
    assert set(dir(module)) >= set(module.__all__)
    if name:
        assert set(dir(module)) == set(module.__all__)
