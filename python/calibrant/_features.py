"""What the functions of samples do to matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "require_symmetric", "triangular_factor"]

Floats = NDArray[Any]


def triangular_factor(rows: Floats) -> Floats:
    """Return R with R^T R = rows^T rows and no more rows than columns.

    By Cholesky from the products of columns, which are fast, if their eigenvalues lie within 10^6
    of each other and so keep 9 digits each or more; else from the rows themselves.
    """
    n, width = rows.shape
    if n <= width:
        return rows
    products = rows.T @ rows
    values = np.linalg.eigvalsh(products)
    if values[0] > 1e-6 * values[-1]:
        return np.linalg.cholesky(products).T
    step = max(8 * width, 1024)  # blocks: LAPACK copies what it decomposes
    factor: Floats = rows[:0]
    for begin in range(0, n, step):
        block = np.vstack([factor, rows[begin : begin + step]])
        factor = np.asarray(np.linalg.qr(block, mode="r"))
    return factor


def require_symmetric(matrix: Floats, name: str, tolerance: float) -> None:
    """Raise ValueError at the entry that differs most from the one across, if by too much."""
    gap = np.abs(matrix - matrix.T)
    if gap.max() > tolerance:
        i, j = map(int, np.unravel_index(int(gap.argmax()), gap.shape))
        raise ValueError(
            f"{name} must be symmetric, found {matrix[i, j]} at row {i}, column {j} "
            f"and {matrix[j, i]} across"
        )
