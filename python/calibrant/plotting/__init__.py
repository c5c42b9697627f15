"""Pictures of results. Needs matplotlib: ``pip install ".[plot]"``.

Each result with something to see has a ``plot(ax=None)``, which returns a display: an object
that holds the axes and the artists, as scikit-learn's displays do (``ax_``, ``figure_``,
``line_``, ...). Axes that are given are drawn into; else a figure is made, in the house style.

Colours are those of Okabe and Ito, which people with any vision can tell apart; on a dark
background their lighter half is taken. `style` has a light and a dark variant of all the rest.
"""

from calibrant.plotting._assessment import AssessmentDisplay
from calibrant.plotting._cumulative import CumulativeDifferencesDisplay
from calibrant.plotting._decomposition import BrierDecompositionDisplay
from calibrant.plotting._display import Display
from calibrant.plotting._drift import DriftDisplay
from calibrant.plotting._groups import GroupsDisplay
from calibrant.plotting._intervals import IntervalCoverageDisplay, SizeGroupsDisplay
from calibrant.plotting._mmd import MMDTestDisplay
from calibrant.plotting._overlay import OverlayDisplay
from calibrant.plotting._ranks import (
    RankCoverageDisplay,
    RankEcdfDisplay,
    RankHistogramDisplay,
)
from calibrant.plotting._reliability import ReliabilityDisplay
from calibrant.plotting._roc import RocDisplay
from calibrant.plotting._samples import SampleComparisonDisplay, VendiProfileDisplay
from calibrant.plotting._sets import SetSizesDisplay
from calibrant.plotting._spectrum import MeanSpectrumDisplay
from calibrant.plotting._style import PALETTES, Palette, style

__all__ = [
    "PALETTES",
    "AssessmentDisplay",
    "BrierDecompositionDisplay",
    "CumulativeDifferencesDisplay",
    "Display",
    "DriftDisplay",
    "GroupsDisplay",
    "IntervalCoverageDisplay",
    "MMDTestDisplay",
    "MeanSpectrumDisplay",
    "OverlayDisplay",
    "Palette",
    "RankCoverageDisplay",
    "RankEcdfDisplay",
    "RankHistogramDisplay",
    "ReliabilityDisplay",
    "RocDisplay",
    "SampleComparisonDisplay",
    "SetSizesDisplay",
    "SizeGroupsDisplay",
    "VendiProfileDisplay",
    "style",
]


def __dir__() -> list[str]:
    return __all__
