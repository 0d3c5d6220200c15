"""How an object is held at one moment: frozen stores of arrays.  Nothing here knows an operation."""

from .arrays import Array, array_module, device_of, index_dtype
from .csr import CSR
from .pattern import Pattern
from .values import dense_values, with_values
from .vectors import Bitmap, Count, Full, IndexList, VectorStore, word_count

Store = CSR | VectorStore

__all__ = [
    "CSR",
    "Array",
    "Bitmap",
    "Count",
    "Full",
    "IndexList",
    "Pattern",
    "Store",
    "VectorStore",
    "array_module",
    "dense_values",
    "device_of",
    "index_dtype",
    "with_values",
    "word_count",
]
