"""The base classes of accumulators, and the form in which they are saved."""

from calibrant._accumulator.base import Accumulator, State, class_name
from calibrant._accumulator.events import EventAccumulator

__all__ = ["Accumulator", "EventAccumulator", "State", "class_name"]
