"""Several processes, each with its share of the rows; what they send back is a few hundred bytes.

The same three steps work across machines: update where the data are, send to_bytes(), merge.
"""

import multiprocessing

import numpy as np

from calibrant.streaming import RiskProfile

SHARES = 4
ROWS_PER_SHARE = 250_000


def rows_of(share):
    """Stand in for reading this worker's file."""
    rng = np.random.default_rng([2017, share])
    y_proba = rng.random(ROWS_PER_SHARE, dtype=np.float32)
    return rng.random(ROWS_PER_SHARE) < y_proba, y_proba


def score(share):
    """Run in a worker: rows go in, bytes come out."""
    profile = RiskProfile(q_lim=0.001)
    profile.update(*rows_of(share))
    return profile.to_bytes()


def main():
    total = RiskProfile(q_lim=0.001)
    # "spawn" starts clean processes; "fork" works too, on one thread each
    # (docs/production/streaming.md).
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for state in pool.imap_unordered(score, range(SHARES)):  # in the order they finish
            total.merge(RiskProfile.from_bytes(state))
            print(f"merged {len(state)} bytes, {total.n:,} rows so far")
    print(total.result())

    alone = RiskProfile(q_lim=0.001)
    for share in range(SHARES):
        alone.update(*rows_of(share))
    print("one process gives the same bytes:", alone.to_bytes() == total.to_bytes())
    assert alone == total


if __name__ == "__main__":
    main()
