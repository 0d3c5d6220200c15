"""The exceptions of python-graphblas by name.

Those that this library raises are its own classes; the others exist so that programs can name them, and nothing raises
them.
"""

from __future__ import annotations

from semiring.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    EmptyObject,
    GraphblasException,
    IndexOutOfBound,
    InvalidFormat,
    InvalidValue,
    NotSupported,
    OutOfMemory,
    OutputNotEmpty,
    SemiringError,
    UdfParseError,
)

__all__ = [
    "DimensionMismatch",
    "DomainMismatch",
    "EmptyObject",
    "GraphblasException",
    "IndexOutOfBound",
    "InsufficientSpace",
    "InvalidIndex",
    "InvalidObject",
    "InvalidValue",
    "JitError",
    "NoValue",
    "NotImplementedException",
    "NullPointer",
    "OutOfMemory",
    "OutputNotEmpty",
    "Panic",
    "UdfParseError",
    "UninitializedObject",
]

InvalidIndex = IndexOutOfBound
InvalidObject = InvalidFormat
NotImplementedException = NotSupported


class NoValue(SemiringError):
    """An element is missing; here such a Scalar is empty."""


class UninitializedObject(SemiringError):
    """An object was not initialized."""


class NullPointer(SemiringError):
    """A C function got a null pointer."""


class InsufficientSpace(SemiringError):
    """An output array of a C function is too small."""


class Panic(SemiringError):
    """An internal error of a GraphBLAS library in C."""


class JitError(SemiringError):
    """An error of the just-in-time compiler of SuiteSparse."""
