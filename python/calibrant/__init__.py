"""Can these probabilities be trusted?"""

from importlib.metadata import version as _version

__version__ = _version("calibrant")
