"""scikit-learn's display of a calibration curve, over the curve of this layer."""

from __future__ import annotations

from typing import Any

from sklearn.calibration import CalibrationDisplay as _Display

from calibrant.compat.sklearn import calibration_curve

__all__ = ["CalibrationDisplay"]


class CalibrationDisplay(_Display):  # type: ignore[misc]  # scikit-learn has no types
    """scikit-learn's, with the curve computed by calibrant; also drawn from an accumulator.

    It needs scikit-learn and matplotlib. ``from_estimator`` and ``plot`` are inherited.
    """

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        n_bins: int = 5,
        strategy: str = "uniform",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        ref_line: bool = True,
        **kwargs: Any,
    ) -> CalibrationDisplay:
        """Draw the curve of labels and probabilities; the arguments are scikit-learn's."""
        prob_true, prob_pred = calibration_curve(
            y_true, y_prob, n_bins=n_bins, strategy=strategy, pos_label=pos_label
        )
        positive = 1 if pos_label is None else pos_label
        display = cls(prob_true, prob_pred, y_prob, estimator_name=name, pos_label=positive)
        return display.plot(ax=ax, ref_line=ref_line, **kwargs)  # type: ignore[no-any-return]

    @classmethod
    def from_accumulator(
        cls,
        accumulator: Any,
        *,
        name: str | None = None,
        ax: Any = None,
        ref_line: bool = True,
        **kwargs: Any,
    ) -> CalibrationDisplay:
        """Draw the bins of a `calibrant.streaming.Reliability`; its bins are [a, b)."""
        bins = accumulator.result()
        used = bins.counts > 0
        display = cls(
            bins.frequencies[used], bins.mean_scores[used], None, estimator_name=name, pos_label=1
        )
        return display.plot(ax=ax, ref_line=ref_line, **kwargs)  # type: ignore[no-any-return]
