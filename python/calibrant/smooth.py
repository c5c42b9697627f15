"""A calibration error without bins: residuals smoothed along the score."""

from calibrant.calibration._smooth import *  # noqa: F403
from calibrant.calibration._smooth import (  # noqa: F401
    Scale as Scale,
    __all__,
    __dir__,
)
