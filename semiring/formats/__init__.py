"""Storage formats: frozen stores of arrays.  Nothing here depends on an operation."""

from ..memory.arrays import Array, array_module, device_of, index_dtype
from ..memory.placement import PLACEMENTS, Placement
from .bitmap import BitmapPattern, is_bitmap
from .ccsr import CompressedPattern
from .codecs import CODECS, Codec
from .csr import CSR, structure_only, uncompressed_pattern
from .full import FullPattern
from .hypersparse import HyperPattern
from .kinds import StorageKind
from .pattern import AnyPattern, Pattern
from .tiles import TILE
from .values import dense_values, with_values
from .vectors import Bitmap, Count, Full, IndexList, VectorStore, word_count

Store = CSR | VectorStore
# The formats of matrices.
FORMATS: dict[str, type[AnyPattern]] = {
    kind.format: kind for kind in (Pattern, CompressedPattern, FullPattern, BitmapPattern, HyperPattern)
}

__all__ = [
    "CODECS",
    "CSR",
    "FORMATS",
    "PLACEMENTS",
    "TILE",
    "AnyPattern",
    "Array",
    "Bitmap",
    "BitmapPattern",
    "Codec",
    "CompressedPattern",
    "Count",
    "Full",
    "FullPattern",
    "HyperPattern",
    "IndexList",
    "Pattern",
    "Placement",
    "StorageKind",
    "Store",
    "VectorStore",
    "array_module",
    "dense_values",
    "device_of",
    "index_dtype",
    "is_bitmap",
    "structure_only",
    "uncompressed_pattern",
    "with_values",
    "word_count",
]
