"""Benchmarks of calibrant beside its peers, on pytest-benchmark: `pytest bench`."""
