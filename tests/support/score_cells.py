"""Tables of few rows that keep their scores by whole cells, as those of many rows do."""

from __future__ import annotations

import numpy as np

#: Rows whose scores a table keeps apart.
MOST_LISTED = 4096


def of_whole_cells(total, p=()):
    """Add so many rows without a probability, which count and change nothing else."""
    width = np.shape(p)[1:]
    gaps = np.full((MOST_LISTED, *width), np.nan)
    total.update(np.zeros(MOST_LISTED), gaps, nan_policy="omit")
    return total
