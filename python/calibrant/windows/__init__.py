"""Accumulators of windows of a stream; public in `calibrant.streaming`."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return __all__
