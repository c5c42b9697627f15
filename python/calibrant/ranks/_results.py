"""What rank calibration returns; public in `calibrant.ranks`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from calibrant._input.validation import checked_choice
from calibrant._result import ArraysResult
from calibrant.cumulative._test_result import TestResult
from calibrant.ranks._curves import CoverageCurve, RankEcdf
from calibrant.ranks._histogram import RankHistogram
from calibrant.ranks._verdict import RankKind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import Display

__all__ = ["RankCalibration", "RankDimension"]


@dataclass(frozen=True, repr=False, eq=False)
class RankDimension(ArraysResult):
    """The calibration of one quantity.

    Attributes
    ----------
    name, verdict : str
    adjusted_pvalue : float
        That of the gamma test, by Holm's method: the dimensions whose value is at most alpha can
        all be called miscalibrated, with a probability of at most alpha that one of them is not.
    gamma_test : TestResult
        The statistic is gamma(R) = 2 min over cuts k of min {P(R'(k) <= R(k)), P(R'(k) >= R(k))},
        with R'(k) binomial, as for uniform ranks: how far the curve is out where it is furthest
        out. Small values speak against calibration. The p-value is exact.
    ks : TestResult
        Of D = max \\|R(k) / N - k / (M + 1)\\|, with an exact p-value for discrete ranks.
    histogram : RankHistogram
        With the chi-square test, and z for bias and dispersion.
    ecdf : RankEcdf
    central, one_sided : CoverageCurve
        Of central sets of ranks, and of the sets of the lowest ranks. The former are central
        intervals if values were ranked, the latter regions of highest density if energies were.
    """

    name: str
    verdict: str
    adjusted_pvalue: float
    gamma_test: TestResult
    ks: TestResult
    histogram: RankHistogram
    ecdf: RankEcdf
    central: CoverageCurve
    one_sided: CoverageCurve

    def __repr__(self) -> str:
        return f"RankDimension({self.name!r}, {self.verdict!r})"


@dataclass(frozen=True, repr=False, eq=False)
class RankCalibration(ArraysResult):
    """Whether ranks are uniform, and what is wrong if they are not.

    Where there is one dimension, its parts can be reached from here: ``.histogram``, ``.ecdf``,
    ``.gamma_test``, ``.ks`` and ``.coverage``.

    Attributes
    ----------
    dimensions : tuple of RankDimension
    pvalue : float
        Of the hypothesis that all dimensions are calibrated: the least one of the gamma tests times
        the number of dimensions, at most 1.
    verdict : str
        Starts with "calibrated" where the p-value is above 1 - prob.
    n, n_draws : int
        N, the number of ranks, and M, that of the draws they were counted among.
    prob : float
        Of bands and intervals.
    kind : {"marginal", "energy", "tarp"}
        What was ranked.
    """

    dimensions: tuple[RankDimension, ...]
    pvalue: float
    verdict: str
    n: int
    n_draws: int
    prob: float
    kind: RankKind

    def _only(self) -> RankDimension:
        if len(self.dimensions) != 1:
            raise ValueError(f"there are {len(self.dimensions)} dimensions: use .dimensions[i]")
        return self.dimensions[0]

    @property
    def histogram(self) -> RankHistogram:
        """The histogram, where there is one dimension."""
        return self._only().histogram

    @property
    def ecdf(self) -> RankEcdf:
        """The ECDF difference and its bands, where there is one dimension."""
        return self._only().ecdf

    @property
    def gamma_test(self) -> TestResult:
        """The gamma test, where there is one dimension."""
        return self._only().gamma_test

    @property
    def ks(self) -> TestResult:
        """The Kolmogorov-Smirnov test, where there is one dimension."""
        return self._only().ks

    @property
    def coverage(self) -> CoverageCurve:
        """The coverage of the regions that were ranked, where there is one dimension."""
        return self.coverage_of(self._only())

    def coverage_of(self, dimension: RankDimension) -> CoverageCurve:
        """Return the coverage of central intervals; one-sided unless values were ranked."""
        return dimension.central if self.kind == "marginal" else dimension.one_sided

    def plot(
        self,
        ax: Axes | None = None,
        *,
        picture: Literal["ecdf", "histogram", "coverage"] = "ecdf",
        name: str | None = None,
        **options: Any,
    ) -> Display[RankCalibration]:
        """Draw it.

        Needs matplotlib: ``pip install ".[plot]"``.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where; by default a new figure.
        picture : {"ecdf", "histogram", "coverage"}
            The ECDF difference, the histogram of one dimension, or the coverage curve: see
            `calibrant.plotting.RankEcdfDisplay`, `calibrant.plotting.RankHistogramDisplay` and
            `calibrant.plotting.RankCoverageDisplay`.
        name, **options
            Of these.
        """
        from calibrant import plotting

        displays: dict[str, type[plotting.Display[RankCalibration]]] = {
            "ecdf": plotting.RankEcdfDisplay,
            "histogram": plotting.RankHistogramDisplay,
            "coverage": plotting.RankCoverageDisplay,
        }
        checked_choice(picture, "picture", tuple(displays))
        return displays[picture](self).plot(ax, name=name, **options)

    def __repr__(self) -> str:
        title = f"RankCalibration of {self.n} ranks among {self.n_draws} draws"
        wide = max(len(d.name) for d in self.dimensions)
        head = f"  {'':<{wide}}   gamma p  adjusted      KS p   chi2 p   bias z  spread z    area"
        rows = [f"  {d.name:<{wide}}" + self._numbers(d) for d in self.dimensions]
        return "\n".join([title, f"  {self.verdict}", head, *rows])

    def _numbers(self, d: RankDimension) -> str:
        h = d.histogram
        return (
            f"{d.gamma_test.pvalue:>10.3g}{d.adjusted_pvalue:>10.3g}{d.ks.pvalue:>10.3g}"
            f"{h.chi_square.pvalue:>9.3g}{h.bias.statistic:>9.2f}{h.dispersion.statistic:>10.2f}"
            f"{self.coverage_of(d).area:>8.3f}"
        )
