"""The first thing to run after installing."""

import calibrant

print(f"calibrant {calibrant.__version__} is installed")
