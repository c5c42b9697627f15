"""A test of calibration that may be looked at after every batch, at a stated error rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant._accumulator.composite import Composite
from calibrant._input.columns import read_labels
from calibrant._input.labels import event_rows
from calibrant._result import Result
from calibrant._runtime.public_module import public_in

__all__ = ["SequentialCalibrationTest", "SequentialTestResult"]


def __dir__() -> list[str]:
    return __all__


#: The bets: the share of the wealth that is staked, on either side.
STAKES = tuple(sign * 2.0**-k for k in range(1, 8) for sign in (1.0, -1.0))
#: What is bet on: that p is too low or too high; that p is too close to 1/2 or too far from it.
DIRECTIONS = ("level", "confidence")
#: By direction and sign of the stake, which fault of the probabilities it gains from.
_FAULTS = {
    ("level", True): "too low", ("level", False): "too high",
    ("confidence", True): "under-confident", ("confidence", False): "over-confident",
}  # fmt: skip


@public_in("calibrant.sequential")
@dataclass(frozen=True, repr=False)
class SequentialTestResult(Result):
    """What a sequential test has found so far.

    Attributes
    ----------
    log_wealth : float
        The logarithm of what a capital of 1 has become.
    max_log_wealth : float
        The greatest it has been after any update, and at least 0.
    pvalue : float
        1 / the greatest wealth: valid at any moment, whatever made one look.
    log_pvalue : float
        Its logarithm.
    alarm : bool
        Whether the p-value has fallen to alpha.
    n_at_alarm : int or None
        The rows when it first had.
    favourite : str
        Which fault the largest bet gains from: "too low", "too high", "under-confident",
        "over-confident".
    alpha : float
    n : int
        Rows so far.
    """

    log_wealth: float
    max_log_wealth: float
    pvalue: float
    log_pvalue: float
    alarm: bool
    n_at_alarm: int | None
    favourite: str
    alpha: float
    n: int


@public_in("calibrant.sequential")
class SequentialCalibrationTest(Composite):
    """Bet against the probabilities, and raise an alarm when the bets have won too much.

    If the probabilities are right, that is P(y = 1 | p and all before) = p in every row, nobody
    can expect to win against them. A capital of 1 is spread over fixed bets, and each becomes

        W_j = prod_t (1 + stake_j g_j(p_t) (y_t - p_t)),

    with g = 1, or g = 2p - 1, and stakes +-1/2, +-1/4, ..., +-1/128. The mean W of the W_j is a
    martingale that starts at 1. By Ville's inequality it ever reaches 1/alpha with probability
    alpha at most, so the alarm may be acted upon at any moment.

    The logarithm of each W_j is an exact sum: within an update the order of rows does not
    matter, and the wealth does not depend on the batches. Its maximum does, since one looks
    after each update; small batches find more.

    Parameters
    ----------
    alpha : float, 0 < alpha < 1
        The probability of a false alarm, ever.

    Examples
    --------
    >>> test = SequentialCalibrationTest(alpha=0.01)
    >>> for _ in range(40):
    ...     test.update([1, 1, 0, 1], [0.25, 0.25, 0.25, 0.25])
    >>> found = test.result()
    >>> found.alarm, found.n_at_alarm, found.favourite
    (True, 40, 'too low')
    """

    __slots__ = ("__weakref__", "_alpha", "_bets", "_lock", "_max_log_wealth", "_n", "_n_at_alarm")

    MAGIC = b"CLSQ"
    _WHAT = "sequential test"

    def __init__(self, alpha: float = 0.05) -> None:
        if isinstance(alpha, bool) or not isinstance(alpha, (int, float, np.floating)):
            raise TypeError(f"alpha must be a real number, got {alpha!r}")
        if not 0.0 < alpha < 1.0:
            raise ValueError(f"alpha must lie strictly between 0 and 1, got {alpha}")
        self._alpha = float(alpha)
        self._bets = [_core.ScoreSums(False, True, False, 0.0) for _ in _bets()]
        self._n = 0
        self._max_log_wealth = 0.0
        self._n_at_alarm: int | None = None
        self._lock = _core.UseLock()

    def update(
        self,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        pos_label: object | None = None,
        labels: ArrayLike | None = None,
    ) -> None:
        """Add a batch of rows, and look at the wealth after it.

        There are no weights: a row is bet on once. If a row is rejected, nothing is added.

        Parameters
        ----------
        y_true : array of shape (n,)
            0 or 1, or what pos_label or labels say.
        y_proba : array of shape (n,), values in [0, 1]
            Of class 1; each must have been made before its y was known.
        """
        y, p = _checked(*event_rows(y_true, y_proba, labels=labels, pos_label=pos_label))
        batch = [_core.ScoreSums(False, True, False, 0.0) for _ in _bets()]
        happened = np.ones(p.size, np.uint8)
        for sums, (direction, stake) in zip(batch, _bets(), strict=True):
            sums.update(happened, _halved_factors(y, p, direction, stake), None, False)
        with self._lock:
            self._take(batch, p.size)

    def _take(self, batch: list[_core.ScoreSums], n: int) -> None:
        if n == 0:
            return
        bets = [sums.copy() for sums in self._bets]
        for sums, new in zip(bets, batch, strict=True):
            sums.merge(new)
        n += self._n
        wealth = _log_mean_exp(_log_bets(bets, n))
        most, n_at_alarm = max(self._max_log_wealth, wealth), self._n_at_alarm
        if n_at_alarm is None and wealth >= -math.log(self._alpha):
            n_at_alarm = n
        # All at once, so that a signal finds the old test or the new one.
        self._bets, self._n, self._max_log_wealth, self._n_at_alarm = bets, n, most, n_at_alarm

    def merge(self, other: Self) -> Self:
        """Add the rows of another test, as one update after all of this one's.

        The wealth is that of all rows, in whatever order tests are merged. Of the greatest wealth
        and the alarm, those of this test are kept and the others' are not: they were those of
        fewer rows, and the maximum over several tests would be above 1/alpha too often.

        Raises
        ------
        TypeError
            If it is something else.
        ValueError
            If alpha differs.
        """
        if type(other) is not type(self):
            raise TypeError(f"cannot merge {type(other).__name__} into {type(self).__name__}")
        if other._alpha != self._alpha:
            raise ValueError(f"cannot merge a test with alpha {other._alpha} into {self._alpha}")
        theirs = other.copy()
        with self._lock:
            self._take(theirs._bets, theirs._n)
        return self

    def result(self) -> SequentialTestResult:
        """Return what has been found so far; it may be asked for at any time."""
        with self._lock:
            logs = _log_bets(self._bets, self._n)
            direction, stake = _bets()[logs.index(max(logs))]
            return SequentialTestResult(
                log_wealth=_log_mean_exp(logs),
                max_log_wealth=self._max_log_wealth,
                pvalue=math.exp(-self._max_log_wealth),
                log_pvalue=0.0 - self._max_log_wealth,
                alarm=self._n_at_alarm is not None,
                n_at_alarm=self._n_at_alarm,
                favourite=_FAULTS[direction, stake > 0] if self._n else "",
                alpha=self._alpha,
                n=self._n,
            )

    @property
    def n(self) -> int:
        """The number of rows so far."""
        return self._n

    @property
    def alpha(self) -> float:
        """The probability of a false alarm, ever."""
        return self._alpha

    def to_dict(self) -> dict[str, Any]:
        """Return what it holds, ready for JSON."""
        return {
            "kind": type(self).__name__, "n": self._n,
            "parameters": {"alpha": self._alpha}, "result": self.result().to_dict(),
        }  # fmt: skip

    def _parts(self) -> tuple[dict[str, Any], dict[str, bytes]]:
        with self._lock:
            head = {
                "alpha": self._alpha, "n": self._n,
                # As text, which has every bit of it.
                "max_log_wealth": self._max_log_wealth.hex(), "n_at_alarm": self._n_at_alarm,
            }  # fmt: skip
            return head, {
                f"{direction} {stake}": sums.to_bytes()
                for (direction, stake), sums in zip(_bets(), self._bets, strict=True)
            }

    @classmethod
    def _of_parts(cls, head: dict[str, Any], states: dict[str, bytes]) -> Self:
        made = cls(head["alpha"])
        made._bets = [
            _core.ScoreSums.from_bytes(states.pop(f"{direction} {stake}"))
            for direction, stake in _bets()
        ]
        if states or any(sums.n != head["n"] or sums.scores != ["log"] for sums in made._bets):
            raise ValueError("sequential test is damaged: its bets do not fit its head")
        made._n = head["n"]
        made._max_log_wealth = float.fromhex(head["max_log_wealth"])
        made._n_at_alarm = head["n_at_alarm"]
        return made

    def __len__(self) -> int:
        return self._n

    def __repr__(self) -> str:
        return f"SequentialCalibrationTest(n={self._n}, alpha={self._alpha})"


def _bets() -> list[tuple[str, float]]:
    return [(direction, stake) for direction in DIRECTIONS for stake in STAKES]


def _log_bets(bets: list[_core.ScoreSums], n: int) -> list[float]:
    """Return log W_j of each bet on n rows: the sums are of log((1 + x) / 2)."""
    if n == 0:
        return [0.0] * len(bets)
    return [n * (math.log(2.0) - sums.log()) for sums in bets]


def _log_mean_exp(logs: list[float]) -> float:
    top = max(logs)
    return top + math.log(math.fsum(math.exp(x - top) for x in logs) / len(logs))


def _checked(codes: Any, y_proba: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return y and p as arrays; the core finds the bad row, if there is one."""
    _core.Spiegelhalter().update(codes, y_proba, None, False)
    p = np.asarray(read_labels(y_proba, "y_proba"), np.float64)
    if p.ndim != 1:
        raise ValueError(f"y_proba must have shape (n,), the probability of class 1, got {p.shape}")
    return np.asarray(read_labels(codes, "y_true"), np.float64), p


def _halved_factors(
    y: NDArray[np.float64], p: NDArray[np.float64], direction: str, stake: float
) -> NDArray[np.float64]:
    """Return (1 + stake g(p) (y - p)) / 2: between 1/4 and 3/4, as probabilities are.

    The core sums the logarithms of probabilities exactly. Sums and products of NumPy are
    rounded in the same way everywhere; its logarithms are not.
    """
    gain = y - p
    if direction == "confidence":
        gain = gain * (2.0 * p - 1.0)
    return 0.5 + (0.5 * stake) * gain
