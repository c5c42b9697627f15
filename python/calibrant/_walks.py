"""Tests by cumulative differences; public in `calibrant.cumulative`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant._inputs import resolve
from calibrant._labels import class_codes
from calibrant._result import Result
from calibrant._test_result import ClasswiseTestResult, TestResult
from calibrant.means import NanPolicy, check_nan_policy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import CumulativeDifferencesDisplay

__all__ = ["CumulativeDifferences", "cumulative_differences", "ks_test", "kuiper_test"]

Classes = Literal["top-label", "per-class"]


class WalkTests(NamedTuple):
    """What the core gives: both tests from one computation."""

    ks: tuple[float, float, float]
    kuiper: tuple[float, float, float]
    sigma: float
    n: int
    n_omitted: int

    def result(self, test: str) -> TestResult:
        """Return the test called "ks" or "kuiper"."""
        numbers = self.ks if test == "ks" else self.kuiper
        return TestResult(*numbers, n=self.n, n_omitted=self.n_omitted, sigma=self.sigma)


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

        Needs matplotlib: ``pip install "calibrant[plot]"``. The arguments are those of
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


def _test(
    test: str,
    y_true: ArrayLike,
    y_proba: ArrayLike,
    classes: Classes,
    sample_weight: ArrayLike | None,
    pos_label: object | None,
    labels: ArrayLike | None,
    nan_policy: NanPolicy,
) -> TestResult:
    if classes not in ("top-label", "per-class"):
        raise ValueError(f"classes must be 'top-label' or 'per-class', got {classes!r}")
    omit = check_nan_policy(nan_policy)
    codes = class_codes(y_true, y_proba, labels=labels, pos_label=pos_label)

    def tests(scoring: int) -> TestResult:
        found = _core.walk_tests(codes, y_proba, sample_weight, omit, scoring)
        return WalkTests(*found).result(test)

    if classes == "top-label":
        return tests(_core.EITHER)
    shape = np.shape(y_proba if hasattr(y_proba, "shape") else resolve(y_proba, "y_proba"))
    if len(shape) == 1:
        tests(_core.EITHER)  # which refuses what is no column of probabilities
        raise ValueError("classes='per-class' needs y_proba of shape (n, k), got shape (n,)")
    first = tests(0)  # which refuses all other shapes
    return ClasswiseTestResult._of_classes([first, *(tests(j) for j in range(1, shape[1]))])


def ks_test(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    classes: Classes = "top-label",
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> TestResult:
    """KS test of calibration: how far the cumulative differences get from 0.

    With the rows in order of their scores s, and y = 1 for a hit, else 0,

        C_k = sum of w (y - s) over the first k rows / sum of w,    C_0 = 0
        statistic = max abs(C_k) / sigma,    sigma = sqrt(sum w s (1 - s)) / sum of w

    over those k after which the score changes: equal scores move together [1]_. If the scores
    are the true probabilities, the statistic has the law of max abs(B) of a Brownian motion,
    `brownian_sup_sf`, in large samples.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        The score is the probability of class 1, a hit is label 1.
    classes : {"top-label", "per-class"}
        With y_proba of shape (n, k): whether the score is the largest probability of the row,
        and a hit that its class (the first of equals) is the label; or whether each class is
        tested against the rest, with a p-value for all of them (`ClasswiseTestResult`).
    sample_weight : array of shape (n,), finite and not negative, optional
        A row of weight 2 counts like two rows: weights enter the variance as they are, not
        squared. They are numbers of rows, so scaling them scales the statistic.
    pos_label, labels, nan_policy
        As for `calibrant.risk_profile`.

    Returns
    -------
    TestResult

    See Also
    --------
    kuiper_test : sees more where errors of both signs follow each other
    cumulative_differences : the curve C
    calibrant.streaming.ScoreTable : bounds for batches and many machines, and a second pass

    Notes
    -----
    If all scores are 0 or 1, sigma is 0. Then the statistic is 0 and p is 1, unless one was wrong:
    then the statistic is infinite and p is 0.

    The walk is computed in exact arithmetic and the statistic rounded once: it does not depend
    on the order of rows. Without weights rows are not sorted, except those near the extremes.

    References
    ----------
    .. [1] I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert, C. Xu, "Metrics of calibration for
       probabilistic predictions", JMLR 23, 2022.

    Examples
    --------
    >>> ks_test([0, 1, 1, 0], [0.25, 0.75, 0.5, 0.125])
    TestResult(statistic=0.437595, pvalue=0.997973, log_pvalue=-0.00202927, n=4, sigma=0.214239)
    """
    return _test("ks", y_true, y_proba, classes, sample_weight, pos_label, labels, nan_policy)


def kuiper_test(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    classes: Classes = "top-label",
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    nan_policy: NanPolicy = "raise",
) -> TestResult:
    """Kuiper's test of calibration: the range of the cumulative differences.

    With C_k and sigma as for `ks_test`,

        statistic = (max C_k - min C_k) / sigma,    C_0 = 0 included

    If the scores are the true probabilities, it has the law of max B - min B of a Brownian
    motion, `brownian_range_sf`, in large samples. The range is what the largest deviation over
    any interval of scores adds up to, wherever it lies.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
    classes, sample_weight, pos_label, labels, nan_policy
        As for `ks_test`.

    Returns
    -------
    TestResult

    Notes
    -----
    Some texts print the range of abs(C_k), or leave C_0 out: neither has that law.

    Examples
    --------
    >>> kuiper_test([0, 1, 1, 0], [0.25, 0.75, 0.5, 0.125])
    TestResult(statistic=0.87519, pvalue=0.98208, log_pvalue=-0.0180824, n=4, sigma=0.214239)
    """
    return _test("kuiper", y_true, y_proba, classes, sample_weight, pos_label, labels, nan_policy)


def check_max_points(max_points: int | None) -> None:
    """Refuse what is too few for both ends, the highest and the lowest point."""
    if max_points is not None and max_points < 4:
        raise ValueError(f"max_points must be at least 4, got {max_points}")


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
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
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
    sample_weight, pos_label, labels, nan_policy
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
    if form not in ("rows", "theory"):
        raise ValueError(f"form must be 'rows' or 'theory', got {form!r}")
    check_max_points(max_points)
    omit = check_nan_policy(nan_policy)
    codes = class_codes(y_true, y_proba, labels=labels, pos_label=pos_label)
    curve = CumulativeDifferences(
        *_core.cumulative_differences(
            codes, y_proba, sample_weight, omit, _core.EITHER, form == "theory"
        )
    )
    return curve._thinned(max_points)
