"""The entries of a Matrix or Vector as a data frame: one row an entry, vertices by their labels if there are any.

`Matrix` and `Vector` bind the functions as methods.  The libraries are imported when they are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import is_record
from ..optional import needed

if TYPE_CHECKING:
    from .matrix import Matrix
    from .vector import Vector


def to_pandas(self: Matrix | Vector) -> Any:
    """Return a pandas frame with a row for each entry: source, target and weight, or of a Vector index and value.

    Vertices are shown by their labels if there are any, values too (``.value_labels``); the first column of a Vector
    with labels is ``label``.  The fields of records are columns.

    Raises
    ------
    NotSupported
        If pandas is not installed.

    Notes
    -----
    Cost O(nvals); values are not copied.  Entries are by row and then by column.  Synchronizes, and copies to the host.
    `Matrix.from_edgelist` reads the frame of a Matrix back.

    Examples
    --------
    >>> A = Matrix.from_edgelist([("ann", "bob", 2.5)], relabel=True)
    >>> A.to_pandas().to_dict("list")
    {'source': ['ann'], 'target': ['bob'], 'weight': [2.5]}
    """
    return needed("to_pandas", "pandas").DataFrame(_columns(self))


def to_polars(self: Matrix | Vector) -> Any:
    """Return a polars frame, with the columns of `to_pandas`.

    Raises
    ------
    NotSupported
        If polars is not installed.

    Notes
    -----
    Cost and synchronization as `to_pandas`.

    Examples
    --------
    >>> Vector.from_coo([0, 2], [1.5, 2.5], size=3).to_polars().rows()
    [(0, 1.5), (2, 2.5)]
    """
    polars = needed("to_polars", "polars")
    return polars.DataFrame(
        {name: polars.Series(name, _listed(column), strict=True) for name, column in _columns(self).items()}
    )


def to_arrow(self: Matrix | Vector) -> Any:
    """Return a pyarrow table, with the columns of `to_pandas`.

    Raises
    ------
    NotSupported
        If pyarrow is not installed.

    Notes
    -----
    Cost and synchronization as `to_pandas`.

    Examples
    --------
    >>> Vector.from_coo([0, 2], [1.5, 2.5], size=3).to_arrow().to_pydict()
    {'index': [0, 2], 'value': [1.5, 2.5]}
    """
    return needed("to_arrow", "pyarrow").table({name: _listed(column) for name, column in _columns(self).items()})


def _columns(a: Any) -> dict[str, Any]:
    """Return the columns of a frame by name."""
    *places, values = a.to_coo(index_dtype=np.int64, device="cpu")
    *of_axes, of_values = a._labels or (None,) * (a.ndim + 1)
    names = ["source", "target"] if a.ndim == 2 else ["index" if of_axes[0] is None else "label"]
    shown = [place if labels is None else labels[place] for labels, place in zip(of_axes, places, strict=True)]
    values = values if of_values is None else of_values[values]
    made = dict(zip(names, shown, strict=True))
    if is_record(a.dtype) and a.dtype.names is not None:
        return made | {name: values[name] for name in a.dtype.names if name not in made}
    return made | {"weight" if a.ndim == 2 else "value": values}


def _listed(column: Any) -> Any:
    """Return a column in a form that infers its type: an array of numbers, or a list of objects."""
    return column.tolist() if column.dtype.kind == "O" else column
