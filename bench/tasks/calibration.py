"""Calibration errors beside MAPIE, netcal, torchmetrics, relplot; assess beside one sort."""

from __future__ import annotations

import numpy as np

import calibrant
from bench.predictions import binary, ten_classes
from bench.task import TO_1E6, TO_1E8, Peer, Task
from calibrant.compat.mapie import calibration as as_mapie


def mapie_ece(y, p, strategy):
    from mapie.metrics.calibration import expected_calibration_error

    return expected_calibration_error(y, p, num_bins=50, split_strategy=strategy)


def mapie_top_label(y, p):
    from mapie.metrics.calibration import top_label_ece

    return top_label_ece(y, p, num_bins=50)


def netcal_ece(y, p, equal_width=True):
    from netcal.metrics import ECE

    return ECE(50, equal_intervals=equal_width).measure(p, y)


def torchmetrics_ece(y, p):
    import torch
    from torchmetrics.functional.classification import binary_calibration_error

    return binary_calibration_error(torch.from_numpy(p), torch.from_numpy(y), n_bins=50)


def torchmetrics_top_label(y, p):
    import torch
    from torchmetrics.functional.classification import multiclass_calibration_error as error

    return error(torch.from_numpy(p), torch.from_numpy(y), num_classes=10, n_bins=50)


def relplot_smooth(y, p):
    from relplot import smECE

    return smECE(p, y)


def mapie(call, expected, differs):
    needs = "mapie.metrics.calibration"
    return Peer("MAPIE", call, needs=needs, expected=expected, differs=differs)


def ece_by_mapie(strategy):
    def expected(y, p):
        return as_mapie.expected_calibration_error(y, p, num_bins=50, split_strategy=strategy)

    return mapie(lambda y, p: mapie_ece(y, p, strategy), expected, "its 50 edges make 49 bins")


def netcal(call):
    return Peer("netcal", call, needs="netcal.metrics")


def torchmetrics(call):
    needs = "torchmetrics.functional.classification"
    return Peer("torchmetrics", call, needs=needs, rtol=0, atol=1e-5, answer=float)


SORT = Peer("np.sort of the scores", lambda y, p: np.sort(p), yardstick=True)  # noqa: ARG005


def is_calibrated(data, found):
    """The labels were drawn with these probabilities: 45 degrees, but for chance."""
    np.testing.assert_allclose(found.angle, 45.0, rtol=0, atol=4 * found.tolerance)
    np.testing.assert_equal(found.n, len(data[0]))


def by_source(source):
    return Task(
        f"assess, {source}",
        binary,
        lambda y, p: calibrant.assess(y, p, n_bins=100, source=source),
        (SORT,),
        check=is_calibrated,
        sizes=TO_1E6,
    )


TASKS = (
    Task(
        "ECE, 50 bins of equal width",
        binary,
        lambda y, p: calibrant.expected_calibration_error(y, p, n_bins=50),
        (ece_by_mapie("uniform"), netcal(netcal_ece), torchmetrics(torchmetrics_ece)),
        sizes=TO_1E8,
    ),
    Task(
        "ECE, 50 bins of equal count",
        binary,
        lambda y, p: calibrant.expected_calibration_error(y, p, n_bins=50, strategy="quantile"),
        (ece_by_mapie("quantile"), netcal(lambda y, p: netcal_ece(y, p, equal_width=False))),
        sizes=TO_1E8,
    ),
    Task(
        "top_label_ece, 10 classes",
        ten_classes,
        lambda y, p: calibrant.top_label_ece(y, p, n_bins=50, average="pooled"),
        (
            mapie(
                mapie_top_label,
                lambda y, p: as_mapie.top_label_ece(y, p, num_bins=50),
                "it averages the errors of the predicted classes",
            ),
            netcal(netcal_ece),
            torchmetrics(torchmetrics_top_label),
        ),
        sizes=TO_1E6,
        limit=10**7,
    ),
    Task(
        "smooth_calibration_error",
        binary,
        calibrant.smooth_calibration_error,
        (
            Peer(
                "relplot", relplot_smooth, needs="relplot", rtol=0, atol=2**-9,
                differs="a grid in place of the exact kernel, and a coarser bandwidth",
            ),
        ),
    ),
    Task(
        "assess, 100 bins",
        binary,
        lambda y, p: calibrant.assess(y, p, n_bins=100),
        (SORT,),
        check=is_calibrated,
        sizes=TO_1E8,
    ),
    *(by_source(source) for source in ("isotonic", "knn", "kernel")),
)  # fmt: skip
