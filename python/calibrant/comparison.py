"""Two or more models on the same rows: which is better at what, and could it be chance?"""

from calibrant.scorecards._comparison import *  # noqa: F403
from calibrant.scorecards._comparison import __all__, __dir__  # noqa: F401
