"""Results that are known up to an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._result import Result
from calibrant.calibration import ReliabilityBins
from calibrant.means import MeanSpectrum

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant import _core
    from calibrant.plotting import ReliabilityDisplay

__all__ = ["Bounds", "ReliabilityBounds", "ScoreTableSummary", "SpectrumBounds", "TestBounds"]


@dataclass(frozen=True, repr=False)
class Bounds(Result):
    """A number that is certain to lie in an interval.

    Attributes
    ----------
    value : float
        A likely value, between the two.
    low, high : float
        The value that all rows at once would give is neither below nor above. Equal where
        nothing is uncertain.

    Examples
    --------
    >>> error = Bounds(0.25, 0.125, 0.5)
    >>> float(error), 0.375 in error, error.width
    (0.25, True, 0.375)
    """

    value: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """How far apart low and high are."""
        return self.high - self.low

    def __float__(self) -> float:
        return self.value

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, repr=False)
class TestBounds(Result):
    """A test that is known up to intervals.

    Attributes
    ----------
    statistic, pvalue, log_pvalue : Bounds
        Each holds what `TestResult` has for all rows at once.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    """

    __test__ = False  # no test of pytest's

    statistic: Bounds
    pvalue: Bounds
    log_pvalue: Bounds
    n: int = 0
    n_omitted: int = 0


@dataclass(frozen=True, repr=False)
class SpectrumBounds(Result):
    """Generalized means that are known up to intervals.

    Attributes
    ----------
    value : MeanSpectrum
        Of the mean probability of each cell: within 1e-5 of `calibrant.mean_spectrum`, relatively,
        for powers from -3 to 3 where no probability below 2^-38 was given to what happened.
    low, high : tuple of float
        The means of all rows at once are neither below nor above.
    """

    value: MeanSpectrum
    low: tuple[float, ...]
    high: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return powers, means and their bounds, ready for JSON."""
        return {**self.value.to_dict(), "low": list(self.low), "high": list(self.high)}


@dataclass(frozen=True, repr=False, eq=False)
class ReliabilityBounds(Result):
    """A reliability table that is known up to intervals.

    Attributes
    ----------
    value : ReliabilityBins
        The likely table: the rows of a divided cell spread evenly, so that weights may be
        fractions.
    low, high : ReliabilityBins
        What every number of the true table lies between. Where a bin may or may not be empty,
        means are those it has if it is not.
    """

    value: ReliabilityBins
    low: ReliabilityBins
    high: ReliabilityBins

    @classmethod
    def _of(cls, bounds: _core.ScoreBounds, n: int, n_omitted: int) -> ReliabilityBounds:
        low, high = (
            ReliabilityBins(
                **{**columns, "counts": columns["counts"].astype(np.int64)},
                n=n,
                n_omitted=n_omitted,
            )
            for columns in (bounds.low(), bounds.high())
        )
        return cls(ReliabilityBins._of(bounds.likely()), low, high)

    def to_dict(self) -> dict[str, object]:
        """Return the three tables by name, ready for JSON."""
        return {name: getattr(self, name).to_dict() for name in ("value", "low", "high")}

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> ReliabilityDisplay:
        """Draw the reliability diagram of the likely table, as `ReliabilityBins.plot`.

        Needs matplotlib: ``pip install ".[plot]"``. The arguments are those of
        `calibrant.plotting.ReliabilityDisplay`.
        """
        from calibrant.plotting import ReliabilityDisplay

        return ReliabilityDisplay(self).plot(ax, name=name, **options)

    def __len__(self) -> int:
        return len(self.value)

    def __repr__(self) -> str:
        return repr(self.value).replace("ReliabilityBins", "ReliabilityBounds", 1)


@dataclass(frozen=True, repr=False)
class ScoreTableSummary(Result):
    """What a score table holds.

    Attributes
    ----------
    expected_calibration_error : Bounds
        Of 15 equal-count bins, norm 1.
    cells : int
        Score cells in use.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    """

    expected_calibration_error: Bounds
    cells: int
    n: int
    n_omitted: int = 0
