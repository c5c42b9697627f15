"""Ranks of the truth among the draws of a posterior, and what follows from them.

If a posterior is calibrated, the rank of the truth among M of its draws is uniform on the M + 1
values 0 to M, exactly and for every M. Every function here gives such ranks, and
`rank_calibration` judges them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibrant import _core
from calibrant._input.columns import read_numbers, shape_of
from calibrant._input.draws import arranged, checked_index, checked_seed, renamed
from calibrant._input.validation import NanPolicy, check_nan_policy, checked_callable
from calibrant._runtime.row_chunks import slices
from calibrant.ranks._calibration import RankCalibration, rank_calibration
from calibrant.ranks._pit import pit_values, rank_pit_values

__all__ = [
    "RankCalibration",
    "break_ties",
    "draw_counts",
    "energy_ranks",
    "pit_values",
    "rank_calibration",
    "rank_pit_values",
    "sbc_ranks",
    "tarp_ranks",
    "tarp_references",
]


def __dir__() -> list[str]:
    return __all__


#: Values that a log density is given at a time.
_BATCH_VALUES = 2**20

Ranks = NDArray[np.int64]
#: Given K values for each of some pairs, shape (n, K) or (n, K, D), and the slice of these pairs:
#: the log densities, shape (n, K).
LogDensity = Callable[[NDArray[Any], slice], ArrayLike]


def sbc_ranks(
    draws: ArrayLike,
    truth: ArrayLike,
    *,
    axis: int = 1,
    seed: int = 0,
    first_pair: int = 0,
    nan_policy: NanPolicy = "raise",
) -> Ranks:
    r"""Rank of each truth among its draws, for simulation-based calibration.

    .. math:: r = \#\{k : s_k < \theta\} + U

    where U is drawn uniformly from 0, ..., #{k : s_k = θ}. So ties keep the ranks exactly uniform
    if the posterior is calibrated; a strict comparison would skew them low. Each value is read
    once, in place.

    Parameters
    ----------
    draws : array of shape (n, m) or (n, m, d)
        m draws for each of n pairs, in d dimensions. Memory-mapped arrays are read as they are,
        and so are columns of lists. Draws of a Markov chain must be thinned to independence.
    truth : array of shape (n,) or (n, d)
        The shape of draws without the axis of draws.
    axis : int
        Which axis of `draws` the draws lie along: 0 for (m, n) or (m, n, d), 2 for (n, d, m).
    seed : int, 0 <= seed < 2^64
        Of the ties. The number that breaks one is a function of the seed, the pair and the
        dimension alone, on every machine and for any number of threads.
    first_pair : int
        The index of the first pair in the whole of the data, if this is a batch of it: batches
        then give the ranks that one call would.
    nan_policy : {"raise", "omit"}
        Whether to reject missing values or drop the pairs that have one in any dimension, so that
        there are fewer ranks than pairs.

    Returns
    -------
    array of int64, shape (n,) or (n, d)
        Values 0 to m.

    Raises
    ------
    ValueError
        If shapes do not fit or a value is missing; the message names pair, draw and dimension.

    Examples
    --------
    >>> sbc_ranks([[1.0, 2.0, 3.0, 4.0]], [2.5])
    array([2])
    >>> ranks = sbc_ranks([[1, 2, 2, 3]] * 6000, [2] * 6000)
    >>> [int(count) for count in np.bincount(ranks)]
    [0, 2022, 2036, 1942]
    """
    omit = check_nan_policy(nan_policy)
    found = _core.ranks(
        arranged(draws, axis, truth=truth),
        truth,
        None,
        checked_seed(seed),
        checked_index(first_pair),
        omit,
    )
    return _kept(found) if omit else found


def _kept(ranks: Ranks) -> Ranks:
    """Drop the pairs without ranks, which the core marks by -1."""
    kept: Ranks = ranks[ranks.reshape(len(ranks), -1)[:, 0] >= 0] if len(ranks) else ranks
    return kept


def draw_counts(
    draws: ArrayLike, truth: ArrayLike, *, axis: int = 1, first_pair: int = 0
) -> tuple[Ranks, Ranks]:
    """How many draws lie below their truth, and how many equal it.

    For draws that come in parts: the counts of the parts add up to those of all, and `break_ties`
    makes ranks of them.

    Parameters
    ----------
    draws, truth, axis
        As for `sbc_ranks`; a missing value is rejected.
    first_pair : int
        For messages only.

    Returns
    -------
    less, equal : arrays of int64, shape (n,) or (n, d)

    Examples
    --------
    >>> truth = [2.5, 2.0]
    >>> less, equal = draw_counts([[1.0, 2.0], [1.0, 3.0]], truth)
    >>> more_less, more_equal = draw_counts([[3.0, 4.0], [2.0, 2.0]], truth)
    >>> less + more_less, equal + more_equal
    (array([2, 1]), array([0, 2]))
    >>> break_ties(less + more_less, equal + more_equal)
    array([2, 3])
    >>> sbc_ranks([[1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 2.0]], truth)
    array([2, 3])
    """
    less, equal = _core.draw_counts(
        arranged(draws, axis, truth=truth), truth, checked_index(first_pair)
    )
    return less, equal


def break_ties(less: ArrayLike, equal: ArrayLike, *, seed: int = 0, first_pair: int = 0) -> Ranks:
    """Ranks from the counts of draws below the truth and equal to it.

    Uniform on less, ..., less + equal, and the same numbers as those of `sbc_ranks`.

    Parameters
    ----------
    less, equal : arrays of whole numbers, not negative, shape (n,) or (n, d)
        As `draw_counts` gives them, added up over all draws.
    seed, first_pair
        As for `sbc_ranks`.

    Returns
    -------
    array of int64, of the same shape

    Examples
    --------
    >>> draws, truth = [[1, 2, 2, 3]], [2]
    >>> less, equal = draw_counts(draws, truth)
    >>> less, equal
    (array([1]), array([2]))
    >>> break_ties(less, equal) == sbc_ranks(draws, truth)  # 1, 2 or 3
    array([ True])
    """
    below, same = _counts(less, "less"), _counts(equal, "equal")
    if below.shape != same.shape:
        raise ValueError(f"equal must have the shape of less, {below.shape}, got {same.shape}")
    seed, first = checked_seed(seed), checked_index(first_pair)
    ranks = np.empty((len(below), math.prod(below.shape[1:])), np.int64)
    for pairs in slices(ranks.shape):
        parts = (
            _in_range(counts[pairs], name, pairs.start)
            for counts, name in ((below, "less"), (same, "equal"))
        )
        least, ties = (part.reshape(len(part), -1) for part in parts)
        too_many = np.argwhere(least + ties > 2**31 - 2)
        if too_many.size:
            raise ValueError(
                "less + equal must be below 2^31 - 1, found more at pair "
                f"{pairs.start + too_many[0][0]}"
            )
        ranks[pairs] = _core.break_ties(least, ties, seed, first + pairs.start)
    return ranks.reshape(below.shape)


def _counts(counts: ArrayLike, name: str) -> NDArray[Any]:
    found = read_numbers(counts, name, "whole numbers")
    if found.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold whole numbers, got dtype {found.dtype}")
    if found.ndim not in (1, 2):
        raise ValueError(f"{name} must have shape (n,) or (n, d), got shape {found.shape}")
    return found


def _in_range(counts: NDArray[Any], name: str, first: int) -> Ranks:
    bad = np.argwhere((counts < 0) | (counts > 2**31 - 2))
    if bad.size:
        value, pair = counts[tuple(bad[0])], first + bad[0][0]
        raise ValueError(f"{name} must lie in [0, 2^31 - 2], found {value} at pair {pair}")
    return np.ascontiguousarray(counts, np.int64)


def energy_ranks(
    draw_energy: ArrayLike,
    true_energy: ArrayLike,
    *,
    log_density: LogDensity | None = None,
    axis: int = 1,
    seed: int = 0,
    first_pair: int = 0,
    nan_policy: NanPolicy = "raise",
) -> Ranks:
    r"""Rank of the truth by its energy, -log q(θ|x), for calibration of all dimensions at once.

    .. math:: r = \#\{k : e_k < e\}, \qquad e_k = -\log q(s_k | x), \quad e = -\log q(\theta | x)

    with ties broken as by `sbc_ranks`. **0 is the most probable**: no draw has a higher density
    than the truth. The truth lies in the region of highest density that holds a share a of the
    draws if r / m < a, so the ranks are the expected coverage of these regions. An over-confident
    posterior has too many large ranks.

    Only the order within a pair matters: densities need not be normalised.

    Parameters
    ----------
    draw_energy : array of shape (n, m)
        -log q of each draw. With `log_density`: the draws, of shape (n, m) or (n, m, d).
    true_energy : array of shape (n,)
        -log q of each truth. With `log_density`: the truths, of shape (n,) or (n, d).
    log_density : callable, optional
        ``log_density(values, pairs)`` returns log q(values | x), of shape (n, k), for `values` of
        shape (n, k) or (n, k, d): k values for each of the pairs in the slice `pairs`. It is
        called for some pairs at a time, with their draws and with their truths (k = 1).
    axis, seed, first_pair, nan_policy
        As for `sbc_ranks`. `pairs` counts from 0 all the same.

    Returns
    -------
    array of int64, shape (n,)

    Examples
    --------
    >>> energy_ranks([[0.5, 1.5, 2.5]], [2.0])
    array([2])

    A normal posterior around a mean of its own for each pair:

    >>> mean = np.array([[0.0], [1.0]])
    >>> def log_normal(values, pairs):
    ...     return -0.5 * (values - mean[pairs]) ** 2
    >>> energy_ranks([[0.1, -2.0, 0.9], [4.0, -3.0, 0.4]], [1.0, 1.5], log_density=log_normal)
    array([2, 0])
    """
    options = {"seed": seed, "nan_policy": nan_policy}
    checked_callable(log_density, "log_density")
    names = ("draw_energy", true_energy, "true_energy")
    if log_density is None:
        energies = arranged(draw_energy, axis, *names)
        if len(shape_of(energies) or (0, 0)) != 2:
            n_axes = len(shape_of(energies) or ())
            raise ValueError(
                f"draw_energy must have shape (n, m), got {n_axes} axes; "
                "pass log_density to have energies computed from draws"
            )
        try:
            return sbc_ranks(energies, true_energy, first_pair=first_pair, **options)  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            raise renamed(error, draws="draw_energy", truth="true_energy") from None
    draws = np.asarray(arranged(draw_energy, axis, *names))
    truth = read_numbers(true_energy, "true_energy")
    if truth.shape != (draws.shape[0], *draws.shape[2:]):
        expected = (draws.shape[0], *draws.shape[2:])
        raise ValueError(
            f"true_energy must have shape {expected}, as there are draws, got {truth.shape}"
        )
    step = max(1, _BATCH_VALUES // max(1, draws[:1].size))
    parts = []
    for begin in range(0, len(draws), step):
        pairs = slice(begin, min(begin + step, len(draws)))
        energies = _energies(log_density, draws[pairs], pairs)
        energy = _energies(log_density, truth[pairs, None], pairs)[:, 0]
        parts.append(sbc_ranks(energies, energy, first_pair=first_pair + begin, **options))  # type: ignore[arg-type]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _energies(log_density: LogDensity, values: NDArray[Any], pairs: slice) -> NDArray[Any]:
    found = np.asarray(log_density(values, pairs))
    if found.shape != values.shape[:2] or found.dtype.kind != "f":
        raise ValueError(
            f"log_density must return numbers of shape {values.shape[:2]} for values of shape "
            f"{values.shape}, got shape {found.shape} and dtype {found.dtype}"
        )
    return -found


def tarp_ranks(
    draws: ArrayLike,
    truth: ArrayLike,
    references: ArrayLike | None = None,
    *,
    axis: int = 1,
    seed: int = 0,
    first_pair: int = 0,
    nan_policy: NanPolicy = "raise",
) -> Ranks:
    r"""Rank of the truth by its distance from a reference point (TARP, Lemos et al. 2023).

    .. math:: r = \#\{k : \|s_k - \rho\|^2 < \|\theta - \rho\|^2\}

    with ties broken as by `sbc_ranks`. The posterior is exact if and only if the ranks are uniform
    for every choice of references that may depend on x.

    .. warning:: References that do not depend on x, as the default ones, cannot tell the
       posterior from the prior: draws of the prior pass. Give references that depend on x, such as
       a point estimate from x plus noise, to see that.

    Parameters
    ----------
    draws : array of shape (n, m) or (n, m, d)
        A draw that is infinite is farther away than any truth.
    truth : array of shape (n,) or (n, d), finite
        Distances are Euclidean: scale dimensions of different units first.
    references : array of the shape of truth, optional
        One point for each pair. By default `tarp_references` of the least and the largest truth
        in each dimension. For batches to agree with one call, pass them.
    axis, seed, first_pair, nan_policy
        As for `sbc_ranks`.

    Returns
    -------
    array of int64, shape (n,)

    Examples
    --------
    >>> draws = [[[0.0, 1.0], [2.0, 2.0], [5.0, 0.0]]]
    >>> tarp_ranks(draws, [[3.0, 0.0]], [[0.0, 0.0]])
    array([2])
    """
    omit = check_nan_policy(nan_policy)
    truths = read_numbers(truth, "truth")
    values = arranged(draws, axis, truth=truths)
    seed, first = checked_seed(seed), checked_index(first_pair)
    if references is None:
        references = _default_references(truths, seed, first)
    found = _core.ranks(values, truths, references, seed, first, omit)
    return _kept(found) if omit else found


def _default_references(truth: NDArray[Any], seed: int, first: int) -> NDArray[np.float64]:
    wide = truth.reshape(len(truth), -1) if len(truth) else np.zeros((0, truth[:1].size or 1))
    corners = []
    for pairs in slices(wide.shape):
        complete = wide[pairs][~np.isnan(wide[pairs]).any(axis=1)]
        corners += [complete.min(axis=0), complete.max(axis=0)] if len(complete) else []
    if not corners:
        return np.zeros(truth.shape)  # of no use: the core has no pair, or rejects the truths
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    made = tarp_references(low, high, len(truth), seed=seed, first_pair=first)
    return made.reshape(truth.shape)


def tarp_references(
    low: ArrayLike, high: ArrayLike, n: int, *, seed: int = 0, first_pair: int = 0
) -> NDArray[np.float64]:
    """Random reference points for `tarp_ranks`, uniform in a box.

    Parameters
    ----------
    low, high : array of shape (d,), finite
        The corners of the box.
    n : int
        How many pairs there are.
    seed, first_pair
        As for `sbc_ranks`: a point is a function of the seed, the pair and the dimension.

    Returns
    -------
    array of float64, shape (n, d)

    Examples
    --------
    >>> tarp_references([0.0, 10.0], [1.0, 20.0], 2).round(3)
    array([[ 0.343, 15.955],
           [ 0.419, 16.336]])
    >>> tarp_references([0.0, 10.0], [1.0, 20.0], 1, first_pair=1).round(3)
    array([[ 0.419, 16.336]])
    """
    least, most = (
        np.atleast_1d(read_numbers(bound, name).astype(np.float64))
        for name, bound in (("low", low), ("high", high))
    )
    if least.ndim != 1 or least.shape != most.shape:
        raise ValueError(
            f"low and high must have one shape (d,), got {least.shape} and {most.shape}"
        )
    for name, bound in (("low", least), ("high", most)):
        bad = np.flatnonzero(~np.isfinite(bound))
        if bad.size:
            raise ValueError(f"{name} must be finite, found {bound[bad[0]]} at index {bad[0]}")
    crossed = np.flatnonzero(least > most)
    if crossed.size:
        d = crossed[0]
        raise ValueError(f"low must not be above high, found {least[d]} > {most[d]} at index {d}")
    points = _core.uniforms(
        checked_index(n, "n"),
        len(least),
        "reference",
        checked_seed(seed),
        checked_index(first_pair),
    )
    for pairs in slices(points.shape):
        parts = points[pairs]
        # Not low + part * (high - low), which can overflow.
        points[pairs] = least * (1.0 - parts) + most * parts
    return points
