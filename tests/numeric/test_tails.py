"""The laws of test statistics against their series in 60 digits."""

from __future__ import annotations

import functools
import math

import mpmath as mp
import numpy as np
import pytest

import calibrant
from calibrant import (
    _core,
    brownian_range_cdf,
    brownian_range_log_sf,
    brownian_range_sf,
    brownian_sup_cdf,
    brownian_sup_log_sf,
    brownian_sup_sf,
    set_num_threads,
)
from law_reference import BORDERS, folded_normal, log_of, normal, points, span, sup

pytestmark = [pytest.mark.kernels, pytest.mark.usefixtures("runtime_restored")]

DIGITS = 60
BOUND = 1e-15  # promised; measured: 2.3e-16


LAWS = {
    "sup": (sup, brownian_sup_cdf, brownian_sup_sf, brownian_sup_log_sf),
    "range": (span, brownian_range_cdf, brownian_range_sf, brownian_range_log_sf),
    "folded normal": (folded_normal, None, _core.normal_two_sided, _core.normal_log_two_sided),
    "normal": (normal, None, _core.normal_sf, _core.normal_log_sf),
}
each_law = pytest.mark.parametrize("law", LAWS)


@functools.cache
def truth(law):
    with mp.workdps(DIGITS):
        pairs = [LAWS[law][0](mp.mpf(float(x))) for x in points(law)]
        return pairs, [log_of(sf, cdf) for cdf, sf in pairs]


def errors(found, true):
    """Relative where the true value is a normal double; below, none but that of its grid."""
    least = mp.mpf(2) ** -1022
    return [
        float(abs(a - b) / max(abs(b), least)) for a, b in zip(found.tolist(), true, strict=True)
    ]


@each_law
def test_against_sixty_digits(law):
    _, cdf, sf, log_sf = LAWS[law]
    x = points(law)
    assert len(x) >= 2000
    pairs, logs = truth(law)
    with mp.workdps(DIGITS):
        if cdf is not None:
            assert max(errors(cdf(x), [pair[0] for pair in pairs])) < BOUND
        assert max(errors(sf(x), [pair[1] for pair in pairs])) < BOUND
        assert max(errors(log_sf(x), logs)) < BOUND
    assert log_sf(x).min() < -1.1e6


@each_law
def test_monotone_and_within_bounds(law):
    _, cdf, sf, log_sf = LAWS[law]
    x = points(law)
    assert (np.diff(sf(x)) <= 0).all()
    assert (np.diff(log_sf(x)) <= 0).all()
    assert ((sf(x) >= 0) & (sf(x) <= 1)).all()
    assert (log_sf(x) <= 0).all()
    if cdf is not None:
        assert (np.diff(cdf(x)) >= 0).all()
        assert ((cdf(x) >= 0) & (cdf(x) <= 1)).all()


@each_law
def test_monotone_across_the_borders(law):
    """Sixty neighbouring doubles on either side: the two series meet."""
    _, _, sf, log_sf = LAWS[law]
    for border in BORDERS:
        x = border + np.arange(-60, 61) * math.ulp(border) / 2
        for function in (sf, log_sf):
            values = function(x)
            assert np.diff(values).max() <= math.ulp(abs(values[0]))  # each within an ulp


@each_law
def test_the_ends(law):
    _, cdf, sf, log_sf = LAWS[law]
    end = np.array([math.inf])
    assert sf(end)[0] == 0.0
    assert log_sf(end)[0] == -math.inf
    assert log_sf(np.array([2.0**512]))[0] == -(2.0**1023)
    assert log_sf(np.array([2.0**513]))[0] == -math.inf
    if cdf is None:
        return
    for x in (0.0, -0.0, -1.0, -math.inf, 5e-324):
        assert (cdf(x), sf(x), log_sf(x)) == (0.0, 1.0, 0.0)
        assert not math.copysign(1, log_sf(x)) < 0
    assert cdf(math.inf) == 1.0


def test_the_normal_law_is_symmetric():
    assert _core.normal_sf([0.0])[0] == 0.5
    assert _core.normal_sf([-math.inf, math.inf]).tolist() == [1.0, 0.0]
    assert _core.normal_two_sided([0.0, -3.0])[0] == 1.0
    assert _core.normal_two_sided([-3.0])[0] == _core.normal_two_sided([3.0])[0]
    assert _core.normal_log_sf([-40.0])[0] == 0.0 - _core.normal_sf([40.0])[0]


# Values that others have computed: to 80 digits, at the exact decimal x

VALUES = {
    0.5: (0.00915699028976075575, 0.990843009710239244, 8.777772248109386e-8, 0.999999912222277519),
    1: (0.370777429799523905, 0.629222570200476095, 0.0633645879204505703, 0.936635412079549430),
    1.5: (0.732784785616939021, 0.267215214383060979, 0.487059245769751753, 0.512940754230248247),
    2: (0.908999476153633751, 0.0910005238463662487, 0.818505660605812687, 0.181494339394187313),
    3: (0.994600407873479622, 0.00539959212652037766, 0.989200831532361562, 0.0107991684676384383),
    5: (0.999998853393712483, 1.14660628751677565e-6, 0.999997706787424966, 2.29321257503355117e-6),
    10: (1.0, 3.04794120966421043e-23, 1.0, 6.09588241932842085e-23),
    20: (1.0, 1.10144964744249348e-88, 1.0, 2.20289929488498696e-88),
    30: (1.0, 1.96268557085927482e-197, 1.0, 3.92537114171854965e-197),
    37: (1.0, 2.29022848900983073e-299, 1.0, 4.58045697801966146e-299),
    0.3: (1.41806198883203250e-6, 0.999998581938011168, 1.38016245731991049e-22, 1.0),
}  # fmt: skip
LOGS = {
    10: -51.84499078939257996, 30: -452.93494959522330649, 40: -803.22214765263389755,
    100: -5004.137914333085198, 1000: -500006.44040045106442,
}  # fmt: skip
TWO_SIDED = {
    1: 0.31731050786291410283, 1.96: 0.049995790296440872, 5: 5.7330314375838782335e-7,
    10: 1.5239706048321052132e-23, 37: 1.1451142445049153645e-299,
}  # fmt: skip


def close(value):
    return pytest.approx(value, rel=BOUND, abs=0)


def test_reference_values():
    for x, values in VALUES.items():
        found = brownian_sup_cdf(x), brownian_sup_sf(x), brownian_range_cdf(x), brownian_range_sf(x)
        assert found == tuple(map(close, values))
    for x, value in LOGS.items():
        assert brownian_sup_log_sf(x) == close(value)
        assert brownian_range_log_sf(x) == close(value + math.log(2))
    for x, value in TWO_SIDED.items():
        assert _core.normal_two_sided([x])[0] == close(value)
        assert _core.normal_sf([x])[0] == close(value / 2)


@pytest.mark.parametrize(
    ("p", "of_sup", "of_range"),
    [
        (0.05, 2.2414027273321416, 2.4976721610486501),
        (0.01, 2.8070337683438017, 3.0233410818139906),
        (1e-10, 6.5709358472930729, 6.6733670896446307),
        (1e-100, 21.338377334088566, 21.370765578113552),
        (1e-300, 37.084470054777005, 37.103142835558854),
        (0.5, 1.1489732581496532, 1.5145378558415648),
    ],
)
def test_quantiles(p, of_sup, of_range):
    # A quantile rounded to a double has p only to x^2 half-ulps.
    for x, sf in ((of_sup, brownian_sup_sf), (of_range, brownian_range_sf)):
        assert sf(x) == pytest.approx(p, rel=(x * x + 4) * 2.0**-52, abs=0)


def test_means():
    """The integral of the survival function: sqrt(pi/2), and 2 sqrt(2/pi)."""
    x = (np.arange(120_000) + 0.5) * 1e-4  # midpoints
    assert brownian_sup_sf(x).sum() * 1e-4 == pytest.approx(math.sqrt(math.pi / 2), rel=1e-9)
    assert brownian_range_sf(x).sum() * 1e-4 == pytest.approx(math.sqrt(8 / math.pi), rel=1e-9)


def test_a_simulated_motion():
    """A million steps would be needed for the third digit: walks of 2000 steps lie lower."""
    rng = np.random.default_rng(1)
    steps = rng.choice([-1.0, 1.0], (4000, 2000)) / math.sqrt(2000)
    walks = np.concatenate([np.zeros((4000, 1)), np.cumsum(steps, axis=1)], axis=1)
    # 1.95 / sqrt(4000) is exceeded once in a thousand; the discrete walk is short by about
    # 0.6 / sqrt(2000) at each of its ends, which moves the cdf by up to 0.015 and 0.03.
    for statistic, cdf, short in (
        (np.abs(walks).max(axis=1), brownian_sup_cdf, 0.015),
        (np.ptp(walks, axis=1), brownian_range_cdf, 0.03),
    ):
        gap = np.sort(cdf(statistic)) - (np.arange(4000) + 0.5) / 4000
        assert np.abs(gap).max() < 1.95 / math.sqrt(4000) + short


# Chi-square


CHI_SQUARE = {
    (10, 200): 1.613930533697730479e-37, (10, 1000): 1.8702907209159496958e-208,
    (100, 1000): 2.3060767380353980174e-148, (8, 1400): 5.660673748047452201e-297,
    (1, 1370): 6.9429373646432677358e-300,
}  # fmt: skip


def test_chi_square_reference_values():
    for (k, x), value in CHI_SQUARE.items():
        assert _core.chi_square_sf(x, k) == close(value)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 9, 10, 99, 100, 1001, 5000])
def test_chi_square_against_sixty_digits(k):
    x = [*np.geomspace(1e-12, 1, 12), *(k * np.geomspace(0.1, 30, 40)), 1e5, 2e6]
    with mp.workdps(DIGITS):
        for value in map(float, x):
            half = mp.mpf(value) / 2
            true = mp.gammainc(mp.mpf(k) / 2, half, mp.inf, regularized=True)
            if true > mp.mpf(2) ** -1022:
                assert abs(_core.chi_square_sf(value, k) - true) < BOUND * true
            else:
                assert _core.chi_square_sf(value, k) <= 2.0**-1022
            found, log_true = _core.chi_square_log_sf(value, k), mp.log(true)
            # Near a probability of 1 its logarithm is as good as the probability.
            assert abs(found - log_true) < BOUND * max(abs(log_true), 1)


def test_chi_square_ends():
    for k in (1, 2, 7):
        assert [_core.chi_square_sf(x, k) for x in (-1.0, 0.0, 5e-324, math.inf)] == [1, 1, 1, 0]
        assert _core.chi_square_log_sf(-1.0, k) == 0.0
        assert _core.chi_square_log_sf(math.inf, k) == -math.inf
        assert _core.chi_square_log_sf(1e200, k) == -0.5e200
        assert math.isnan(_core.chi_square_sf(math.nan, k))
        assert _core.chi_square_sf(1e15, k) == 0.0
    assert _core.chi_square_log_sf(1e15, 2) == -0.5e15


# Arrays


ALL = [law[i] for law in list(LAWS.values())[:2] for i in (1, 2, 3)]


@pytest.mark.parametrize("function", ALL, ids=lambda function: function.__name__)
def test_scalars_and_arrays(function):
    x = np.linspace(0.1, 40, 24).reshape(2, 3, 4)
    values = function(x)
    assert values.shape == x.shape
    assert values.dtype == np.float64
    assert values[1, 2, 3] == function(float(x[1, 2, 3]))
    assert isinstance(function(1), float)
    assert isinstance(function(np.float32(1)), float)
    assert function(np.array(1.5)).shape == ()
    assert function([1, 2]).tolist() == function(np.array([1.0, 2.0])).tolist()
    assert function(x[:, ::2, ::-1]).tolist() == values[:, ::2, ::-1].tolist()
    assert function(x.astype("f4")).tolist() == function(x.astype("f4").astype("f8")).tolist()
    assert function([]).shape == (0,)
    assert getattr(calibrant, function.__name__) is function


def test_any_number_of_threads():
    x = np.random.default_rng(2).uniform(0.01, 50, 20_000)
    found = set()
    for threads in (1, 2, 7):
        set_num_threads(threads)
        found.add(b"".join(function(x).tobytes() for function in ALL))
    assert len(found) == 1
    one_by_one = [brownian_range_sf(value) for value in x[:100].tolist()]
    assert brownian_range_sf(x)[:100].tolist() == one_by_one


@pytest.mark.parametrize("function", ALL, ids=lambda function: function.__name__)
def test_what_is_rejected(function):
    spoiled = np.ones(5000)
    spoiled[[1234, 1235, 4000]] = math.nan
    with pytest.raises(ValueError, match=r"x has a missing value \(NaN\) at row 1234$"):
        function(spoiled)
    with pytest.raises(ValueError, match=r"x has a missing value \(NaN\) at row 0$"):
        function(math.nan)
    with pytest.raises(TypeError, match="x must hold real numbers, got dtype <U1"):
        function(["a"])
    with pytest.raises(TypeError, match="x must hold real numbers, got dtype complex128"):
        function(np.array([1j]))
    with pytest.raises(TypeError, match="x is a masked array"):
        function(np.ma.masked_equal([1.0, 2.0], 2.0))
    with pytest.raises(TypeError, match="x must be an array of real numbers, got None"):
        function(None)
    with pytest.raises(TypeError, match="x must be a rectangular list"):
        function([[1.0], [1.0, 2.0]])
