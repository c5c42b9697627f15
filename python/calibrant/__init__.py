"""Can these probabilities be trusted?"""

from calibrant._core import __version__
from calibrant.config import get_num_threads, set_num_threads, show_config

__all__ = ["__version__", "get_num_threads", "set_num_threads", "show_config"]
