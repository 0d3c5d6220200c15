"""Names of vertices: a numbering of labels, which maps labels to rows and rows to labels."""

from .mapping import Labels
from .numbering import as_column, number_columns

__all__ = ["Labels", "as_column", "number_columns"]
