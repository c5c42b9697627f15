"""`assess` beside one sort of the scores."""

import numpy as np

import calibrant
from bench.case import Case, benchmarks, binary, yardstick

SORT = yardstick("np.sort of the scores", lambda y, p: np.sort(p))


def is_calibrated(data, found):
    """The labels were drawn with these probabilities: 45 degrees, but for chance."""
    np.testing.assert_allclose(found.angle, 45.0, rtol=0, atol=4 * found.tolerance)
    np.testing.assert_equal(found.n, len(data[0]))


def by_source(source):
    name = "assess, 100 bins" if source == "bins" else f"assess, {source}"
    options = {} if source == "bins" else {"source": source}
    most = 10**8 if source == "bins" else 10**6
    call = lambda y, p: calibrant.assess(y, p, n_bins=100, **options)  # noqa: E731
    return Case(name, binary, call, (SORT,), check=is_calibrated, most=most)


test_assessment = benchmarks(*map(by_source, ("bins", "isotonic", "knn", "kernel")))
