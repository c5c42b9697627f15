"""Generalized means beside NumPy's lines.

NumPy is handed the probabilities of what happened; calibrant's risk profile also picks them by
label, and checks every value. NumPy's float32 sums are float32; calibrant's are exact for any type.
"""

from __future__ import annotations

import numpy as np

import calibrant
from bench.predictions import binary
from bench.task import TO_1E8, Peer, Task


def with_truth(n, dtype="float64"):
    """Labels, scores, and the probability given to what happened, which NumPy starts from."""
    y, p = binary(n, dtype)
    return y, p, np.where(y == 1, p, (1 - p.astype(np.float64)).astype(dtype))


def weighted(n):
    return (*with_truth(n), np.random.default_rng(7).random(n))


def three_lines(q):
    return q.mean(), np.exp(np.log(q).mean()), (q ** (-2 / 3)).mean() ** -1.5


def weighted_lines(q, w):
    return (
        np.average(q, weights=w),
        np.exp(np.average(np.log(q), weights=w)),
        np.average(q ** (-2 / 3), weights=w) ** -1.5,
    )


def three_means(profile):
    return profile.decisiveness, profile.accuracy, profile.robustness


def of_truth(n, dtype="float64"):
    return (with_truth(n, dtype)[2],)


def one_mean(power, dtype, rtol):
    return Task(
        f"generalized_mean({power:g}), {dtype}",
        lambda n: of_truth(n, dtype),
        lambda q: calibrant.generalized_mean(q, power),
        (Peer("NumPy", lambda q: (q**power).mean() ** (1 / power), rtol=rtol),),
    )


TASKS = (
    Task(
        "risk_profile",
        lambda n: with_truth(n)[:2],
        calibrant.risk_profile,
        (
            Peer("NumPy", three_lines, prepare=lambda y, p: (np.where(y == 1, p, 1 - p),)),
            Peer("np.sum of the scores", lambda y, p: p.sum(), yardstick=True),  # noqa: ARG005
        ),
        answer=three_means,
        sizes=TO_1E8,
    ),
    Task(
        "risk_profile, float32",
        lambda n: with_truth(n, "float32"),
        lambda y, p, q: calibrant.risk_profile(y, p),  # noqa: ARG005
        (Peer("NumPy", lambda y, p, q: three_lines(q), rtol=1e-3),),  # noqa: ARG005
        answer=three_means,
    ),
    Task(
        "risk_profile, weights",
        weighted,
        lambda y, p, q, w: calibrant.risk_profile(y, p, sample_weight=w),  # noqa: ARG005
        (Peer("NumPy", lambda y, p, q, w: weighted_lines(q, w)),),  # noqa: ARG005
        answer=three_means,
    ),
    *(one_mean(power, "float64", 1e-9) for power in (2.0, -1.0, 0.5)),
    *(one_mean(power, "float32", 1e-3) for power in (2.0, -1.0, 0.5)),
)
