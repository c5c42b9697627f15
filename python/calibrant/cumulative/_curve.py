"""The curve of cumulative differences; public in `calibrant.cumulative`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant._input.labels import event_rows
from calibrant._input.subsets import subset_codes
from calibrant._input.validation import (
    MultiClass,
    NanPolicy,
    check_nan_policy,
    checked_choice,
    checked_count,
)
from calibrant._result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import CumulativeDifferencesDisplay

__all__ = ["CumulativeDifferences", "cumulative_differences"]


@dataclass(frozen=True, repr=False, eq=False)
class CumulativeDifferences(Result):
    """The curve of cumulative differences, for plotting.

    Attributes
    ----------
    fractions : array of shape (m,)
        The abscissae: the share of the weight up to each point, from 0 to 1.
    scores : array of shape (m,)
        The scores of the points; 0 for the start.
    differences : array of shape (m,)
        The ordinates C, from 0.
    sigma : float
        The scale of C: its standard deviation at the end, if the scores are right.
    n, n_omitted : int
        Rows taken in, and rows dropped because a value was missing.
    """

    fractions: NDArray[np.float64]
    scores: NDArray[np.float64]
    differences: NDArray[np.float64]
    sigma: float
    n: int = 0
    n_omitted: int = 0

    def _thinned(self, max_points: int | None) -> CumulativeDifferences:
        if max_points is None or self.differences.size <= max_points:
            return self
        kept = _thinned(self.differences, max_points)
        return replace(
            self,
            fractions=self.fractions[kept],
            scores=self.scores[kept],
            differences=self.differences[kept],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in plain.items()
        }

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> CumulativeDifferencesDisplay:
        """Draw the curve, with the band in which chance keeps it and the p-values of the tests.

        Needs matplotlib: ``pip install ".[plot]"``. The arguments are those of
        `calibrant.plotting.CumulativeDifferencesDisplay`.
        """
        from calibrant.plotting import CumulativeDifferencesDisplay

        return CumulativeDifferencesDisplay(self).plot(ax, name=name, **options)

    def __repr__(self) -> str:
        return (
            f"CumulativeDifferences({self.fractions.size} points, lowest="
            f"{self.differences.min():.6g}, highest={self.differences.max():.6g}, "
            f"sigma={self.sigma:.6g}, n={self.n})"
        )


def check_max_points(max_points: int | None) -> None:
    """Reject what is too few for both ends, the highest and the lowest point."""
    if max_points is not None:
        checked_count(max_points, "max_points", least=4)


def _thinned(differences: NDArray[np.float64], max_points: int) -> NDArray[np.intp]:
    """Indices of at most so many points: both ends, and of each chunk the highest and lowest."""
    n = differences.size
    chunks = np.array_split(np.arange(n), (max_points - 2) // 2)
    kept = {0, n - 1}
    for chunk in chunks:
        if chunk.size:
            part = differences[chunk[0] : chunk[-1] + 1]
            kept.update((int(chunk[0] + part.argmax()), int(chunk[0] + part.argmin())))
    return np.array(sorted(kept))


def cumulative_differences(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    max_points: int | None = None,
    form: Literal["rows", "theory"] = "rows",
    subset: Any = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> CumulativeDifferences:
    """Curve of the cumulative differences between hits and scores.

    The C_k of `ks_test`, over the share of the rows. Where it falls, scores are too high; where
    it rises, too low; its slope is by how much.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        With k columns the score is the largest probability of the row.
    max_points : int, at least 4, optional
        Thin the curve to that many points. Its ends and its extremes are kept, and the extremes
        of every stretch of it.
    form : {"rows", "theory"}
        Whether y belongs to the row of the score, or labels are sorted by themselves, as a
        formula in circulation has it. The latter compares how often, not where: not recommended,
        and not what the tests use.
    subset : array of shape (n,) of booleans, optional
        Draw how the hits of these rows deviate from those of all rows at like scores, as
        `ks_test` with ``subset`` tests it. A point for each distinct score of the subset.
    sample_weight, pos_label, labels, multi_class, nan_policy
        As for `ks_test`.

    Returns
    -------
    CumulativeDifferences
        A point for each distinct score, after one for the start.

    Examples
    --------
    >>> curve = cumulative_differences([0, 1, 1, 0], [0.25, 0.75, 0.5, 0.125])
    >>> curve.differences
    array([ 0.     , -0.03125, -0.09375,  0.03125,  0.09375])
    >>> curve.fractions
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    checked_choice(form, "form", ("rows", "theory"))
    check_max_points(max_points)
    if subset is not None and form != "rows":
        raise ValueError(f"subset needs form='rows', got {form!r}")
    omit = check_nan_policy(nan_policy)
    codes, y_proba = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
    )
    rows = (codes, y_proba, sample_weight, omit, _core.EITHER)
    if subset is None:
        found = _core.cumulative_differences(*rows, form == "theory")
    else:
        found = _core.subpopulation_differences(*rows, subset_codes(subset))
    return CumulativeDifferences(*found)._thinned(max_points)
