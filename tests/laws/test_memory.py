"""A call on many rows needs little memory beyond its input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.memory

SETUP = """
import re
import numpy as np
import calibrant

def peak():
    status = open("/proc/self/status").read()
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) * 1024

rng = np.random.default_rng(0)
p = rng.random(5_000_000)
y = np.empty(p.size, np.int64)
for begin in range(0, p.size, 500_000):
    y[begin : begin + 500_000] = rng.random(500_000) < p[begin : begin + 500_000]
"""
PROFILE = """
calibrant.risk_profile(y[:100_000], p[:100_000])  # starts the threads
before = peak()
calibrant.risk_profile(y, p)
calibrant.risk_profile(y, p, sample_weight=p)
calibrant.risk_profile(y, p.astype(np.float32)[::-1][::-1])
print(peak() - before - 4 * p.size)
"""


CUMULATIVE = """
calibrant.cumulative_tests(y[:100_000], p[:100_000])
before = peak()
calibrant.cumulative_tests(y, p)
print(peak() - before)
"""
STREAM = """
total = calibrant.streaming.Scorecard()
total.update(y[:100_000], p[:100_000])
before = peak()
for begin in range(0, p.size, 500_000):
    total.update(y[begin : begin + 500_000], p[begin : begin + 500_000])
print(peak() - before)
"""
PAIRS = """
del p, y
x = rng.normal(size=(6000, 2)), rng.normal(size=(6000, 2))
calibrant.mmd(x[0][:1000], x[1][:1000])
before = peak()
calibrant.mmd(*x, bandwidth=1.0)  # matrices of the kernel would take 860 MB
calibrant.mmd_test(*x, bandwidth=1.0, n_permutations=100)
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc/self/status")
@pytest.mark.parametrize(
    "script", [PROFILE, CUMULATIVE, STREAM, PAIRS], ids=["risk", "walk", "card", "pairs"]
)
def test_peak_extra_memory_is_below_16_megabytes(script):
    """Of the cumulative tests, the sorted rows included, which are few of these scores. Of pairs of
    rows, beside what is kept of each row."""
    run = subprocess.run(
        [sys.executable, "-c", SETUP + script], capture_output=True, text=True, check=True
    )
    assert int(run.stdout) < 16 * 2**20
