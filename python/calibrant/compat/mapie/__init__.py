"""The metrics of MAPIE 1.x, by their own names and with their own numbers.

``from calibrant.compat.mapie import calibration`` in place of ``from mapie.metrics import
calibration``. MAPIE itself is not needed.
"""

from calibrant.compat.mapie import (
    calibration,
    classification,
    conditional,
    regression,
    uncertainty,
)

__all__ = ["calibration", "classification", "conditional", "regression", "uncertainty"]


def __dir__() -> list[str]:
    return __all__
