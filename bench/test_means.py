"""Generalized means beside NumPy's lines.

NumPy is handed the probabilities of what happened; calibrant's risk profile also picks them by
label, and checks every value. NumPy's float32 sums are float32; calibrant's are exact for any type.
"""

import numpy as np

import calibrant
from bench.case import Case, Peer, benchmarks, binary, weighted, yardstick


def of_truth(y, p, *weight):
    """The probability given to what happened, which NumPy starts from."""
    return (np.where(y == 1, p, (1 - p.astype(np.float64)).astype(p.dtype)), *weight)


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


def one_mean(power, dtype, rtol):
    return Case(
        f"generalized_mean({power:g}), {dtype}",
        lambda n: of_truth(*binary(n, dtype)),
        lambda q: calibrant.generalized_mean(q, power),
        (Peer("NumPy", lambda q: (q**power).mean() ** (1 / power), rtol=rtol),),
        why="a term and its error are each cut into integers, some 20 operations where NumPy's "
        "square is one" + ("; NumPy computes and sums in float32" if dtype == "float32" else ""),
    )


test_means = benchmarks(
    Case("risk_profile", binary, calibrant.risk_profile,
         (Peer("NumPy", three_lines, prepare=of_truth),
          yardstick("np.sum of the scores", lambda y, p: p.sum())), answer=three_means),
    Case("risk_profile, float32", lambda n: binary(n, "float32"), calibrant.risk_profile,
         (Peer("NumPy", three_lines, prepare=of_truth, rtol=1e-3),), answer=three_means,
         why="NumPy computes and sums in float32, 16 numbers to a vector; here each is a double"),
    Case("risk_profile, weights", weighted,
         lambda y, p, w: calibrant.risk_profile(y, p, sample_weight=w),
         (Peer("NumPy", weighted_lines, prepare=of_truth),), answer=three_means,
         why="a weight times a term, itself two doubles, is summed with all its bits, and so are "
             "the weights of each class"),
    *(one_mean(power, "float64", 1e-9) for power in (2.0, -1.0, 0.5)),
    *(one_mean(power, "float32", 1e-3) for power in (2.0, -1.0, 0.5)),
)  # fmt: skip
