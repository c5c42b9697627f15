"""Ranks from their definition: one comparison after the other, with whole numbers and fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

TIE, PIT, REFERENCE = 0, 1, 2


def philox(counter, key):
    """Philox4x32-10, word by word as its authors write it."""
    words, keys = list(counter), [key % 2**32, key >> 32]
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * words[0], 2**32)
        high1, low1 = divmod(0xCD9E8D57 * words[2], 2**32)
        words = [high1 ^ words[1] ^ keys[0], low1, high0 ^ words[3] ^ keys[1], low0]
        keys = [(keys[0] + 0x9E3779B9) % 2**32, (keys[1] + 0xBB67AE85) % 2**32]
    return words


def words_at(seed, pair, dimension, purpose):
    """All 32-bit words of a place."""
    for index in range(2**24):
        yield from philox([pair % 2**32, pair >> 32, dimension, purpose << 24 | index], seed)


def uniform_below(bound, seed, pair, dimension):
    """The words are cut into bound equal shares; what is left at the start of each is rejected.

    Share k holds the words w with floor(w bound / 2^32) = k. Of those, only the last
    floor(2^32 / bound) count.
    """
    share = 2**32 // bound
    for word in words_at(seed, pair, dimension, TIE):
        k = word * bound >> 32
        first_of_next = -(-(k + 1) * 2**32 // bound)
        if first_of_next - word <= share:
            return k
    raise AssertionError


def uniform(seed, pair, dimension, purpose):
    low, high = itertools.islice(words_at(seed, pair, dimension, purpose), 2)
    return ((high << 32 | low) >> 11) / 2**53


def exact(value):
    value = float(value)
    return value if math.isinf(value) else Fraction(value)


def rank(draws, truth, seed=0, pair=0, dimension=0):
    """Of one truth among its draws."""
    less = sum(exact(draw) < exact(truth) for draw in draws)
    equal = sum(exact(draw) == exact(truth) for draw in draws)
    return less + (uniform_below(equal + 1, seed, pair, dimension) if equal else 0)


def ranks(draws, truth, seed=0, first_pair=0):
    """Of (n, m) draws, or (n, m, d); those with a NaN are None."""
    found = []
    for i, (row, value) in enumerate(zip(draws, truth, strict=True)):
        if any(math.isnan(x) for x in (*_flat(row), *_flat(value))):
            found.append(None)
            continue
        if getattr(row, "ndim", 1) == 1:
            found.append(rank(row, value, seed, first_pair + i))
        else:
            dims = range(row.shape[1])
            found.append([rank(row[:, d], value[d], seed, first_pair + i, d) for d in dims])
    return found


def _flat(values):
    return values.ravel().tolist() if hasattr(values, "ravel") else [values]


def squared_distance(point, reference):
    """In doubles, dimension by dimension: the order decides which distances are equal."""
    total = 0.0
    for x, r in zip(point, reference, strict=True):
        difference = float(x) - float(r)
        total += difference * difference
    return total


def distance_rank(draws, truth, reference, seed=0, pair=0):
    distances = [squared_distance(draw, reference) for draw in draws]
    return rank(distances, squared_distance(truth, reference), seed, pair)
