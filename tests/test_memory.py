"""A call on many rows needs little memory beyond its input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import re
import numpy as np
import calibrant

def peak():
    status = open("/proc/self/status").read()
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) * 1024

rng = np.random.default_rng(0)
p = rng.random(5_000_000)
y = np.zeros(p.size, np.int64)
calibrant.risk_profile(y[:100_000], p[:100_000])  # starts the threads
before = peak()
calibrant.risk_profile(y, p)
calibrant.risk_profile(y, p, sample_weight=p)
calibrant.risk_profile(y, p.astype(np.float32)[::-1][::-1])
print(peak() - before - 4 * p.size)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc/self/status")
def test_peak_extra_memory_is_below_16_megabytes():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 16 * 2**20
