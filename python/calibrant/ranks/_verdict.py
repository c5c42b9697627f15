"""What the numbers of rank calibration amount to, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from calibrant.ranks._histogram import RankHistogram

__all__ = ["RankKind", "overall_verdict", "rank_verdict"]

RankKind = Literal["marginal", "energy", "tarp"]


class _Words(NamedTuple):
    """Name and meaning of too many low, high, middle and extreme ranks."""

    low: tuple[str, str]
    high: tuple[str, str]
    middle: tuple[str, str]
    extreme: tuple[str, str]


_WORDS: dict[str, _Words] = {
    "marginal": _Words(
        ("biased up", "too many low ranks, truths below the draws: the posterior is too high"),
        ("biased down", "too many high ranks, truths above the draws: the posterior is too low"),
        ("over-dispersed", "too many middle ranks (a hump): the posterior is too wide"),
        ("under-dispersed", "too many extreme ranks (a U): the posterior is too narrow"),
    ),
    "energy": _Words(
        ("over-dispersed", "too many low ranks, truths too probable: the posterior is too wide"),
        ("under-dispersed", "too many high ranks, truths improbable: the posterior is too narrow"),
        ("miscalibrated", "too many middle ranks: truths neither near modes nor in tails"),
        ("miscalibrated", "too many extreme ranks: truths both near modes and in tails"),
    ),
    "tarp": _Words(
        ("biased", "too many low ranks: truths nearer to the references than the draws"),
        ("biased", "too many high ranks: truths farther from the references than the draws"),
        ("over-dispersed", "too many middle ranks (a hump): the posterior is too wide"),
        ("under-dispersed", "too many extreme ranks (a U): the posterior is too narrow"),
    ),
}


def rank_verdict(
    histogram: RankHistogram, adjusted_pvalue: float, n_ranks: int, prob: float, kind: RankKind
) -> str:
    """Return the verdict on a dimension.

    The gamma test decides; the two components of the histogram say what is wrong.
    """
    findings = _findings(histogram, n_ranks, 1.0 - prob, _WORDS[kind])
    if adjusted_pvalue > 1.0 - prob:
        text = f"calibrated: such ranks are likely by chance (p = {adjusted_pvalue:.2g})"
        if findings and min(histogram.bias.pvalue, histogram.dispersion.pvalue) <= 0.1 * (1 - prob):
            meaning = findings[0][1].partition(":")[0].partition(",")[0]
            text += f"; but there may be {meaning}"
        return text
    if not findings:
        return "miscalibrated: the ranks are uneven, without a tilt, a hump or a U"
    names = list(dict.fromkeys(name for name, _ in findings))
    return f"{' and '.join(names)}: {'; '.join(meaning for _, meaning in findings)}"


def _findings(
    histogram: RankHistogram, n_ranks: int, alpha: float, words: _Words
) -> list[tuple[str, str]]:
    """Return what is significant, the most significant first."""
    bias, dispersion = histogram.bias.statistic, histogram.dispersion.statistic
    found = []
    if histogram.bias.pvalue <= alpha:
        found.append((abs(bias), words.high if bias > 0 else words.low))
    if histogram.dispersion.pvalue <= alpha:
        # Ranks at one end are extreme, too. Dispersion counts if it has the same sign about the
        # mean that the ranks have.
        k2 = n_ranks * n_ranks
        shift = bias * bias * (k2 - 1) / 3
        about_mean = dispersion - shift / math.sqrt(histogram.bias.n * 4 * (k2 - 1) * (k2 - 4) / 45)
        if about_mean * dispersion > 0 or not found:
            found.append((abs(dispersion), words.extreme if dispersion > 0 else words.middle))
    return [finding for _, finding in sorted(found, key=lambda pair: -pair[0])]


def overall_verdict(
    names: Sequence[str], verdicts: Sequence[str], adjusted: Sequence[float], prob: float
) -> str:
    """Return the verdict on all dimensions."""
    if len(names) == 1:
        return verdicts[0]
    wrong = [i for i, pvalue in enumerate(adjusted) if pvalue <= 1.0 - prob]
    if not wrong:
        return (
            f"calibrated: such ranks are likely by chance in all {len(names)} dimensions "
            f"(least p = {min(adjusted):.2g}, by Holm's method)"
        )
    kinds = [verdicts[i].partition(":")[0] for i in wrong]
    word = kinds[0] if len(set(kinds)) == 1 else "miscalibrated"
    listed = ", ".join(f"{names[i]} ({kind})" for i, kind in zip(wrong, kinds, strict=True))
    return f"{word}: {len(wrong)} of {len(names)} dimensions: {listed}"
