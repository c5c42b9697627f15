"""Generated samples against real ones."""

from calibrant._mmd import median_bandwidth, mmd
from calibrant._mmd_test import MMDTest, mmd_test

__all__ = ["MMDTest", "median_bandwidth", "mmd", "mmd_test"]
