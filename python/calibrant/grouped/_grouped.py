"""One accumulator for each key; public as ``calibrant.streaming.Grouped``."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._accumulator.base import Accumulator
from calibrant._input.group_keys import coded_keys
from calibrant._input.validation import check_nan_policy, checked_count, checked_flag
from calibrant._runtime.public_module import public_in
from calibrant.grouped._state import GroupedState

__all__ = ["Grouped"]

#: The name of a number, or what makes a number of an accumulator.
Metric = str | Callable[[Any], float]


@public_in("calibrant.streaming")
class Grouped(Accumulator[GroupedState]):
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
    _State = GroupedState

    def __init__(self, factory: Callable[[], Accumulator[Any]]) -> None:
        if not callable(factory):
            raise TypeError(f"factory must make an accumulator, got {factory!r}")
        empty: object = factory()
        if not isinstance(empty, Accumulator) or isinstance(empty, Grouped):
            raise TypeError(f"factory must make an accumulator to be grouped, made {empty!r}")
        if empty.n:
            raise ValueError(f"factory must make an empty accumulator, made {empty!r}")
        self._state = GroupedState(empty.copy())

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
        state = self._state
        batch = state.batch(arguments, codes, keys)
        without_key = int(np.count_nonzero(codes < 0)) if omit else 0
        state.add(keys, batch, without_key)

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
        return self._state.n_groups

    @property
    def n_omitted(self) -> int:
        """The number of rows dropped because a value, or the key, was missing."""
        return self._state.n_omitted

    def keys(self) -> list[Any]:
        """Return the keys so far, in ascending order."""
        return self._state.sorted_keys()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def __contains__(self, key: object) -> bool:
        with self._state.lock:
            return self._number(key) is not None

    def __getitem__(self, key: Any) -> Any:
        """Return a copy of the accumulator of a key; KeyError if it has had no row."""
        with self._state.lock:
            number = self._number(key)
            if number is None:
                raise KeyError(key)
            return self._state.parts.part(number)

    def _number(self, key: object) -> int | None:
        """Return the number of a key, if it has had rows; under the lock."""
        if isinstance(key, np.generic):
            key = key.item()
        number = self._state.numbers().get(key)
        if number is None or type(self._state.keys[number]) is not type(key):  # True is no 1
            return None
        return number

    def result(self) -> dict[Any, Any]:
        """Return the result of each group, by key in ascending order.

        It is None where there is none: of a group without rows that count, or without weight.
        """
        state = self._state.copy()  # all of one moment
        return {state.keys[i]: _result_of(state.parts.part(i)) for i in state.order()}

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
        return _metric_of(self._state, metric)

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
        state = self._state.copy()  # all of one moment
        values, keys = _metric_of(state, metric), state.sorted_keys()
        rows = state.in_order(state.parts.counts())
        kept = np.flatnonzero(~np.isnan(values) & (rows >= min_rows))
        ranked = -values[kept] if largest else values[kept]
        chosen = kept[np.argsort(ranked, kind="stable")[:k]]
        return [(keys[i], float(values[i]), int(rows[i])) for i in chosen.tolist()]

    def to_dict(self) -> dict[str, Any]:
        """Return what it holds, ready for JSON; the result has the view of each group by key."""
        state = self._state.copy()  # all of one moment
        views = {str(state.keys[i]): state.parts.part(i).to_dict() for i in state.order()}
        return {
            "kind": type(self).__name__,
            "n": state.n,
            "n_omitted": state.n_omitted,
            "parameters": {"of": type(self._empty).__name__, **self._empty.to_dict()["parameters"]},
            "result": views or None,
        }

    def _parameters(self) -> dict[str, object]:
        return {"n_groups": self.n_groups, "of": self._empty}


def _metric_of(state: GroupedState, metric: Metric) -> NDArray[np.float64]:
    if not isinstance(metric, str) and not callable(metric):
        raise TypeError(f"metric must be a name, or callable, got {metric!r}")
    if isinstance(metric, str):
        state.empty._check_metric(metric)
    with state.lock:
        values = state.parts.values(metric) if isinstance(metric, str) else None
        if values is not None:
            return state.in_order(values)
    state = state.copy()  # a metric may take its time, and be anybody's code
    found = [_number_of(state.parts.part(i), metric) for i in range(state.n_groups)]
    return state.in_order(np.array(found, np.float64))


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
