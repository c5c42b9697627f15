"""The coupled Gaussian: see `CoupledGaussian`."""

from calibrant.ensemble._coupled_gaussian import *  # noqa: F403
from calibrant.ensemble._coupled_gaussian import __all__, __dir__  # noqa: F401
