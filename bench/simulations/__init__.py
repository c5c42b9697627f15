"""Simulations of what verdicts, tests and intervals promise; ``python -m bench.simulations``."""
