"""A calibration error without bins: residuals smoothed along the score."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from calibrant import _core
from calibrant._input.labels import event_rows
from calibrant._input.validation import (
    MultiClass,
    NanPolicy,
    check_nan_policy,
    checked_choice,
    checked_number,
)

__all__ = ["smooth_calibration_error"]


def __dir__() -> list[str]:
    return __all__


Scale = Literal["unit", "logit"]


def smooth_calibration_error(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    scale: Scale = "unit",
    bandwidth: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object | None = None,
    labels: ArrayLike | None = None,
    multi_class: MultiClass = "auto",
    nan_policy: NanPolicy = "raise",
) -> float:
    """Calibration error without bins: residuals smoothed by a kernel, then averaged.

    With a Gaussian kernel K of bandwidth sigma that is reflected at both ends, the error at sigma
    is the integral over t of \\|mean over the rows of (y - p) K(p, t)\\|. It never rises with
    sigma, and by default it is taken where it equals sigma: one number, free of a choice of bins,
    that changes little when scores do [1]_.

    Parameters
    ----------
    y_true : array of shape (n,)
        Class codes, 0 to k - 1.
    y_proba : array of shape (n,) or (n, k), values in [0, 1]
        With k columns, of the largest probability of each row, as for `top_label_ece`.
    scale : {"unit", "logit"}
        Smooth along p, or along logit(p), cut to [-8, 8], with the bandwidth 4 sigma: the same
        at p = 1/2, finer where p is near 0 or 1.
    bandwidth : float, optional
        sigma, at most 1 and at least 2**-10, or 2**-8 on the logit scale. An error that is
        smaller than the least bandwidth is taken there.
    sample_weight, pos_label, labels, multi_class, nan_policy
        As for `calibrant.risk_profile`.

    References
    ----------
    .. [1] J. Błasiok, P. Nakkiran, "Smooth ECE: principled reliability diagrams via kernel
       smoothing", ICLR 2024, arXiv:2309.12236.

    Examples
    --------
    >>> y_true, y_proba = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> round(smooth_calibration_error(y_true, y_proba), 6)
    0.112277
    >>> round(smooth_calibration_error(y_true, y_proba, bandwidth=0.1), 6)
    0.122119
    """
    checked_choice(scale, "scale", ("unit", "logit"))
    omit = check_nan_policy(nan_policy)
    if bandwidth is not None:
        bandwidth = checked_number(bandwidth, "bandwidth")
    codes, y_proba = event_rows(
        y_true, y_proba, labels=labels, pos_label=pos_label, multi_class=multi_class
    )
    return _core.smooth_calibration_error(
        codes, y_proba, sample_weight, omit, scale == "logit", bandwidth
    )
