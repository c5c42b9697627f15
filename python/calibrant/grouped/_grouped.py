"""One accumulator for each key; public as ``calibrant.streaming.Grouped``."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from calibrant import _core
from calibrant._accumulator.base import Accumulator
from calibrant._input.group_keys import coded_keys
from calibrant._input.validation import check_nan_policy, checked_count, checked_flag
from calibrant._runtime.public_module import public_in
from calibrant.grouped._fill import batch_of
from calibrant.grouped._state import groups_from_bytes, groups_to_bytes

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Grouped"]

#: The name of a number, or what makes a number of an accumulator.
Metric = str | Callable[[Any], float]


@public_in("calibrant.streaming")
class Grouped(Accumulator[Any]):
    """One accumulator for each key: of customers, shops, models, days.

    Keys are integers, strings or booleans, all of one kind. What a group holds is, to the last
    bit, what an accumulator of its rows alone would hold, however the rows were split.

    Parameters
    ----------
    factory : callable
        Makes an empty accumulator: a class such as `streaming.Scores`, or a
        ``functools.partial`` of one.

    Examples
    --------
    >>> from calibrant.streaming import Scores
    >>> shops = Grouped(Scores)
    >>> shops.update([1, 0, 1], [0.75, 0.5, 0.5], groups=["north", "south", "south"])
    >>> shops
    streaming.Grouped(n=3, n_groups=2, of=streaming.Scores(n=0, q_lim=0.0))
    >>> shops.result()["south"].brier
    0.25
    >>> shops.worst(1, "brier")
    [('south', 0.25, 2)]
    """

    __slots__ = ()
    _State = _core.GroupedAccumulators
    _state: _core.GroupedAccumulators

    def __init__(self, factory: Callable[[], Accumulator[Any]]) -> None:
        if not callable(factory):
            raise TypeError(f"factory must make an accumulator, got {factory!r}")
        empty: object = factory()
        if not isinstance(empty, Accumulator) or isinstance(empty, Grouped):
            raise TypeError(f"factory must make an accumulator to be grouped, made {empty!r}")
        if empty.n:
            raise ValueError(f"factory must make an empty accumulator, made {empty!r}")
        self._state = _core.GroupedAccumulators(empty.copy())

    def update(self, *rows: Any, groups: Any, **named: Any) -> None:
        """Add a batch of rows, each to the accumulator of its key.

        If a row is rejected, or the call is interrupted, nothing of the batch is added.

        Parameters
        ----------
        *rows, **named
            As for ``update`` of the accumulators.
        groups : array of shape (n,)
            The key of each row: integers, strings, booleans; a dictionary column of Arrow is
            the fastest way to pass strings. With ``nan_policy="omit"`` rows whose key is
            missing are left out.
        """
        arguments = inspect.signature(self._empty.update).bind(*rows, **named).arguments
        omit = check_nan_policy(arguments.get("nan_policy", "raise"))
        codes, keys = coded_keys(groups, omit=omit)
        batch = batch_of(self._state, arguments, codes, keys, self._state.n_rows)
        self._state.add(batch, int(np.count_nonzero(codes < 0)) if omit else 0)

    @property
    def _empty(self) -> Any:
        return self._state.empty

    def _asked(self) -> Mapping[str, inspect.Parameter]:
        """Return the parameters of `update`, by name: the keys, and what the accumulators ask."""
        of_rows = inspect.signature(self._empty.update).parameters
        return {**of_rows, "groups": inspect.signature(self.update).parameters["groups"]}

    @property
    def n_groups(self) -> int:
        """The number of keys so far."""
        return len(self._state)

    @property
    def n_omitted(self) -> int:
        """The number of rows dropped because a value, or the key, was missing."""
        return self._state.n_omitted

    def keys(self) -> list[Any]:
        """Return the keys so far, in ascending order."""
        return self._state.keys()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def __contains__(self, key: object) -> bool:
        return self._number(key) is not None

    def __getitem__(self, key: Any) -> Any:
        """Return a copy of the accumulator of a key; KeyError if it has had no row."""
        number = self._number(key)
        if number is None:
            raise KeyError(key)
        return self._part(number)

    def _number(self, key: object) -> int | None:
        return self._state.number(key.item() if isinstance(key, np.generic) else key)

    def _part(self, number: int) -> Any:
        return self._empty._from_state(self._state.merged([number]))

    def _parts(self) -> list[tuple[Any, Any]]:
        """Return the keys and the accumulators; of a copy, so that all are of one moment."""
        numbers = self._state.numbers()
        return [(key, self._part(i)) for key, i in zip(self.keys(), numbers, strict=True)]

    def result(self) -> dict[Any, Any]:
        """Return the result of each group, by key in ascending order.

        It is None where there is none: of a group without rows that count, or without weight.
        """
        return {key: _result_of(part) for key, part in self.copy()._parts()}

    def metric(self, metric: Metric) -> NDArray[np.float64]:
        """Return a number of each group, in the order of `keys`; NaN where there is none.

        Parameters
        ----------
        metric : str or callable
            The name of a number in the result, as ``"brier"``; or of a method of the accumulator
            that gives one, as ``"expected_calibration_error"``; or what makes a number of an
            accumulator.

        Examples
        --------
        >>> from calibrant.streaming import Scores
        >>> groups = Grouped(Scores)
        >>> groups.update([1, 0, 1], [0.75, 0.5, 0.5], groups=[7, 3, 3])
        >>> groups.metric("brier")
        array([0.25  , 0.0625])
        """
        if not isinstance(metric, str) and not callable(metric):
            raise TypeError(f"metric must be a name, or callable, got {metric!r}")
        if isinstance(metric, str):
            self._empty._check_metric(metric)
            found = self._state.means(metric)
            if found is not None:
                return found
        parts = self.copy()._parts()  # a metric may take its time, and be anybody's code
        return np.array([_number_of(part, metric) for _, part in parts], np.float64)

    def worst(
        self, k: int, metric: Metric = "brier", *, largest: bool = True, min_rows: int = 1
    ) -> list[tuple[Any, float, int]]:
        """Return the k groups with the largest values of a metric, the worst first.

        Parameters
        ----------
        k : int
            How many; fewer if there are fewer.
        metric : str or callable
            As for `metric`. Groups where it is undefined are left out.
        largest : bool
            False: the smallest values, of a metric that is better the larger it is.
        min_rows : int
            Groups of fewer rows are left out: small groups are the worst, and the best, by chance.

        Returns
        -------
        list of (key, value, rows)
            Groups of equal value are in the order of their keys.
        """
        k = checked_count(k, "k", least=0)
        min_rows, largest = (
            checked_count(min_rows, "min_rows", least=0),
            checked_flag(largest, "largest"),
        )
        still = self.copy()  # all of one moment
        values, keys, rows = still.metric(metric), still.keys(), still._state.counts()
        kept = np.flatnonzero(~np.isnan(values) & (rows >= min_rows))
        ranked = -values[kept] if largest else values[kept]
        chosen = kept[np.argsort(ranked, kind="stable")[:k]]
        return [(keys[i], float(values[i]), int(rows[i])) for i in chosen.tolist()]

    def to_dict(self) -> dict[str, Any]:
        """Return what it holds, ready for JSON; the result has the view of each group by key."""
        still = self.copy()  # all of one moment
        return {
            "kind": type(self).__name__,
            "n": still.n,
            "n_omitted": still.n_omitted,
            "parameters": {"of": type(self._empty).__name__, **self._empty.to_dict()["parameters"]},
            "result": {str(key): part.to_dict() for key, part in still._parts()} or None,
        }

    def to_bytes(self) -> bytes:
        """Return the state as bytes, for a file or another machine; equal ones give equal bytes."""
        return groups_to_bytes(self._state)

    @classmethod
    def from_bytes(cls, state: Buffer) -> Self:
        """Return the groups whose `to_bytes` gave these bytes; ValueError if they are damaged."""
        return cls._from_state(groups_from_bytes(state))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Accumulator) or not self._is_like(other):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    __hash__ = None  # it changes with every update

    def _parameters(self) -> dict[str, object]:
        return {"n_groups": self.n_groups, "of": self._empty}


def _result_of(part: Any) -> Any:
    try:
        return part.result()
    except ValueError:  # no row, or none with weight
        return None


def _number_of(part: Any, metric: Metric) -> float:
    if callable(metric):
        return float(metric(part))
    result = _result_of(part)
    if result is None:
        return math.nan
    found = getattr(result, metric, None)
    if found is None:
        found = getattr(part, metric, None)
    if found is None:
        raise ValueError(
            f"metric must name a number: {type(part).__name__} has none that is called {metric!r}"
        )
    try:
        found = found() if callable(found) else found
    except ValueError:  # undefined for these rows
        return math.nan
    number = getattr(found, "value", found)
    return math.nan if number is None else float(number)  # AUC of one class has none
