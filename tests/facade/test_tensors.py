"""Arrays of PyTorch and CuPy, and what DLPack passes: every type, in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring import Matrix, Scalar, Vector
from semiring.dtypes import ALL
from semiring.exceptions import InvalidValue, NotNumbers

VALUES = [[1, 0, 3], [0, 1, 2]]


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_tensors_of_every_type(torch: Any, dtype: np.dtype[Any]) -> None:
    tensor = torch.tensor(VALUES).to(getattr(torch, dtype.name))
    if dtype.kind == "c":
        tensor = tensor * (1 + 2j)
    for made in (Matrix.from_dense(tensor), Matrix.from_dense(tensor, copy=False, device="cpu")):
        assert made.dtype == dtype
        assert made.to_numpy(0).tolist() == tensor.tolist()
    assert Matrix.from_dense(tensor.T).to_numpy(0).tolist() == tensor.T.tolist()
    A, v = Matrix.from_dense(tensor, device="cpu"), Vector.from_dense(tensor[0], device="cpu")
    for back, expected in ((torch.from_dlpack(A), tensor), (torch.from_dlpack(v), tensor[0])):
        assert back.dtype == tensor.dtype
        assert torch.equal(back, expected)


def test_tensors_as_arguments(torch: Any) -> None:
    i, j, x = torch.tensor([0, 1]), torch.tensor([1, 0]), torch.tensor([1.5, 2.5])
    A = Matrix.from_coo(i, j, x)
    assert A.to_dicts() == {0: {1: 1.5}, 1: {0: 2.5}}
    assert Matrix.from_csr(torch.tensor([0, 1, 2]), j, x, ncols=2).isequal(A)
    assert Matrix.from_edgelist(torch.stack([i, j], 1)).nvals == 2
    v = Vector.from_dense([5.0, 6.0, 7.0])
    assert v[torch.tensor([2, 0])].to_dict() == {0: 7.0, 1: 5.0}
    assert v[torch.tensor([True, False, True])].nvals == 2
    assert A[torch.tensor([1]), :].nvals == 1
    assert v[torch.tensor(1)].value == 6.0
    assert v.reduce_by(torch.tensor([2, 0, 2])).to_dict() == {0: 6.0, 2: 12.0}
    v[[0, 2]] = torch.tensor([9.0, 8.0])
    assert (v * torch.tensor(2.0)).to_dict() == {0: 18.0, 1: 12.0, 2: 16.0}
    assert Scalar.from_value(torch.tensor(2.5)).value == 2.5
    assert (A @ x).to_dict() == {0: 3.75, 1: 3.75}


def test_tensors_that_are_no_arrays(torch: Any) -> None:
    x = torch.ones(2, 2)
    for tensor in (x.clone().requires_grad_(True), (x * 1j).conj(), x.to_sparse(), x.bfloat16()):
        with pytest.raises(InvalidValue, match="no array can be made of this Tensor"):
            Matrix.from_dense(tensor)
    with pytest.raises(NotNumbers, match="float16"):
        Matrix.from_dense(x.half())


class Lent:
    """An array that only DLPack hands out."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **how: Any) -> Any:
        return self._array.__dlpack__(**how)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


def test_an_index_by_dlpack() -> None:
    v = Vector.from_dense([5, 6, 7])
    assert v[Lent(np.array([2, 0]))].to_dict() == {0: 7, 1: 5}  # type: ignore[index]
    with pytest.raises(sr.exceptions.InvalidValue, match="index"):
        v[Lent(np.array(["a", "b"]))]  # type: ignore[index]


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
def test_arrays_of_cupy(engine: str, dtype: str) -> None:
    if engine != "cuda":
        pytest.skip("needs a GPU")
    import cupy
    import cupyx.scipy.sparse as sparse

    array = cupy.asarray(VALUES).astype(dtype) * (1 + 2j if dtype.startswith("c") else 2)
    A, v = Matrix.from_dense(array, copy=False), Vector.from_dense(array[0])
    assert A.dtype == v.dtype == dtype
    assert A.device == "cuda"
    shared = cupy.from_dlpack(A)
    assert shared.data.ptr == array.data.ptr
    assert shared.dtype == dtype
    assert cupy.from_dlpack(v).tolist() == array[0].tolist()
    assert A.to_dense().tolist() == array.tolist()
    X = sparse.csr_matrix(array)
    B = sr.io.from_cupy_sparse(X)
    assert B.dtype == dtype
    assert B.isequal(Matrix.from_dense(array, missing_value=0))
    assert (sr.io.to_cupy_sparse(B) != X).nnz == 0
    assert (A @ B.T).isclose(Matrix.from_dense(array @ array.T))
