"""All operations in slices: importing this module registers them."""

from . import closure, entrywise, extraction, link, permute, products, reduction, rewriting, symmetry

__all__ = ["closure", "entrywise", "extraction", "link", "permute", "products", "reduction", "rewriting", "symmetry"]
