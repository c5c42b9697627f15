"""What all tests share: processes, hypothesis profiles, threads and instruction set put back."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from calibrant import set_num_threads
from calibrant._core import _testing
from calibrant.config import config

# Every run tries the same cases; a slow machine is no failure.
settings.register_profile("calibrant", deadline=None, derandomize=True, max_examples=60)
# Chosen by HYPOTHESIS_PROFILE. By default half of the cases that a test names; of "long", as
# .ci/nightly has it, new cases each time and twenty times as many; of "short" a quarter, where
# .ci/run repeats tests with other instruction sets or without threads.
FACTORS = {"calibrant": 0.5, "long": 20.0, "short": 0.25}
settings.register_profile(
    "long", settings.get_profile("calibrant"), derandomize=False, print_blob=True
)
settings.register_profile("short", settings.get_profile("calibrant"))
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "calibrant")
settings.load_profile(PROFILE)


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads its options
def pytest_cmdline_main(config):
    """Run whole folders in a process for each core, as `pytest -n` does; `-n 0` in one."""
    option = config.option
    is_worker = hasattr(config, "workerinput")
    folders_only = all(Path(argument).is_dir() for argument in config.args)
    if is_worker or not folders_only or option.usepdb or option.collectonly:
        return
    if getattr(option, "numprocesses", 0) is None:  # pytest-xdist is there
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        option.numprocesses = min(cores or 1, 8)
        option.dist = "worksteal"


def pytest_collection_modifyitems(config, items):
    if "long" not in config.option.markexpr:  # as .ci/nightly has it
        long = [item for item in items if item.get_closest_marker("long")]
        items[:] = [item for item in items if item not in long]
        config.hook.pytest_deselected(items=long)
    for item in items:
        if "isa" in getattr(item, "fixturenames", ()):
            item.add_marker("every_isa")
    multiply_examples(items)


def multiply_examples(items):
    """Multiplied here, because many tests say themselves how many cases they need."""
    for test in {getattr(item.obj, "__func__", item.obj) for item in items}:
        if own := getattr(test, "_hypothesis_internal_use_settings", None):
            examples = max(1, round(FACTORS[PROFILE] * own.max_examples))
            test._hypothesis_internal_use_settings = settings(own, max_examples=examples)


# A job started in the background has SIGINT ignored, and then Python does too: the tests of
# Ctrl-C would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def runtime_restored():
    """For tests that call set_num_threads or set_isa."""
    isa = config()["isa"]
    yield
    set_num_threads(0)
    if config()["isa"] != isa:
        _testing.set_isa(isa)


@pytest.fixture(params=config()["available_isas"])
def isa(request, runtime_restored):  # noqa: ARG001
    """Every instruction set of this machine in turn."""
    _testing.set_isa(request.param)
    return request.param
