"""Calibration errors beside MAPIE, netcal, torchmetrics and relplot."""

import calibrant
from bench.case import Case, Peer, benchmarks, binary, peer, ten_classes
from calibrant.compat.mapie import calibration as as_mapie


def swapped(y, p):
    return p, y


def tensors(y, p):
    import torch

    return torch.from_numpy(p), torch.from_numpy(y)


def mapie(function, differs, **options):
    options = {"num_bins": 50, **options}
    return peer(
        "MAPIE",
        f"mapie.metrics.calibration.{function}",
        options,
        expected=lambda y, p: getattr(as_mapie, function)(y, p, **options),
        differs=differs,
    )


def ece_by_mapie(strategy):
    differs = "its 50 edges make 49 bins"
    return mapie("expected_calibration_error", differs, split_strategy=strategy)


def netcal(equal_width=True):
    def call(p, y):
        from netcal.metrics import ECE

        return ECE(50, equal_intervals=equal_width).measure(p, y)

    return Peer("netcal", call, needs="netcal.metrics", prepare=swapped)


def torchmetrics(function, **options):
    path = f"torchmetrics.functional.classification.{function}"
    fields = {"prepare": tensors, "rtol": 0, "atol": 1e-5, "answer": float}
    return peer("torchmetrics", path, {"n_bins": 50, **options}, **fields)


test_calibration = benchmarks(
    Case("ECE, 50 bins of equal width", binary,
         lambda y, p: calibrant.expected_calibration_error(y, p, n_bins=50),
         (ece_by_mapie("uniform"), netcal(), torchmetrics("binary_calibration_error"))),
    Case("ECE, 50 bins of equal count", binary,
         lambda y, p: calibrant.expected_calibration_error(y, p, n_bins=50, strategy="quantile"),
         (ece_by_mapie("quantile"), netcal(equal_width=False))),
    Case("top_label_ece, 10 classes", ten_classes,
         lambda y, p: calibrant.top_label_ece(y, p, n_bins=50, average="pooled"),
         (mapie("top_label_ece", "it averages the errors of the predicted classes"), netcal(),
          torchmetrics("multiclass_calibration_error", num_classes=10)), most=10**6),
    Case("smooth_calibration_error", binary, calibrant.smooth_calibration_error,
         (peer("relplot", "relplot.smECE", prepare=swapped, rtol=0, atol=2**-9,
               differs="a grid in place of the exact kernel, and a coarser bandwidth"),)),
)  # fmt: skip
