"""The Brier score in parts: how much of it is miscalibration, and how much is lack of knowledge."""

from calibrant.scores._decompositions import *  # noqa: F403
from calibrant.scores._decompositions import __all__, __dir__  # noqa: F401
