"""Can these probabilities be trusted?"""

from calibrant._core import __version__

__all__ = ["__version__"]
