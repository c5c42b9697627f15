"""Accumulators: results for data that come in batches, or lie on many machines.

Each has the same verbs: ``update`` with a batch, ``merge`` with another, ``result`` at any
time, ``to_bytes`` and ``from_bytes`` to store or send it. The result is the same to the last
bit however the rows were split.
"""

from __future__ import annotations

from calibrant._accumulator.states import load, restore
from calibrant.calibration._stream import Assessment, Reliability
from calibrant.cumulative._stream import Spiegelhalter
from calibrant.grouped._grouped import Grouped
from calibrant.intervals._hsic_stream import CoverageHSIC
from calibrant.intervals._stream import Intervals, PredictionSets
from calibrant.means._stream import RiskProfile
from calibrant.ranks._stream import Ranks
from calibrant.samples._stream import Moments, Vendi
from calibrant.score_table._assessment_bounds import AssessmentBounds, MeanBounds
from calibrant.score_table._bounds import Bounds, ReliabilityBounds, ScoreTableSummary, TestBounds
from calibrant.score_table._refinement import Refinement
from calibrant.score_table._stream import ScoreTable
from calibrant.scorecards._stream import Scorecard
from calibrant.scores._paired_stream import PairedScores
from calibrant.scores._stream import Scores
from calibrant.windows._window import Window
from calibrant.windows._windowed import Windowed

__all__ = [
    "Assessment",
    "AssessmentBounds",
    "Bounds",
    "CoverageHSIC",
    "Grouped",
    "Intervals",
    "MeanBounds",
    "Moments",
    "PairedScores",
    "PredictionSets",
    "Ranks",
    "Refinement",
    "Reliability",
    "ReliabilityBounds",
    "RiskProfile",
    "ScoreTable",
    "ScoreTableSummary",
    "Scorecard",
    "Scores",
    "Spiegelhalter",
    "TestBounds",
    "Vendi",
    "Window",
    "Windowed",
    "load",
    "restore",
]


def __dir__() -> list[str]:
    return __all__
