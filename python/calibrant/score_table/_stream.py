"""The accumulator of a fine table of scores; public as `calibrant.streaming.ScoreTable`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibrant import _core, means
from calibrant._accumulator.events import EventAccumulator
from calibrant._input.bins import Strategy, bin_edges, check_strategy, checked_number
from calibrant._input.validation import checked_flag, checked_number as checked_real
from calibrant._runtime.public_module import public_in
from calibrant.calibration._assessment import number_of_bins
from calibrant.calibration._errors import Norm, check_norm
from calibrant.cumulative._curve import CumulativeDifferences, check_max_points
from calibrant.roc import RocCurve
from calibrant.score_table._assessment_bounds import AssessmentBounds, assessment_bounds
from calibrant.score_table._bounds import (
    Bounds,
    ReliabilityBounds,
    ScoreTableSummary,
    SpectrumBounds,
    TestBounds,
)
from calibrant.score_table._refinement import Refinement

__all__ = ["ScoreTable"]


@public_in("calibrant.streaming")
class ScoreTable(EventAccumulator[_core.ScoreTable]):
    """Accumulator of scores, fine enough for what needs their order.

    Bins need not be fixed beforehand: equal-count bins, bins of any number and their
    calibration errors are read off it, each with an interval that is certain to hold the value
    that all rows at once would give. Memory does not grow with the rows. The score is the
    probability of class 1, or with y_proba of shape (n, k) the largest of the row; the first
    batch decides which, and later ones must keep to it.

    Parameters
    ----------
    pairs : bool
        Count the pairs (event, class) of all classes instead, for `assess` of several classes.
        What is for rows is rejected then: pairs of one row depend on each other.
    q_lim : float, 0 <= q_lim < 0.5
        Of pairs: clip the probabilities to [q_lim, 1 - q_lim].

    Notes
    -----
    Of at most 4,096 rows, those left out for missing values included, each score is kept apart:
    then all that is read off the table is exact, the bounds are equal, and a curve has a point
    for each score. More rows are counted in some 32,000 cells: of width 2^-14 in the middle,
    and 256 per octave below 2^-6 and above 1 - 2^-6, for rare events. Only cells that a cut
    between bins divides are uncertain, and not even those if all their scores are equal.

    Examples
    --------
    >>> left, right = ScoreTable(), ScoreTable()
    >>> left.update([0, 0, 1], [0.125, 0.375, 0.25])
    >>> right.update([1], [0.75])
    >>> left.merge(right).expected_calibration_error(n_bins=2)
    Bounds(value=0.1875, low=0.1875, high=0.1875)
    """

    __slots__ = ()
    _State = _core.ScoreTable

    def __init__(self, *, pairs: bool = False, q_lim: float = 0.0) -> None:
        q_lim = checked_real(q_lim, "q_lim")
        if checked_flag(pairs, "pairs"):
            self._state = _core.ScoreTable.of_all_pairs(q_lim)
        elif q_lim != 0.0:
            raise ValueError(f"q_lim is for tables of pairs, got {q_lim!r} without pairs=True")
        else:
            self._state = _core.ScoreTable()

    def _parameters(self) -> dict[str, object]:
        return {"pairs": True, "q_lim": self._state.q_lim} if self._state.of_pairs else {}

    @property
    def _rows(self) -> _core.ScoreTable:
        """The state, of rows."""
        if self._state.of_pairs:
            raise ValueError(
                "this ScoreTable holds pairs, which is for `assess` only: pairs of one row depend "
                "on each other; use a ScoreTable() of the rows"
            )
        return self._state

    @staticmethod
    def _bins(
        state: _core.ScoreTable,
        n_bins: int | Sequence[float] | np.ndarray,
        strategy: Strategy,
        *,
        columns: bool,
        pairs: bool = False,
    ) -> _core.ScoreBounds:
        check_strategy(strategy, ("uniform", "quantile"))
        if pairs and not state.of_pairs:
            state = state.pairs()
        if strategy == "quantile" and isinstance(n_bins, (int, np.integer)):
            return state.equal_count(checked_number(n_bins), columns)
        return state.between(bin_edges(n_bins), columns)

    def expected_calibration_error(
        self,
        *,
        n_bins: int | Sequence[float] | np.ndarray = 15,
        strategy: Strategy = "quantile",
        norm: Norm = 1,
    ) -> Bounds:
        """Return bounds on `calibrant.expected_calibration_error` of the rows so far.

        Parameters
        ----------
        n_bins : int, or the edges themselves
        strategy : {"quantile", "uniform"}
            Mind the default, which is not the function's.
        norm : {1, 2, "max"}

        Raises
        ------
        ValueError
            If there is no row, or none with a positive weight.
        """
        check_norm(norm)
        bins = self._bins(self._rows, n_bins, strategy, columns=False)
        if norm == 1:
            return Bounds(*bins.mean_gap())
        return Bounds(*(bins.root_mean_square_gap() if norm == 2 else bins.largest_gap()))

    def reliability_bins(
        self,
        *,
        n_bins: int | Sequence[float] | np.ndarray = 15,
        strategy: Strategy = "quantile",
    ) -> ReliabilityBounds:
        """Return bounds on `calibrant.reliability_bins` of the rows so far.

        The arguments and errors are those of `expected_calibration_error`.
        """
        state = self._rows.copy()
        bins = self._bins(state, n_bins, strategy, columns=True)
        return ReliabilityBounds._of(bins, state.n, state.n_omitted)

    def assess(
        self,
        *,
        n_bins: int | Sequence[float] | np.ndarray | None = None,
        strategy: Strategy = "quantile",
        rows: ScoreTable | None = None,
    ) -> AssessmentBounds:
        """Return bounds on `calibrant.assess` of the rows so far, all pairs pooled.

        Parameters
        ----------
        n_bins : int, or the edges themselves, optional
            By default one for every 50 rows, from 2 to 100.
        strategy : {"quantile", "uniform"}
        rows : ScoreTable, optional
            Of a table of pairs: the table of the same rows, for the verdict.

        Raises
        ------
        ValueError
            If there is no row, or none with a positive weight; or if y_proba had shape (n, k)
            and this is not a table of pairs: it then holds the largest probability of a row and
            none of the others.

        Examples
        --------
        >>> table = ScoreTable()
        >>> table.update([0, 0, 0, 1, 1], [0.1, 0.1, 0.1, 0.9, 0.1])
        >>> table.assess(n_bins=2).angle
        Bounds(value=66.0422, low=66.0422, high=66.0422)
        """
        state = self._now()
        if state.columns > 1 and not state.of_pairs:
            raise ValueError(
                "an assessment needs the pairs of all classes, but a ScoreTable of y_proba with "
                f"shape (n, {state.columns}) has the largest of each row only: "
                "use ScoreTable(pairs=True)"
            )
        model = means.RiskProfile._of(state.model())
        if n_bins is None:
            n_bins = number_of_bins(state.n + state.n_omitted)
        bins = self._bins(state, n_bins, strategy, columns=False, pairs=True)
        tested: _core.ScoreTable | None = state
        if not (rows is None or isinstance(rows, ScoreTable)):
            raise TypeError(f"rows must be a ScoreTable, got {type(rows).__name__}")
        if state.of_pairs:
            tested = None if rows is None else rows._rows
        return assessment_bounds(state, model, bins, tested)

    def _spectrum(self, q_lim: float) -> SpectrumBounds:
        """Return bounds on `calibrant.mean_spectrum` of the probabilities of what happened."""
        state = self._now()
        weights, *of_cells = state.hit_cells()
        value, low, high = (
            means.mean_spectrum(p, q_lim=q_lim, sample_weight=weights) for p in of_cells
        )
        value = replace(value, n=state.n, n_omitted=state.n_omitted)
        return SpectrumBounds(value, low.means, high.means)

    def roc_auc(self) -> Bounds:
        """Return bounds on `calibrant.roc_auc` of the rows so far, or of the top labels.

        Only pairs inside a cell whose scores differ are uncertain.

        Raises
        ------
        ValueError
            If there are no hits or no misses.
        """
        return Bounds(*self._rows.roc_auc())

    def roc_curve(self, *, max_points: int | None = None) -> RocCurve:
        """Return points of `calibrant.roc_curve` of the rows so far, or of the top labels.

        A point for each cell in use, at its least score; its rates are those of the rows, rounded
        once. The areas and the standard error take the rows of a cell as tied; `roc_auc` has
        certain bounds.

        Parameters
        ----------
        max_points : int, at least 4, optional
            As for `calibrant.roc_curve`.

        Raises
        ------
        ValueError
            If there are no hits or no misses.
        """
        check_max_points(max_points)
        return RocCurve(**_core.table_roc_curve(self._rows, max_points))

    def cumulative_differences(self, *, max_points: int | None = None) -> CumulativeDifferences:
        """Return points of `calibrant.cumulative_differences` of the rows so far.

        A point for each cell in use, after its greatest score, exact but for a rounding; sigma
        is too large by less than 1e-7 of it.

        Parameters
        ----------
        max_points : int, at least 4, optional
            As for `calibrant.cumulative_differences`.

        Raises
        ------
        ValueError
            If there is no row, or none with a positive weight.

        Examples
        --------
        >>> table = ScoreTable()
        >>> table.update([0, 1, 1, 0], [0.25, 0.75, 0.5, 0.125])
        >>> table.cumulative_differences().differences
        array([ 0.     , -0.03125, -0.09375,  0.03125,  0.09375])
        """
        check_max_points(max_points)
        return CumulativeDifferences(*_core.table_differences(self._rows))._thinned(max_points)

    def result(self) -> ScoreTableSummary:
        """Return a summary of the rows so far.

        Raises
        ------
        ValueError
            If there is no row, or none with a positive weight.
        """
        still = self.copy()  # as `_now`
        error = still.expected_calibration_error()
        return ScoreTableSummary(error, still._state.cells, still.n, still.n_omitted)

    def ks(self) -> TestBounds:
        """Return bounds on `calibrant.ks_test` of the rows so far.

        Raises
        ------
        ValueError
            If there is no row, or none with a positive weight.
        """
        state = self._rows.copy()
        return _test_bounds(state, _core.ks_bounds(state))

    def kuiper(self) -> TestBounds:
        """Return bounds on `calibrant.kuiper_test` of the rows so far; errors as for `ks`."""
        state = self._rows.copy()
        return _test_bounds(state, _core.kuiper_bounds(state))

    def refine(self, *, max_rows: int = 10_000_000) -> Refinement:
        """Begin a second pass over the same rows, which makes `ks` and `kuiper` exact.

        Parameters
        ----------
        max_rows : int
            How many rows may be kept in memory, at 16 bytes each: those of the cells in which an
            extreme may lie, usually a few percent of all. The number is known beforehand.

        Raises
        ------
        ValueError
            If more rows would have to be kept, if there is no row, or none with a positive
            weight.

        Examples
        --------
        >>> table = ScoreTable()
        >>> table.update([0, 1, 1, 0], [0.25, 0.75, 0.5, 0.125])
        >>> again = table.refine()
        >>> again.update([0, 1], [0.25, 0.75])
        >>> again.update([1, 0], [0.5, 0.125])
        >>> again.ks()
        TestResult(statistic=0.437595, pvalue=0.997973, log_pvalue=-0.00202927, n=4, sigma=0.214239)
        """
        return Refinement(self._rows, max_rows)


def _test_bounds(
    state: _core.ScoreTable, bounds: tuple[tuple[float, float, float], ...]
) -> TestBounds:
    statistic, pvalue, log_pvalue = (Bounds(*numbers) for numbers in bounds)
    return TestBounds(statistic, pvalue, log_pvalue, state.n, state.n_omitted)
