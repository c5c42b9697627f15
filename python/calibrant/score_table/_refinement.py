"""The second pass over the rows of a `calibrant.streaming.ScoreTable`."""

from __future__ import annotations

from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.labels import event_rows
from calibrant._input.validation import MultiClass, NanPolicy, check_nan_policy, checked_count
from calibrant.cumulative._test_result import TestResult
from calibrant.cumulative._tests import WalkTests

__all__ = ["Refinement"]


class Refinement:
    """What `ScoreTable.refine` returns: give it the same rows again, in any batches and order.

    It keeps only the rows of cells in which an extreme of the cumulative differences may lie.
    """

    __slots__ = ("_state",)

    def __init__(self, table: _core.ScoreTable, max_rows: int) -> None:
        self._state = _core.WalkRefiner(table, checked_count(max_rows, "max_rows"))

    def update(
        self,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: object | None = None,
        labels: ArrayLike | None = None,
        multi_class: MultiClass = "auto",
        nan_policy: NanPolicy = "raise",
    ) -> None:
        """Add a batch of rows, as `ScoreTable.update` does.

        Raises
        ------
        ValueError
            If a row is rejected, or the rows cannot be those of the table. Nothing is added then.
        """
        omit = check_nan_policy(nan_policy)
        codes, y_proba = event_rows(
            y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
        )
        self._state.update(codes, y_proba, sample_weight, omit)

    @property
    def n(self) -> int:
        """The number of rows so far."""
        return self._state.n

    @property
    def n_omitted(self) -> int:
        """The number of rows dropped because a value was missing."""
        return self._state.n_omitted

    @property
    def n_kept(self) -> int:
        """The number of rows in memory."""
        return self._state.n_kept

    def ks(self) -> TestResult:
        """Return `calibrant.ks_test` of all rows.

        Raises
        ------
        ValueError
            If the rows so far are not those of the table, as far as can be seen.
        """
        return WalkTests(*self._state.tests()).results().ks

    def kuiper(self) -> TestResult:
        """Return `calibrant.kuiper_test` of all rows; errors are those of `ks`."""
        return WalkTests(*self._state.tests()).results().kuiper

    def __repr__(self) -> str:
        return f"Refinement(n={self.n}, n_kept={self.n_kept})"
