"""pandas and torch, met through the protocols they offer."""

import gc
import weakref

import numpy as np
import pytest

from calibrant._core import _testing as core

nan = np.nan


@pytest.fixture
def pd():
    return pytest.importorskip("pandas", reason="pandas is not installed")


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


def same(found, expected):
    np.testing.assert_array_equal(found, np.asarray(expected, np.float64), strict=True)


def test_pandas_series_are_read_in_place(pd):
    x = pd.Series([0.5, nan, 1.0])
    assert core.is_in_place(x)
    assert core.address(x) == x.to_numpy().ctypes.data
    same(core.load(x), [0.5, nan, 1.0])
    same(core.load(x[::-1]), [1.0, nan, 0.5])
    same(core.load(pd.Index([1, 2])), [1, 2])


@pytest.mark.parametrize("dtype", ["Float64", "Float32", "Int64", "UInt8", "boolean"])
@pytest.mark.parametrize("has_pyarrow", [True, False])
def test_pandas_nullable(pd, dtype, has_pyarrow, monkeypatch):
    if has_pyarrow:
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    else:

        def reject(*_):
            raise ImportError("no pyarrow")

        monkeypatch.setattr(pd.Series, "__arrow_c_stream__", reject, raising=False)
    x = pd.Series([1, None, 0], dtype=dtype)
    same(core.load(x), [1, nan, 0])
    same(core.load(x.array), [1, nan, 0])
    assert core.load_labels(x).tolist() == [1, -1, 0]


@pytest.mark.parametrize("dtype", ["double[pyarrow]", "int32[pyarrow]", "bool[pyarrow]"])
def test_pandas_arrow(pd, dtype):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    x = pd.Series([1, None, 0], dtype=dtype)
    same(core.load(x), [1, nan, 0])
    same(core.load(pd.concat([x, x])), [1, nan, 0, 1, nan, 0])


def test_pandas_sparse(pd):
    same(core.load(pd.Series(pd.arrays.SparseArray([0.5, 0.0]))), [0.5, 0])


def test_pandas_frames(pd):
    frame = pd.DataFrame(np.arange(6.0).reshape(3, 2))
    assert core.address(frame) == frame.to_numpy().ctypes.data
    same(core.load(frame), [[0, 1], [2, 3], [4, 5]])
    same(core.load(pd.DataFrame({"a": [0.5, 1], "b": [1, 0]})), [[0.5, 1], [1, 0]])
    nullable = pd.DataFrame({"a": pd.array([0.5, None], dtype="Float64"), "b": [1, 0]})
    same(core.load(nullable), [[0.5, 1], [nan, 0]])


def test_pandas_text_is_rejected(pd):
    for column in (
        pd.Series(["a"]),
        pd.Series(["a"], dtype=object),
        pd.Series(["a"], dtype="category"),
    ):
        with pytest.raises(
            TypeError, match=r"^y_true must hold integer class codes, got .*labels="
        ):
            core.load_labels(column)
    with pytest.raises(TypeError, match=r"^y_proba must hold real numbers, got dtype object"):
        core.load(pd.DataFrame({"a": [0.5], "b": ["0.5"]}))
    with pytest.raises(ValueError, match=r"^w must have shape \(n,\), got shape \(1, 1\)"):
        core.require_vector(pd.DataFrame({"a": [0.5]}), "w")


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "uint8", "bool"])
def test_torch(torch, dtype):
    x = torch.tensor([1, 0, 1, 1]).to(getattr(torch, dtype))
    assert core.address(x) == x.data_ptr()
    assert core.is_in_place(x) == (dtype == "float64")
    same(core.load(x), [1, 0, 1, 1])
    same(core.load(x[::2]), [1, 1])
    same(core.load(x.reshape(2, 2).T), [[1, 1], [0, 1]])
    assert core.load_labels(x).tolist() == [1, 0, 1, 1]


def test_torch_tensors_are_let_go(torch):
    x = torch.zeros(3)
    gone = weakref.ref(x)
    core.load(x)
    del x
    gc.collect()
    assert gone() is None


def test_torch_rejections_name_the_remedy(torch):
    x = torch.tensor([0.5])
    with pytest.raises(TypeError, match=r"^y_proba requires a gradient; pass y_proba.detach\(\)$"):
        core.load(x.clone().requires_grad_())
    with pytest.raises(TypeError, match=r"dtype torch.bfloat16 .*pass a dense float32 or float64"):
        core.load(x.bfloat16())
    with pytest.raises(TypeError, match="pass a dense float32 or float64"):
        core.load(x.to_sparse())


class OnTheGpu:
    device = "cuda:0"

    def __dlpack__(self, **kwargs):
        raise AssertionError("must not be asked")

    def __dlpack_device__(self):
        return (2, 0)


def test_other_devices_are_rejected():
    with pytest.raises(TypeError, match=r"^y_proba is on cuda:0; pass .* y_proba.cpu\(\)$"):
        core.load(OnTheGpu())
