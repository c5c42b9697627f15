"""The model against the source, as far as a score table tells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant import _core
from calibrant._result import Result, plain
from calibrant.calibration import ReliabilityBins
from calibrant.calibration._assessment import verdict_on
from calibrant.calibration._verdict import (
    PairBins,
    angle_between,
    angle_text,
    angle_tolerance,
    too_many_bins,
)
from calibrant.means import RiskProfile
from calibrant.score_table._bounds import Bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from calibrant.plotting import AssessmentDisplay

__all__ = ["AssessmentBounds", "MeanBounds", "assessment_bounds"]

#: More than the roundings of a quotient and of an angle, relatively; and the least doubles.
SLACK, UNDERFLOW = 2.0**-49, 2.0**-1072


@dataclass(frozen=True, repr=False)
class MeanBounds(Result):
    """Generalized means that are known up to intervals.

    Attributes
    ----------
    decisiveness, accuracy, robustness : Bounds
        With the powers 1, 0 and -2/3.
    """

    decisiveness: Bounds
    accuracy: Bounds
    robustness: Bounds


@dataclass(frozen=True, repr=False, eq=False)
class AssessmentBounds(Result):
    """The model against the source, with intervals that hold what `calibrant.assess` gives.

    Attributes
    ----------
    model : RiskProfile
        Exact: `calibrant.risk_profile`, to the bit.
    source, divergence : MeanBounds
        The generalized means of the frequencies of the bins, and model / source.
    angle : Bounds
        In degrees; as for `calibrant.Assessment`. Its value is NaN where both spreads are 0.
    tolerance : float
        How far the angle of calibrated probabilities strays from 45 by chance; of the likely
        bins.
    verdict : str
        As `calibrant.Assessment.verdict`, from the same tests of the same rows.
    bins : ReliabilityBins
        The likely bins of all pairs; a hit is a pair that happened.
    n, n_classes, n_omitted : int
        Events taken in, classes, and rows dropped because a value was missing.
    warning : str or None
        Why the numbers should be read with care.
    pvalue : float
        Of the verdict.
    """

    model: RiskProfile
    source: MeanBounds
    divergence: MeanBounds
    angle: Bounds
    tolerance: float
    verdict: str
    bins: ReliabilityBins
    n: int
    n_classes: int = 2
    n_omitted: int = 0
    warning: str | None = None
    pvalue: float = math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON; NaN becomes None."""
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **options: Any
    ) -> AssessmentDisplay:
        """Draw the model against the source: a bubble for each likely bin, and the three means.

        Needs matplotlib: ``pip install ".[plot]"``. The arguments are those of
        `calibrant.plotting.AssessmentDisplay`.
        """
        from calibrant.plotting import AssessmentDisplay

        return AssessmentDisplay(self).plot(ax, name=name, **options)

    def __repr__(self) -> str:
        lines = [
            f"AssessmentBounds of {self.n} rows, {self.n_classes} classes, {len(self.bins)} bins",
            "                model   source           model / source",
        ]
        for name in ("decisiveness", "accuracy", "robustness"):
            model = getattr(self.model, name)
            parts = [getattr(part, name) for part in (self.source, self.divergence)]
            shown = "  ".join(
                f"{x.value:.4f} \N{PLUS-MINUS SIGN} {x.width / 2:<6.0g}" for x in parts
            )
            lines.append(f"  {name:<12}  {model:.4f}  {shown}".rstrip())
        lines.append(f"  {self.verdict}")
        if self.warning is not None:
            lines.append(f"  {self.warning}")
        return "\n".join(lines)


def _ratio(model: float, source: Bounds, value: float, *, exact: bool) -> Bounds:
    if exact:
        return Bounds(value, value, value)
    low = max(model / source.high * (1 - SLACK) - UNDERFLOW, 0.0)
    high = model / source.low * (1 + SLACK) + UNDERFLOW
    return Bounds(min(max(value, low), high), low, high)


def _angle(model: RiskProfile, source: MeanBounds, *, certain: bool) -> Bounds:
    """Return the angle: it falls as the source's spread grows (or rises, if rise < 0)."""
    rise = model.decisiveness - model.robustness
    value = angle_between(rise, source.decisiveness.value - source.robustness.value)
    if certain:
        return Bounds(value, value, value)
    # No spread is negative, but for the rounding of the two means.
    least = max(source.decisiveness.low - source.robustness.high, -SLACK)
    most = max(source.decisiveness.high - source.robustness.low, least)
    ends = sorted(math.degrees(math.atan2(rise, run)) for run in (least, most))
    low, high = ends[0] - SLACK * abs(ends[0]), ends[1] + SLACK * abs(ends[1])
    if math.isnan(value):
        return Bounds(value, low, high)
    return Bounds(min(max(value, low), high), low, high)


def assessment_bounds(
    table: _core.ScoreTable,
    model: RiskProfile,
    bins: _core.ScoreBounds,
    rows: _core.ScoreTable | None,
) -> AssessmentBounds:
    """Return what bins of the pairs of a table amount to; the verdict is on the rows."""
    model_state = table.model()
    n_classes = max(table.columns, 2)
    source_state, *means = bins.source(model_state, n_classes)
    source = MeanBounds(*(Bounds(*mean) for mean in means))
    names = ("decisiveness", "accuracy", "robustness")
    divergence = MeanBounds(
        *(
            _ratio(
                getattr(model, name),
                getattr(source, name),
                model_state.mean_ratio(i, source_state),
                exact=bins.certain or math.isinf(model_state.log_mean(i)),  # a mean of 0
            )
            for i, name in enumerate(names)
        )
    )
    likely = ReliabilityBins._of(bins.likely())
    pairs = PairBins(likely.weights, likely.hits, likely.mean_scores)
    angle = _angle(model, source, certain=bins.certain)
    tolerance = angle_tolerance(model, pairs)
    verdict, pvalue = verdict_on(rows, angle_text(angle, tolerance, len(likely)), table.q_lim)
    return AssessmentBounds(
        model, source, divergence, angle, tolerance, verdict, likely,
        table.n, n_classes, table.n_omitted, too_many_bins(pairs, n_classes), pvalue,
    )  # fmt: skip
