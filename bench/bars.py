"""What calibrant set out to reach, as a table: each bar, its limit, and why it is not met.

A bar without a reason is met, or expected to be; where it is not, the page says that it is open.
"""

from __future__ import annotations

from bench.bar import (
    Bar,
    cost,
    drop_in,
    fastest,
    file_memory,
    file_ratio,
    growth,
    memory,
    ratio,
    slow_drop_ins,
    small,
    soak_memory,
    soak_threads,
    speedup,
)
from bench.small_calls import SCALAR

KS = "cumulative_tests (KS and Kuiper)"
CONFIDENCE = ("NumPy, by class", "NumPy, by member", "NumPy, by count")
CRPS = "scoringrules (numba)"
GROUPS = "Brier and log score, 100 rows a group"
ROWS_TOGETHER = "bringing the rows of a group together: a random access for each row and column"
#: By kind, in percent of the samples of a processor with 10^5 groups.
OF_GROUPS = {
    "Reliability": "a cell of memory for each row, among 10^5 groups of 15 bins: 48 MB",
    "Spiegelhalter": "44% is a cell of memory for each row, 36% terms that are kept row by row; "
    "without groups they are summed in registers",
    "RiskProfile, more powers": "34% is bringing rows together, 32% terms, 24% memory. It is 0.23 "
    "in memory that has been used before (best of six calls)",
    "Intervals": "46% is bringing rows together, 27% memory, 20% terms",
    "PredictionSets": "44% is terms, 26% bringing rows together, 21% memory",
    "Ranks": "43% is copying 160 bytes a row and memory, 27% counting, 24% bringing rows together",
}
VOTES = (
    "half of the time is reading the votes and clearing the pages of the result, and NumPy's one "
    "count over all votes is itself close to memory"
)

BARS = (
    # means
    Bar("means-numpy", "`risk_profile`, 10^7 rows: NumPy's three lines", "at least", 4,
        ratio("risk_profile", 1e7, "NumPy")),
    Bar("means-sum", "`risk_profile`, 10^7 rows, in units of `np.sum` of the scores", "at most",
        3.5, cost("risk_profile", 1e7, "np.sum of the scores"),
        why="a logarithm, a power and three exact sums a row are bound by arithmetic, and labels "
        "are as many bytes as the scores"),
    Bar("means-threads", "`risk_profile`, 10^7 rows: all threads over one", "at least", 1.7,
        speedup("risk_profile", 1e7)),
    Bar("means-memory", "`risk_profile`, 10^7 rows: extra memory", "at most", 16,
        memory("risk_profile", 1e7), "MB"),
    Bar("means-small", "`risk_profile` of 100 rows", "at most", 15, small("risk_profile"), "µs"),
    Bar("means-update", "`streaming.RiskProfile.update` of 100 rows", "at most", 8,
        small("streaming.RiskProfile.update"), "µs"),
    Bar("import", "`import calibrant`, beyond `import numpy`", "at most", 30,
        lambda results: results.probes["small calls"]["import_ms"], "ms"),
    # calibration and scores
    Bar("brier", "`brier_score`, 10^7 rows: scikit-learn", "at least", 50,
        ratio("brier_score", 1e7, "scikit-learn")),
    Bar("log", "`log_score`, 10^7 rows: scikit-learn", "at least", 50,
        ratio("log_score", 1e7, "scikit-learn")),
    Bar("ece-count", "ECE of 50 equal-count bins, 10^7 rows: MAPIE", "at least", 40,
        ratio("ECE, 50 bins of equal count", 1e7, "MAPIE")),
    Bar("ece-width", "ECE of 50 equal-width bins, 10^7 rows: MAPIE", "at least", 100,
        ratio("ECE, 50 bins of equal width", 1e7, "MAPIE")),
    Bar("scorecard", "`scorecard`, 10^7 rows, in units of `brier_score` plus equal-count ECE",
        "at most", 3, cost("scorecard", 1e7, "brier_score and equal-count ECE"),
        why="ten exact sums with their squares, and the buckets of KS, Kuiper and AUC"),
    Bar("assess", "`assess`, 100 bins, 10^7 rows, in units of `np.sort`", "at most", 2,
        cost("assess, 100 bins", 1e7, "np.sort of the scores")),
    Bar("top-label", "`top_label_ece`, 10^6 rows of 10 classes: MAPIE", "at least", 50,
        ratio("top_label_ece, 10 classes", 1e6, "MAPIE")),
    Bar("small", "the slowest scalar score of 100 rows", "at most", 20, small(*SCALAR), "µs"),
    Bar("linear", "time per row at 10^8 over that at 10^6, the worst of all", "at most", 1.5,
        growth,
        why="`roc_auc` alone: its 512 buckets of 10^8 rows are larger than a core's cache, and "
        "more buckets took longer still"),
    # tests of calibration, ranking
    Bar("ks", "KS and Kuiper, 10^7 rows: MAPIE's two p-values", "at least", 50,
        ratio(KS, 1e7, "MAPIE")),
    Bar("ks-sort", "KS and Kuiper, 10^7 rows, in units of `np.sort`", "at most", 1,
        cost(KS, 1e7, "np.sort of the scores")),
    Bar("ks-crowded", "KS and Kuiper of crowded scores, in units of a full sort, the worst",
        "at most", 1.5, lambda results: max(
            cost(f"ks and kuiper, scores: {name}", 1e6, "calibrant, by a full sort")(results)
            for name in ("three decimals", "one cell", "near 0", "clusters"))),
    Bar("ks-memory", "KS and Kuiper, 10^7 rows: extra memory", "at most", 16, memory(KS, 1e7),
        "MB"),
    Bar("spiegelhalter", "`spiegelhalter_test`, 10^7 rows: MAPIE", "at least", 50,
        ratio("spiegelhalter_test", 1e7, "MAPIE"),
        why="MAPIE's seven passes take some 12 ns a row, and a fiftieth of that is less than it "
        "takes to read a score and a label"),
    Bar("auc", "`roc_auc`, 10^7 rows: scikit-learn", "at least", 40,
        ratio("roc_auc", 1e7, "scikit-learn")),
    # intervals and dependence
    Bar("intervals", "coverage, width and Winkler score of 3 levels, 10^6 rows: MAPIE",
        "at least", 10, ratio("coverage, width and score of 3 levels", 1e6, "MAPIE")),
    Bar("by-width", "`size_stratified_coverage`, 10^6 rows: MAPIE", "at least", 5,
        ratio("size_stratified_coverage, 3 levels", 1e6, "MAPIE")),
    Bar("coverage-hsic", "`coverage_hsic`, 4,000 rows: MAPIE", "at least", 5000,
        ratio("coverage_hsic", 4000, "MAPIE")),
    Bar("coverage-hsic-sum", "`coverage_hsic`, 10^7 rows, in units of `np.sum` of the widths",
        "at most", 30, cost("coverage_hsic", 1e7, "np.sum of the widths"),
        why="some ten passes by moments of boxes, against one read of a third of the data"),
    Bar("coverage-hsic-memory", "`coverage_hsic`, 10^7 rows: extra memory", "at most", 64,
        memory("coverage_hsic", 1e7), "MB"),
    Bar("hsic-numpy", "`hsic`, 4,000 rows: NumPy, by the formula", "at least", 500,
        ratio("hsic, Gaussian", 4000, "NumPy, by the formula")),
    Bar("hsic-hyppo", "`hsic`, 4,000 rows: hyppo", "at least", 500,
        ratio("hsic, Gaussian", 4000, "hyppo")),
    *(Bar(f"hsic-{kernel.lower()}", f"`hsic`, {kernel}, 10^6 rows, in units of reading them",
          "at most", 2000, cost(f"hsic, {kernel}", 1e6, "reading both columns"))
      for kernel in ("Gaussian", "Laplace")),
    # files
    Bar("parquet", "`calibrant score`, 10^8 rows of Parquet, in units of `read_table`",
        "at most", 1.5, file_ratio, why="the scorecard takes some 25 ns a row and thread"),
    Bar("parquet-memory", "the same: memory", "at most", 1024, file_memory, "MB"),
    # drop-in layers
    Bar("drop-in", "the slowest drop-in function, 10^6 rows: its peer", "at least", 10,
        lambda results: min(drop_in(results, 1).values()), why=slow_drop_ins),
    Bar("drop-in-small", "the slowest drop-in function, 10^3 rows: its peer", "at least", 1,
        lambda results: min(drop_in(results, 0).values())),
    # posteriors, ensembles, samples
    Bar("ranks-numpy", "`sbc_ranks`, 10^5 × 1,000 float32: NumPy", "at least", 2.5,
        ratio("sbc_ranks, 1,000 draws of float32", 1e5, "NumPy")),
    Bar("ranks-memory", "`sbc_ranks`, the same: share of the speed of reading", "at least", 0.6,
        ratio("sbc_ranks, 1,000 draws of float32", 1e5, "reading the draws")),
    *(Bar(f"crps-{name}", f"`crps_ensemble`, {name}, 10^5 × 100: scoringrules with numba",
          "at least", 2, ratio(f"crps_ensemble, {name}, float64", 1e5, CRPS))
      for name in ("standard", "fair")),
    Bar("gamma", "γ of the band, N = K = 1,000: arviz", "at least", 20,
        ratio("gamma of the band, N = K", 1000, "arviz")),
    Bar("mmd", "`mmd`, 10^4 × 64: NumPy by BLAS", "at least", 3,
        ratio("mmd, 64 dimensions", 1e4, "NumPy, by BLAS")),
    Bar("mmd-memory", "`mmd`, 10^4 × 64: extra memory, linear in the rows", "at most", 16,
        memory("mmd, 64 dimensions", 1e4), "MB"),
    Bar("mmd-test", "1,000 permutations, in units of one `mmd`, 10^4 × 64", "at most", 25,
        cost("mmd_test, 1,000 permutations", 1e4, "one mmd")),
    Bar("density", "`density_coverage`, 10^4 × 64: prdc", "at least", 3,
        ratio("density_coverage, 64 dimensions", 1e4, "prdc")),
    Bar("frechet", "`frechet_distance`, 50 rows of 300 features: SciPy's `sqrtm`", "at least", 100,
        ratio("frechet_distance, 300 features", 50, "SciPy, by sqrtm")),
    *(Bar(f"confidence-{dtype}", f"`ensemble_confidence`, 10^6 × 30 of {dtype}, 4 classes: the "
          "fastest NumPy", "at least", 20,
          fastest(f"ensemble_confidence, 30 votes of {dtype}", 1e6, CONFIDENCE), why=VOTES)
      for dtype in ("int8", "int64")),
    # production
    Bar("groups-polars", "Brier and log score of 10^5 groups, 10^7 rows: polars", "at least", 3,
        ratio(GROUPS, 1e7, "polars"),
        why="some 8 ns a row and thread: terms, integers of them, a cell in memory"),
    Bar("groups-pandas", "the same: pandas", "at least", 10, ratio(GROUPS, 1e7, "pandas"),
        why="some 8 ns a row and thread: terms, integers of them, a cell in memory"),
    *(Bar(f"groups-{name.lower()}", f"groups of 100 rows of `{name}`, 10^{digits} rows: share of "
          "the speed without groups", "at least", 0.2,
          ratio(f"Grouped({name}), 100 rows a group", 10.0**digits, f"{name} without groups"),
          why=OF_GROUPS.get(name, ROWS_TOGETHER))
      for digits, names in ((7, ("Scores", "Scores, Brier and log", "RiskProfile",
                                 "Reliability", "Spiegelhalter", "Scores, 3 classes",
                                 "Scores, weighted", "RiskProfile, weighted",
                                 "RiskProfile, more powers", "Reliability, weighted",
                                 "Spiegelhalter, weighted", "Assessment", "ScoreTable",
                                 "Scorecard", "Intervals", "PredictionSets", "PairedScores")),
                            (6, ("Ranks",)))
      for name in names),
    *(Bar(f"stream-{name.lower()}", f"groups of 30,000 rows of `{name}`, 10^7 rows in 10 batches: "
          "share of the speed without groups", "at least", 0.2,
          ratio(f"Grouped({name}), a long stream", 1e7, f"{name} without groups"),
          why=ROWS_TOGETHER)
      for name in ("Assessment", "ScoreTable", "Scorecard")),
    Bar("soak-memory", "10^9 rows in batches: memory more than before", "at most", 16,
        soak_memory, "MB"),
    Bar("soak-threads", "8 Python threads on one accumulator for a minute: threads that lost "
        "nothing", "at least", 8,
        soak_threads, ""),
)  # fmt: skip

#: Bars that are no figures: what is required, and the tests that fail without it.
TESTED = (
    ("the same bits for any batches, merges, threads and instruction sets",
     "tests/laws/test_invariants.py"),
    ("a weight of k is k rows, to the bit", "tests/laws/test_invariants.py"),
    ("generalized means within 2 ulp of a rational reference",
     "tests/means/test_means_accuracy.py"),
    ("logarithm and exponential within 1 ulp, subnormals included",
     "tests/kernels/test_elementary.py"),
    ("powers m within 1 ulp: only for |m| up to 15, as the error is up to 0.53 + 0.03 |m|",
     "tests/kernels/test_elementary.py"),
    ("Nelson's figures 3 to 6, reproduced", "tests/project/test_reproductions.py"),
    ("certified bounds of score tables hold the exact value",
     "tests/score_table/test_score_table.py"),
    ("KS and Kuiper equal a rational reference, p-values are uniform",
     "tests/cumulative/test_ks_and_kuiper.py"),
    ("HSIC equals a direct sum over pairs to 1e-12", "tests/dependence/test_dependence.py"),
    ("a report opens in a browser at 400 and 1400 px without errors",
     "tests/report/test_report_browser.py"),
    ("damaged files end in one line that names the file", "tests/commands/test_commands.py"),
    ("drop-in functions equal the real packages to 1e-12, with their errors",
     "tests/compat/test_compat_mapie.py"),
    ("simultaneous bands cover 95% ± 0.5%", "tests/ranks/test_rank_calibration.py"),
    ("Dask, Spark, Ray and executors give the bits of one machine",
     "tests/distributed/test_engines.py"),
    ("mutated states are rejected or equal", "cpp/tests/test_mutated_states.cpp"),
    ("C++ and Python read each other's states", "tests/project/test_cpp_example.py"),
)  # fmt: skip
