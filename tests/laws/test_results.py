"""What all results share: views that JSON takes."""

import json
import math

import pytest

import calibrant

CERTAIN_AND_WRONG = ([0, 1] * 50, [1.0, 0.0] * 50)


@pytest.mark.parametrize("name", ["assess", "cumulative_differences", "cumulative_tests", "ks_test",
                                  "log_decomposition", "reliability_bins", "risk_profile",
                                  "roc_curve", "scorecard", "spiegelhalter_test"])  # fmt: skip
def test_infinite_numbers_are_words_of_json(name):
    result = getattr(calibrant, name)(*CERTAIN_AND_WRONG)
    json.dumps(result.to_dict(), allow_nan=False)


def test_which_words():
    test = calibrant.ks_test(*CERTAIN_AND_WRONG)
    assert (test.statistic, test.log_pvalue) == (math.inf, -math.inf)
    assert test.to_dict() == {**test.to_dict(), "statistic": "inf", "log_pvalue": "-inf"}
    assert "calibrant_statistic +Inf" in calibrant.telemetry.prometheus_text(test)
    groups = calibrant.ks_test(*CERTAIN_AND_WRONG, groups=["a", "b"] * 50).to_dict()
    json.dumps(groups, allow_nan=False)
    same_widths = calibrant.coverage_hsic([0.5, 1.5], [[0.0, 1.0], [1.0, 2.0]])
    assert math.isnan(same_widths.hsic)
    assert same_widths.to_dict()["hsic"] is None
