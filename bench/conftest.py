"""What the benchmarks share: seeded data, made outside the timed calls, and thread counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

import calibrant


def pytest_addoption(parser):
    parser.addoption(
        "--sizes", default="1e4,1e6,1e7", help="rows, comma-separated; the full range is 1e4 to 1e8"
    )


def pytest_generate_tests(metafunc):
    if "n" in metafunc.fixturenames:
        sizes = [int(float(size)) for size in metafunc.config.getoption("--sizes").split(",")]
        metafunc.parametrize("n", sizes, ids=[f"{size:.0e}" for size in sizes])


def pytest_benchmark_update_machine_info(config, machine_info):  # noqa: ARG001
    machine_info["calibrant"] = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in calibrant.config.config().items()
    }


@dataclass(frozen=True)
class Predictions:
    y_true: np.ndarray
    y_proba: np.ndarray
    of_truth: np.ndarray  # the probability given to what happened


@cache
def make_predictions(n: int, dtype: str) -> Predictions:
    rng = np.random.default_rng(20170619)
    y_proba = rng.random(n).astype(dtype)
    y_true = (rng.random(n) < y_proba).astype(np.int64)
    of_truth = np.where(y_true == 1, y_proba, (1 - y_proba.astype(np.float64)).astype(dtype))
    return Predictions(y_true, y_proba, of_truth)


@pytest.fixture(params=["float64", "float32"])
def dtype(request):
    return request.param


@pytest.fixture
def predictions(n, dtype):
    return make_predictions(n, dtype)


@pytest.fixture(params=[1, 0], ids=["1-thread", "all-threads"])
def threads(request):
    calibrant.set_num_threads(request.param)
    yield calibrant.get_num_threads()
    calibrant.set_num_threads(0)


@pytest.fixture
def measure(benchmark, n, dtype):
    """Run one contender of a group; its rows and bytes per second go into the results."""

    def run(function, *, group, bytes_per_row):
        benchmark.group = f"{group}-{n:.0e}-{dtype}"
        # Few rounds of one call where a call takes long; many calls a round where it does not.
        rounds = 7 if n >= 10**6 else 50
        result = benchmark.pedantic(
            function, rounds=rounds, iterations=max(1, 10**5 // n), warmup_rounds=1
        )
        seconds = benchmark.stats.stats.min
        benchmark.extra_info["rows_per_second"] = n / seconds
        benchmark.extra_info["gigabytes_per_second"] = n * bytes_per_row / seconds / 1e9
        return result

    return run
