"""Swap the peers' functions for ours in a running program, and put them back."""

from __future__ import annotations

import copy
import functools
import importlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType, TracebackType
from typing import Any, Literal, Self

import numpy as np

__all__ = ["Calls", "Patch", "patch"]

Peer = Literal["mapie", "sklearn"]

#: Our module, and where the peer has these functions.
_PAIRS: dict[str, list[tuple[str, str]]] = {
    "mapie": [
        (f"calibrant.compat.mapie.{name}", f"mapie.metrics.{name}")
        for name in ("calibration", "classification", "conditional", "regression", "uncertainty")
    ],
    "sklearn": [
        ("calibrant.compat.sklearn", "sklearn.metrics"),
        ("calibrant.compat.sklearn", "sklearn.calibration"),
    ],
}
_NOT_SWAPPED = ("InvalidParameterError",)

#: Guards what follows. Patches may be entered by several threads, but a swap is for all of them.
_lock = threading.RLock()
_active: list[Patch] = []
_wrappers: dict[int, Wrapper] = {}  # by the id of the original, which the wrapper keeps alive
_inside = threading.local()  # set while a peer runs: what it calls in turn is its own


@dataclass
class Calls:
    """What one function was called for.

    Attributes
    ----------
    name : str
        The peer's function, with its module.
    count : int
    seconds : float
        Spent in ours.
    peer_seconds : float
        Spent in the peer's, if both were run.
    largest_difference : float
        Between the two, relative to the peer's largest number; infinite where one of them
        has no number, or another shape.
    """

    name: str
    count: int = 0
    seconds: float = 0.0
    peer_seconds: float = 0.0
    largest_difference: float = 0.0


class Wrapper:
    """Ours in the place of the peer's."""

    def __init__(self, name: str, original: Any, ours: Any) -> None:
        self.name, self.original, self.ours = name, original, ours
        self.function = self._make()

    def _make(self) -> Callable[..., Any]:
        @functools.wraps(self.original)
        def call(*args: Any, **kwargs: Any) -> Any:
            patches = [] if getattr(_inside, "peer", False) else list(_active)
            if not patches:  # put back while someone still held it, or called by the peer
                return self.original(*args, **kwargs)
            compared = any(p.compare for p in patches)
            again = _states(args, kwargs) if compared else None
            start = time.perf_counter()
            try:
                result = self.ours(*args, **kwargs)
            finally:
                seconds = time.perf_counter() - start
                for p in patches:
                    p._count(self.name, seconds)
            if again is not None:
                self._compare(patches, result, *again)
            return result

        return call

    def _compare(self, patches: list[Patch], result: Any, args: Any, kwargs: Any) -> None:
        _inside.peer = True
        start = time.perf_counter()
        try:
            expected, failed = self.original(*args, **kwargs), False
        except Exception:
            expected, failed = None, True
        finally:
            _inside.peer = False
        seconds = time.perf_counter() - start
        difference = np.inf if failed else _difference(result, expected)
        for p in patches:
            if p.compare:
                p._compared(self.name, seconds, difference)


def _states(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments, with copies of random generators: both calls shall draw the same."""

    def again(value: Any) -> Any:
        return copy.deepcopy(value) if isinstance(value, np.random.RandomState) else value

    return [again(value) for value in args], {name: again(v) for name, v in kwargs.items()}


def _difference(found: Any, expected: Any) -> float:
    if isinstance(expected, tuple):
        return max(map(_difference, found, expected), default=0.0)
    a, b = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    if a.shape != b.shape or not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return np.inf
    kept = np.isfinite(b)
    scale = np.abs(b[kept]).max(initial=0.0) or 1.0
    return float(np.abs(a[kept] - b[kept]).max(initial=0.0) / scale)


class Patch:
    """A context in which the peers' functions are ours; see `patch`.

    Attributes
    ----------
    calls : dict of str to Calls
        What was called so far, by name.
    """

    def __init__(self, peers: Sequence[str], compare: bool) -> None:
        self.peers, self.compare = tuple(peers), compare
        self.calls: dict[str, Calls] = {}
        self._counting = threading.Lock()

    def _of(self, name: str) -> Calls:
        return self.calls.setdefault(name, Calls(name))

    def _count(self, name: str, seconds: float) -> None:
        with self._counting:
            calls = self._of(name)
            calls.count += 1
            calls.seconds += seconds

    def _compared(self, name: str, seconds: float, difference: float) -> None:
        with self._counting:
            calls = self._of(name)
            calls.peer_seconds += seconds
            calls.largest_difference = max(calls.largest_difference, difference)

    def __enter__(self) -> Self:
        with _lock:
            for wrapper in _wrappers_of(self.peers):
                _wrappers.setdefault(id(wrapper.original), wrapper)
            _active.append(self)
            _replace({key: wrapper.function for key, wrapper in _wrappers.items()})
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        with _lock:
            _active.reverse()
            _active.remove(self)  # the one entered last, if it was entered twice
            _active.reverse()
            wanted = {peer for active in _active for peer in active.peers}
            gone = [w for w in _wrappers.values() if w.name.split(".")[0] not in wanted]
            _replace({id(w.function): w.original for w in gone})
            for wrapper in gone:
                del _wrappers[id(wrapper.original)]

    def __repr__(self) -> str:
        return "\n".join(["Patch", *(f"  {line}" for line in report(self))])


def report(patched: Patch) -> list[str]:
    """Return a table of the calls, the most gained first."""
    calls = sorted(patched.calls.values(), key=lambda c: c.seconds - c.peer_seconds)
    if not calls:
        return ["none of the functions was called"]
    wide = max(len(c.name) for c in calls)
    if not patched.compare:
        return [f"{c.name:<{wide}}  {c.count:>6} calls  {c.seconds:10.4f} s" for c in calls]
    head = f"{'function':<{wide}}  {'calls':>6}  {'peer':>10}  {'calibrant':>10}  {'times':>7}"
    lines = [f"{head}  difference"]
    for c in calls:
        times = c.peer_seconds / c.seconds if c.seconds else np.inf
        lines.append(
            f"{c.name:<{wide}}  {c.count:>6}  {c.peer_seconds:>8.4f} s  {c.seconds:>8.4f} s  "
            f"{times:>7.1f}  {c.largest_difference:.1e}"
        )
    gained = sum(c.peer_seconds - c.seconds for c in calls)
    return [*lines, f"{gained:.4f} s gained"]


def _wrappers_of(peers: Sequence[str]) -> Iterator[Wrapper]:
    for peer in peers:
        for our_name, their_name in _PAIRS[peer]:
            theirs = _imported(their_name)
            if theirs is None:
                continue
            ours = importlib.import_module(our_name)
            for name in ours.__all__:
                original = getattr(theirs, name, None)
                known = any(w.function is original for w in _wrappers.values())
                if original is not None and not known and name not in _NOT_SWAPPED:
                    yield Wrapper(f"{their_name}.{name}", original, getattr(ours, name))


def _imported(name: str) -> ModuleType | None:
    """Import a module of a peer; None where something it needs is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _replace(new: dict[int, Any]) -> None:
    """Put objects in the place of others, in all modules and in scikit-learn's scorers."""
    if not new:
        return
    loaded: list[Any] = list(sys.modules.values())  # some put other things there
    for module in loaded:
        if not isinstance(module, ModuleType) or module.__name__.startswith("calibrant."):
            continue
        for name, value in list(vars(module).items()):
            if id(value) in new:
                setattr(module, name, new[id(value)])
    scorer_module = sys.modules.get("sklearn.metrics._scorer")
    for scorer in getattr(scorer_module, "_SCORERS", {}).values():
        function = getattr(scorer, "_score_func", None)
        if id(function) in new:
            scorer._score_func = new[id(function)]


def patch(peers: Sequence[Peer] | Peer | None = None, *, compare: bool = False) -> Patch:
    """Let the functions of scikit-learn and MAPIE be ours while a ``with`` block runs.

    They are replaced in the modules that define them, in every loaded module that imported them
    by name, and in scikit-learn's own scorers. At the end all are put back, also in modules that
    were loaded meanwhile, and after an exception. Blocks may be nested. The swap is for the whole
    process, its threads included, and for no other process. What holds a function otherwise, in
    a list or as a default argument, keeps the peer's.

    Parameters
    ----------
    peers : "mapie", "sklearn" or a list of them, optional
        By default those that are installed. Their modules are imported.
    compare : bool
        Run the peer's function, too, after ours: time it and compare the results. Ours are
        returned.

    Returns
    -------
    Patch
        For ``with``; its ``calls`` has counts and times by function. It may be used again.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn import metrics
    >>> with patch("sklearn", compare=True) as patched:
    ...     metrics.brier_score_loss([0, 1], [0.25, 0.75])
    0.0625
    >>> calls = patched.calls["sklearn.metrics.brier_score_loss"]
    >>> calls.count, calls.largest_difference
    (1, 0.0)
    """
    chosen = [peers] if isinstance(peers, str) else list(_PAIRS if peers is None else peers)
    for peer in chosen:
        if peer not in _PAIRS:
            raise ValueError(f"peers must be of {tuple(_PAIRS)}, got {peer!r}")
        if peers is not None and _imported(_PAIRS[peer][0][1]) is None:
            raise ImportError(f"patch needs {peer}, which cannot be imported")
    return Patch(chosen, compare)
