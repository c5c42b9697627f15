"""The model against the source: what is the data's own uncertainty, and what is the model's."""

from calibrant.calibration._assessment import *  # noqa: F403
from calibrant.calibration._assessment import (  # noqa: F401
    SOURCES as SOURCES,
    SourceEstimator as SourceEstimator,
    __all__,
    __dir__,
)
