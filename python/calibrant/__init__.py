"""Can these probabilities be trusted?"""

from importlib.metadata import version as _version

from calibrant.config import get_num_threads, set_num_threads, show_config

__version__ = _version("calibrant")

__all__ = ["get_num_threads", "set_num_threads", "show_config"]
