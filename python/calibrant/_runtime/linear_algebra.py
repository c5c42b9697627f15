"""What the functions of samples do to matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._runtime.interruptible import answering_signals
from calibrant._runtime.row_chunks import slices

__all__ = [
    "Floats", "product", "require_symmetric", "singular_values", "symmetrized",
    "triangular_factor",
]  # fmt: skip

Floats = NDArray[Any]


def triangular_factor(rows: Floats) -> Floats:
    """Return R with R^T R = rows^T rows and no more rows than columns.

    By Cholesky from the products of columns, which are fast, if their eigenvalues lie within 10^6
    of each other and so keep 9 digits each or more; else from the rows themselves.
    """
    n, width = rows.shape
    if n <= width:
        return rows
    products = product(rows.T, rows)
    values = answering_signals(np.linalg.eigvalsh, products, work=width**3)
    if values[0] > 1e-6 * values[-1]:
        return answering_signals(np.linalg.cholesky, products, work=width**3).T
    step = max(8 * width, 1024)  # blocks: LAPACK copies what it decomposes
    factor: Floats = rows[:0]
    for begin in range(0, n, step):
        block = np.vstack([factor, rows[begin : begin + step]])
        factor = answering_signals(_factor_of, block, work=2 * len(block) * width**2)
    return factor


def _factor_of(rows: Floats) -> Floats:
    return np.asarray(np.linalg.qr(rows, mode="r"))


def product(a: Floats, b: Floats) -> Floats:
    """Return a @ b."""
    found: Floats = answering_signals(np.matmul, a, b, work=2 * a.size * b.shape[1])
    return found


def singular_values(a: Floats) -> Floats:
    """Return those of a matrix, falling."""
    rows, columns = sorted(a.shape)
    return answering_signals(_singular_values, a, work=4 * rows**2 * columns)


def _singular_values(a: Floats) -> Floats:
    return np.asarray(np.linalg.svd(a, compute_uv=False))


def require_symmetric(matrix: Floats, name: str, tolerance: float) -> None:
    """Raise ValueError at the entry that differs most from the one across, if by too much."""
    largest, i, j = tolerance, -1, -1
    for rows in slices(matrix.shape):
        gap = np.abs(matrix[rows] - matrix[:, rows].T)
        if gap.max() > largest:
            largest = gap.max()
            i, j = map(int, np.unravel_index(int(gap.argmax()), gap.shape))
            i += rows.start
    if i >= 0:
        raise ValueError(
            f"{name} must be symmetric, found {matrix[i, j]} at row {i}, column {j} "
            f"and {matrix[j, i]} across"
        )


def symmetrized(matrix: Floats) -> Floats:
    """Return the mean of a matrix and its transpose."""
    found = np.empty_like(matrix)
    for rows in slices(matrix.shape):
        found[rows] = 0.5 * matrix[rows] + 0.5 * matrix[:, rows].T
    return found
