"""What importing calibrant loads, and the version it says."""

from __future__ import annotations

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


def test_import_does_not_read_package_metadata():
    script = "import sys, numpy; sys.modules['importlib.metadata'] = None; import calibrant"
    run(script)


def test_the_compiled_version_is_the_installed_one():
    assert calibrant.__version__ == importlib.metadata.version("calibrant")


def run(script):
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
