import importlib.metadata
import subprocess
import sys

import calibrant


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


def test_the_compiled_version_is_the_installed_one():
    assert calibrant.__version__ == importlib.metadata.version("calibrant")


def run(script):
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
