"""A test of calibration that may be looked at after every batch, at a stated error rate."""

from calibrant.cumulative._sequential import *  # noqa: F403
from calibrant.cumulative._sequential import (  # noqa: F401
    DIRECTIONS as DIRECTIONS,
    STAKES as STAKES,
    __all__,
    __dir__,
)
