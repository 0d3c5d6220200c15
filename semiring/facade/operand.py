"""What a user passes as an operand: a number, a Scalar, an array; its value, its dimensions, its device."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..config import checked_device, default_device
from ..memory.arrays import to_host
from ..storage.coerce import on_gpu
from .scalar import Scalar

_NUMBERS = (int, float, Scalar)


def is_scalar(value: Any) -> bool:
    """True for numbers, Scalars and zero-dimensional arrays."""
    return isinstance(value, _NUMBERS) or getattr(value, "ndim", None) == 0


def is_empty(value: Any) -> bool:
    """True for a Scalar without a value, which deletes where it is assigned.  Synchronises for one pending on a GPU."""
    return isinstance(value, Scalar) and value.is_empty


def scalar(value: Any) -> Any:
    """The bare value of a Scalar or a zero-dimensional array; anything else as it is."""
    bare = getattr(value, "_bare", None)
    if bare is not None:
        return bare()
    if getattr(value, "ndim", None) == 0 and hasattr(value, "get"):
        return to_host(value)[()]  # synchronises
    return value


def dimensions(value: Any) -> int | None:
    """How many dimensions an array, or a list that stands for one, has; None for anything else."""
    if isinstance(value, (list, tuple)):
        return np.ndim(value)
    return value.ndim if hasattr(value, "ndim") and not hasattr(type(value), "store") else None


def no_operand(value: Any) -> None:
    """TypeError for an array, a list or a sparse matrix of another library: does it hold zeros, or gaps?

    Anything else passes, and may know by itself what to do with one of our objects.
    """
    arrays = (np.ndarray, list, tuple)
    if isinstance(value, arrays) or hasattr(value, "__cuda_array_interface__") or hasattr(value, "tocsr"):
        how = "sr.io.from_scipy_sparse" if hasattr(value, "tocsr") else "Vector.from_dense or Matrix.from_dense"
        raise TypeError(f"a {type(value).__name__} is no operand here: make an object of it by {how}")


def device_for(*arrays: Any, device: str | None = None) -> str:
    """Where an object made of these arrays lives: with a CuPy array among them the GPU, else the default device."""
    if device is not None:
        return checked_device(device)
    return "cuda" if any(on_gpu(array) for array in arrays) else default_device()
