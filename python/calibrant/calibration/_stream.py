"""The accumulators of reliability tables and assessments; public in `calibrant.streaming`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from calibrant import _core
from calibrant._accumulator import EventAccumulator
from calibrant._input.bins import bin_edges
from calibrant._input.validation import checked_number
from calibrant._runtime.public_module import public_in
from calibrant.calibration import _assessment as assessment
from calibrant.calibration._errors import Norm, ReliabilityBins, calibration_error

__all__ = ["Assessment", "Reliability"]


@public_in("calibrant.streaming")
class Reliability(EventAccumulator[_core.Reliability]):
    """Accumulator of `calibrant.reliability_bins` with edges fixed beforehand.

    Parameters
    ----------
    n_bins : int, or the edges themselves
        Bins of equal width, or as given; edges must not fall and must cover [0, 1].

    Examples
    --------
    >>> table = Reliability(n_bins=2)
    >>> table.update([0, 0, 1], [0.125, 0.375, 0.25])
    >>> table.update([1], [0.75])
    >>> table.expected_calibration_error()
    0.125
    """

    __slots__ = ()
    _State = _core.Reliability

    def __init__(self, n_bins: int | Sequence[float] = 15) -> None:
        self._state = _core.Reliability(bin_edges(n_bins))

    def _add(self, y_true: Any, y_proba: Any, sample_weight: Any, omit: bool) -> None:
        self._state.update(y_true, y_proba, sample_weight, omit, _core.EITHER)

    def result(self) -> ReliabilityBins:
        """Return the table of the rows so far."""
        return ReliabilityBins._of(self._now())

    def expected_calibration_error(self, *, norm: Norm = 1, debias: bool = False) -> float:
        """Return the calibration error of the rows so far, as `calibrant` defines it."""
        return calibration_error(self._state, norm, debias)

    def _parameters(self) -> dict[str, object]:
        return {"n_bins": len(self._state.edges) - 1}


@public_in("calibrant.streaming")
class Assessment(EventAccumulator[_core.Assessment]):
    """Accumulator of `calibrant.assess` with edges fixed beforehand, all classes pooled.

    Parameters
    ----------
    n_bins : int, or the edges themselves
        Bins of equal width, or as given; edges must not fall and must cover [0, 1].
    q_lim : float, 0 <= q_lim < 0.5
        Clip all probabilities to [q_lim, 1 - q_lim].

    Examples
    --------
    >>> left, right = Assessment(n_bins=2), Assessment(n_bins=2)
    >>> left.update([0, 0, 0], [0.1, 0.1, 0.1])
    >>> right.update([1, 1], [0.9, 0.1])
    >>> round(left.merge(right).result().angle, 4)
    66.0422
    """

    __slots__ = ()
    _State = _core.Assessment

    def __init__(self, n_bins: int | Sequence[float] = 100, *, q_lim: float = 0.0) -> None:
        self._state = _core.Assessment(
            bin_edges(n_bins), checked_number(q_lim, "q_lim"), with_table=True
        )

    def _add(self, y_true: Any, y_proba: Any, sample_weight: Any, omit: bool) -> None:
        self._state.update(y_true, y_proba, sample_weight, omit, _core.ALL_PAIRS)

    def result(self, source: Literal["bins", "bayes"] = "bins") -> assessment.Assessment:
        """Return the assessment of the rows so far.

        Parameters
        ----------
        source : {"bins", "bayes"}
            As for `calibrant.assess`; the others need all rows at once.
        """
        assessment.check_source(source, ("bins", "bayes"))
        state = self._now()
        model, classes = state.model(), state.scores_per_event
        of_bins = assessment.source_of_table(state, model, source, classes)
        return assessment.conclude(
            [state], model, [of_bins], [_core.ALL_PAIRS], classes, source, state.rows
        )

    def _parameters(self) -> dict[str, object]:
        return {"n_bins": len(self._state.edges) - 1, "q_lim": self._state.q_lim}
