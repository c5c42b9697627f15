"""How arguments are read and validated, before the core gets them."""

from calibrant._input.columns import resolve  # the core calls it

__all__ = ["resolve"]
