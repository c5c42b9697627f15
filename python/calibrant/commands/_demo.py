"""The example that ``calibrant report --demo`` reports on."""

from __future__ import annotations

import numpy as np

__all__ = ["TITLE", "overconfident"]

TITLE = "Demo: two heavy-tailed classes and an over-confident model"

#: The coupling of the coupled Gaussian: Student's t with 1/coupling degrees of freedom.
_COUPLING = 0.5
_MEANS = np.array([0.0, 2.0])
#: How widely each site's measurements really scatter; the model believes in less.
_SCALES = {"north": 0.8, "south": 1.0, "west": 1.3}
_BELIEVED_SCALE = np.sqrt(0.5)


def overconfident(n: int = 60_000) -> dict[str, np.ndarray]:
    """Return a table: label, probability of class 1, and the site of each row.

    Both classes are coupled Gaussians in one dimension, with tails like |x|^-3. The model knows
    their shape and means but takes the scatter for smaller than it is, so that it is too sure.
    """
    rng = np.random.default_rng(2017)
    label = rng.integers(0, 2, n).astype(np.int8)
    site = rng.integers(0, len(_SCALES), n)
    scatter = np.array(list(_SCALES.values()))[site]
    x = _MEANS[label] + scatter * rng.standard_t(1 / _COUPLING, n)
    exponent = -(1 / _COUPLING + 1) / 2
    density = [(1 + _COUPLING * ((x - mean) / _BELIEVED_SCALE) ** 2) ** exponent for mean in _MEANS]
    names = np.array(list(_SCALES))
    return {"label": label, "prob": density[1] / (density[0] + density[1]), "site": names[site]}
