"""Can these probabilities be trusted?

calibrant scores probabilities exactly, in a stream, and to the same last bit however the
work is split.
"""

from calibrant import means, streaming
from calibrant._core import __version__
from calibrant.config import get_num_threads, set_num_threads, show_config
from calibrant.means import (
    CrossEntropyProbability,
    MeanSpectrum,
    RiskProfile,
    coupling_to_power,
    cross_entropy_probability,
    generalized_mean,
    mean_spectrum,
    power_to_coupling,
    renyi_entropy,
    risk_profile,
    tsallis_entropy,
)

__all__ = [
    "CrossEntropyProbability",
    "MeanSpectrum",
    "RiskProfile",
    "__version__",
    "coupling_to_power",
    "cross_entropy_probability",
    "generalized_mean",
    "get_num_threads",
    "mean_spectrum",
    "means",
    "power_to_coupling",
    "renyi_entropy",
    "risk_profile",
    "set_num_threads",
    "show_config",
    "streaming",
    "tsallis_entropy",
]
