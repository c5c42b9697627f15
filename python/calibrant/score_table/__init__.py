"""The streaming table of scores and its guaranteed bounds; public in `calibrant.streaming`."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return __all__
