"""What to ask of samples, by how many truths there are; public in `calibrant.samples`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant._input.draws import renamed
from calibrant._result import Result
from calibrant.intervals._confidence import checked_level
from calibrant.ranks import sbc_ranks
from calibrant.ranks._calibration import rank_calibration
from calibrant.ranks._results import RankCalibration
from calibrant.samples._frechet import frechet_distance
from calibrant.samples._mmd_test import MMDTest, mmd_test
from calibrant.samples._neighbours import DensityCoverage, density_coverage
from calibrant.samples._vendi import VendiProfile, vendi_profile

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import Display

__all__ = ["SampleComparison", "compare_samples"]

Case = Literal["many truths", "no truth", "one truth each"]


@dataclass(frozen=True, repr=False, eq=False)
class SampleComparison(Result):
    """What can be said of samples.

    Attributes
    ----------
    case : {"many truths", "no truth", "one truth each"}
    verdict : str
        In words. Starts with "different" or "no difference found" if there are many truths.
    n, m : int
        Rows of x and of y.
    mmd : MMDTest or None
        With many truths: whether both samples are of one law.
    frechet : float or None
        The squared distance of their means and covariances.
    density_coverage : DensityCoverage or None
        Of x as generated and y as real rows.
    vendi, vendi_of_truth : VendiProfile or None
        The diversity of x and, with many truths, of y. None of what has one column, or a row of
        zeros.
    ranks : RankCalibration or None
        With one truth each.
    """

    case: Case
    verdict: str
    n: int
    m: int = 0
    mmd: MMDTest | None = None
    frechet: float | None = None
    density_coverage: DensityCoverage | None = None
    vendi: VendiProfile | None = None
    vendi_of_truth: VendiProfile | None = None
    ranks: RankCalibration | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, ready for JSON; nested results become nested dicts."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            name: value.to_dict() if isinstance(value, Result) else value
            for name, value in fields.items()
        }

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> Display[Any]:
        """Draw what the case is about.

        With many truths, density, coverage and diversity beside what is expected of equal laws:
        see `calibrant.plotting.SampleComparisonDisplay`. Without, the Vendi profile; with one
        each, what `RankCalibration.plot` draws. Needs matplotlib:
        ``pip install ".[plot]"``.
        """
        from calibrant.plotting import SampleComparisonDisplay

        single = self.ranks or (self.vendi if self.case == "no truth" else None)
        if single is not None:
            return single.plot(ax, name=name, **options)
        return SampleComparisonDisplay(self).plot(ax, name=name, **options)

    def ratios(self) -> dict[str, float]:
        """Return how density, coverage and diversity compare with what equal laws give.

        With many truths only. 1 is as expected.
        """
        found: dict[str, float] = {}
        if self.density_coverage is not None:
            balls = self.density_coverage
            found["density"] = balls.density / balls.expected_density
            found["coverage"] = balls.coverage / balls.expected_coverage
        if self.vendi is not None and self.vendi_of_truth is not None:
            found["diversity"] = self.vendi.at(1) / self.vendi_of_truth.at(1)
        return found

    def __repr__(self) -> str:
        title = f"SampleComparison, {self.case}: {_rows_text(self)}"
        rows = [
            f"  {name:<17}{value:>10}  {beside}".rstrip() for name, value, beside in _table(self)
        ]
        return "\n".join([title, f"  {self.verdict}", *rows])


def compare_samples(
    x: ArrayLike,
    y: ArrayLike | None = None,
    *,
    k: int = 5,
    prob: float = 0.95,
    n_permutations: int = 1000,
    seed: int = 0,
) -> SampleComparison:
    """Say what can be said of samples, by how many truths there are.

    - Many truths, x of shape (n, d) and y of shape (m, d), or (n,) and (m,): do both come from
      one law? By the test of `mmd_test`, `frechet_distance`, `density_coverage` and the
      `vendi_profile` of both.
    - No truth, x of shape (n, d): how diverse are they? By `vendi_profile`, to compare with other
      samples of the same size.
    - One truth each, x of shape (n, m, d) and y of shape (n, d), or (n, m) and (n,): m draws for
      each of n conditions, and what was true there. By `sbc_ranks` and `rank_calibration`.

    Parameters
    ----------
    x : array
        The samples in question.
    y : array, optional
        The truths. With one axis less than x, there is one for each condition.
    k : int
        As for `density_coverage`.
    prob : float
        1 less the level of the test.
    n_permutations : int
        As for `mmd_test`.
    seed : int
        Of the permutations, and of ties between draws and truths.

    Returns
    -------
    SampleComparison

    Notes
    -----
    With many truths the MMD test alone decides whether the samples differ. Words about how are
    rules of thumb: less coverage than expected by three standard errors "misses parts of y", a
    density below 0.8 "strays from y", above 1.25 "keeps to the dense parts of y".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> real, generated = rng.normal(size=(200, 2)), 0.5 * rng.normal(size=(200, 2))
    >>> found = compare_samples(generated, real, n_permutations=99)
    >>> found.verdict
    'different (MMD, p = 0.01): misses parts of y'
    >>> compare_samples(real).case
    'no truth'
    """
    prob = checked_level(prob, "prob")
    if y is None:
        return _no_truth(x)
    if _ndim(x) == _ndim(y) + 1:
        return _one_truth_each(x, y, prob, seed)
    rows, truths = _core.features(x, "x", False), _core.features(y, "y", False)
    for name, sample in (("x", rows), ("y", truths)):
        if not len(sample):
            raise ValueError(f"{name} must have rows, got none")
    if rows.shape[1] != truths.shape[1]:
        raise ValueError(
            f"x and y must have the same columns, found {rows.shape[1]} and {truths.shape[1]}"
        )
    if len(truths) == 1:
        raise ValueError(
            "y must have at least 2 rows; for one truth each, pass draws of shape (n, m, d) and "
            "truths of shape (n, d)"
        )
    balls = density_coverage(truths, rows, k=k)
    test = mmd_test(rows, truths, n_permutations=n_permutations, seed=seed)
    return SampleComparison(
        "many truths", _verdict(test, balls, prob), len(rows), len(truths), test,
        frechet_distance(rows, truths), balls, _vendi_of(rows), _vendi_of(truths),
    )  # fmt: skip


def _ndim(sample: Any) -> int:
    ndim = getattr(sample, "ndim", None)
    if isinstance(ndim, int):
        return ndim
    try:
        return np.ndim(sample)
    except ValueError:  # ragged: rejected by name where it is read
        return 2


def _no_truth(x: Any) -> SampleComparison:
    rows = _core.features(x, "x", False)
    if rows.shape[1] < 2:
        raise ValueError("x must have at least 2 columns: numbers have no angles to compare")
    profile = vendi_profile(rows)
    verdict = (
        f"as diverse as {profile.at(1):.4g} rows of which no two are similar; "
        "compare with samples of the same size"
    )
    return SampleComparison("no truth", verdict, len(rows), vendi=profile)


def _one_truth_each(x: Any, y: Any, prob: float, seed: int) -> SampleComparison:
    try:
        ranks = sbc_ranks(x, y, seed=seed)
    except (TypeError, ValueError) as error:
        raise renamed(error, draws="x", truth="y") from None
    calibration = rank_calibration(ranks, np.shape(x)[1], prob=prob)
    return SampleComparison(
        "one truth each", calibration.verdict, len(ranks), len(ranks), ranks=calibration
    )


def _vendi_of(rows: NDArray[np.float64]) -> VendiProfile | None:
    has_angles = rows.shape[1] > 1 and bool(rows.any(axis=1).all())
    return vendi_profile(rows) if has_angles else None


def _verdict(test: MMDTest, balls: DensityCoverage, prob: float) -> str:
    if test.pvalue > 1.0 - prob:
        return f"no difference found (MMD, p = {test.pvalue:.2g})"
    expected = balls.expected_coverage
    error = math.sqrt(expected * (1.0 - expected) / balls.n_real)
    words = []
    if balls.coverage < expected - 3.0 * error:
        words.append("misses parts of y")
    if balls.density < 0.8:
        words.append("strays from y")
    if balls.density > 1.25:
        words.append("keeps to the dense parts of y")
    text = f"different (MMD, p = {test.pvalue:.2g})"
    return f"{text}: {', '.join(words)}" if words else text


def _rows_text(found: SampleComparison) -> str:
    if found.case == "no truth":
        return f"{found.n} rows"
    if found.ranks is not None:
        return f"{found.n} truths, {found.ranks.n_draws} draws each"
    return f"{found.n} rows and {found.m} of the truth"


def _table(found: SampleComparison) -> list[tuple[str, str, str]]:
    """Name, value, and what to compare it with."""
    rows: list[tuple[str, str, str]] = []
    if found.mmd is not None:
        rows.append(("squared MMD", f"{found.mmd.statistic:.4g}", f"p = {found.mmd.pvalue:.2g}"))
    if found.frechet is not None:
        rows.append(("Fréchet distance", f"{found.frechet:.4g}", ""))
    if found.density_coverage is not None:
        balls = found.density_coverage
        rows.append(("density", f"{balls.density:.4g}", f"expected {balls.expected_density:g}"))
        rows.append(
            ("coverage", f"{balls.coverage:.4g}", f"expected {balls.expected_coverage:.4g}")
        )
    if found.vendi is not None:
        truth = found.vendi_of_truth
        beside = "" if truth is None else f"of the truth {truth.at(1):.4g}"
        rows.append(("Vendi score", f"{found.vendi.at(1):.4g}", beside))
    if found.ranks is not None:
        rows += [
            (d.name, f"{d.adjusted_pvalue:.2g}", d.verdict.partition(":")[0])
            for d in found.ranks.dimensions
        ]
    return rows
