"""The left side of ``<<``: ``C(M.S, accum="plus", replace=True)``, ``C(M.S)[I, J]``, ``C[I, J](M.S)``."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, NoReturn, TypedDict, TypeVar, cast

from .. import dtypes, operators
from ..engines.requests.operands import Mask
from ..exceptions import InvalidMask, InvalidType, InvalidValue
from ..formats import CSR, VectorStore
from ..memory.allocation import is_shortage, methods_report_memory, out_of_memory
from ..ops import masks
from ..ops.write import PLAIN, Write, write_of

T = TypeVar("T")


class Writing(TypedDict, total=False):
    """The keyword form of ``out(mask, accum, replace) << result``, accepted by every operation.

    mask: where to write (``M.S``, ``M.V``, ``~M.S``, or a boolean object).  accum: a binary operator that combines
    the result with the stored entries (needs `out`).  replace: empty the rest.  out: the object to write into and
    return.
    """

    mask: Any
    accum: Any
    replace: bool
    out: Any


class Replace:
    """``C(mask, replace) << x``: the keyword ``replace=True`` as a positional part, by python-graphblas's name.

    Examples
    --------
    >>> v = Vector.from_dense([1, 2, 3])
    >>> m = Vector.from_coo([0, 2], True, size=3)
    >>> (v(m.S, sr.replace) << 7).to_dict()
    {0: 7, 2: 7}
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "replace"

    def __reduce__(self) -> str:
        return "replace"


replace = Replace()


class _NoValue:
    """A part of a write, which has no value: its truth and comparisons raise, where Python would return a bool."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    _hint = ""

    def _refuse(self, *_: Any) -> NoReturn:
        raise TypeError(f"{self!r} has no value to test or compare: {self._hint}")

    __bool__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse


class MaskView(_NoValue):
    """``A.S`` (where an entry is stored) or ``A.V`` (where it is also nonzero); ``~`` takes the complement.

    ``A.S & B.V`` admits what both admit, ``A.S | ~B.V`` what one of them admits; both compute a structure at once.
    ``C[A.S]`` are the entries of C that the mask admits; ``C[A.S] = x`` is ``C(A.S) << x``, and ``del C[A.S]`` deletes.
    Its truth and its comparisons raise TypeError: `nvals`, `isequal` and ``apply("one")`` are methods of the objects.

    Examples
    --------
    >>> u, v = Vector.from_coo([0, 1], [5, 6], size=4), Vector.from_coo([1, 2], [7, 8], size=4)
    >>> w = Vector.full(1, 4)
    >>> w[u.S & v.S].to_dict(), w[u.S | v.S].to_dict(), w[~u.S].to_dict()
    ({1: 1}, {0: 1, 1: 1, 2: 1}, {2: 1, 3: 1})
    """

    __slots__ = ("__weakref__", "_mask")
    # The classes of a Matrix and a Vector that are made of a mask: `matrix` sets them.
    _made: ClassVar[tuple[type[Any], type[Any]]]
    _hint = "use A.nvals for whether there are entries, A.apply('one').isequal(B.apply('one')) for equal structures"

    def __init__(self, mask: Mask) -> None:
        self._mask = mask

    def __invert__(self) -> MaskView:
        return self._of(self._mask.negated())

    def __and__(self, other: Any) -> MaskView:
        return self._of(masks.both(self._mask, as_mask(other)))

    __rand__ = __and__

    def __or__(self, other: Any) -> MaskView:
        return self._of(masks.either(self._mask, as_mask(other)))

    __ror__ = __or__

    def _of(self, mask: Mask) -> MaskView:
        """Return a view of another mask, of the same class."""
        return MaskView(mask)

    def _classes(self) -> tuple[type[Any], type[Any]]:
        """Return the classes of a Matrix and a Vector that are made of a mask."""
        return self._made

    def new(self, dtype: Any = bool, *, complement: bool = False, mask: Any = None, name: str | None = None) -> Any:
        """Return a Matrix or Vector with true at the positions that the mask admits.

        Parameters
        ----------
        dtype : type of the values, which are 1 of it
        complement : whether the other positions are returned instead
        mask : a further mask, which must admit the position too (before the complement)
        name : shown by `repr`

        Raises
        ------
        InvalidMask, DimensionMismatch, DomainMismatch, OutOfMemory

        Notes
        -----
        Cost O(nvals) of the object that the mask is of; O(all positions) for a complement.

        Examples
        --------
        >>> v = Vector.from_coo([0, 1], [0, 7], size=3)
        >>> v.V.new().to_dict(), (~v.S).new(int).to_dict()
        ({1: True}, {2: 1})
        """
        chosen = self._mask if mask is None else masks.both(self._mask, as_mask(mask))
        store = masks.truth(chosen.negated() if complement else chosen, dtypes.lookup(dtype))
        return self._classes()[not isinstance(store, CSR)]._new(store, name=name)

    def __repr__(self) -> str:
        store = self._mask.store
        kind, shape = ("Matrix", store.shape) if isinstance(store, CSR) else ("Vector", (store.size,))
        view = f"{kind}.{'S' if self._mask.structural else 'V'}"
        return f"<mask {'~' if self._mask.complement else ''}{view} of shape {shape}>"

    def _repr_html_(self) -> str:
        """Return the text, and the preview of the object that the mask is of."""
        from .display import html, html_line

        store = self._mask.store
        return html_line(repr(self)) + html(self._classes()[not isinstance(store, CSR)]._new(store))


def as_mask(value: Any) -> Mask:
    """Return a mask from ``.S``, ``.V``, their complements, or a boolean Matrix or Vector (which means ``.V``)."""
    if isinstance(value, MaskView):
        return value._mask
    store = getattr(value, "store", None)
    if not isinstance(store, (CSR, VectorStore)):
        raise InvalidMask(
            f"a mask is .S or .V of a Matrix or Vector, or a boolean one; got {type(value).__name__} (make one by "
            f"Matrix.from_dense, Vector.from_dense or io.from_scipy_sparse)"
        )
    if store.dtype != dtypes.BOOL:
        raise InvalidMask(
            f"a mask must be boolean or say what it means: use .S (where entries are stored) or .V (where they are "
            f"nonzero) on this {type(value).__name__} of {store.dtype}"
        )
    return Mask(store, structural=False, complement=False)


def as_write(mask: Any = None, accum: Any = None, replace: bool = False) -> Write:
    """Return a write with its mask and operator resolved."""
    return parse_write((), mask, accum, replace)


def parse_write(parts: tuple[Any, ...], mask: Any, accum: Any, replace: bool) -> Write:
    """Return the write of ``C(*parts, mask=, accum=, replace=)``: mask, accumulator and `replace`, in any order."""
    for part in parts:
        if isinstance(part, Replace):
            replace = True
        elif isinstance(part, (MaskView, list, tuple)) or hasattr(type(part), "store") or getattr(part, "ndim", None):
            if mask is not None:
                raise InvalidMask("two masks were given")
            mask = part
        elif part is not None:
            if accum is not None:
                raise InvalidType("two accumulators were given")
            accum = part
    if mask is not None:
        mask = mask._mask if type(mask) is MaskView else as_mask(mask)
    if accum is not None:
        accum = operators.lookup_binary(accum)
    return write_of((mask, accum, bool(replace), None))


@methods_report_memory
class Target(_NoValue, Generic[T]):
    """``C(mask, accum, replace)``, or a region of it.

    sub: the mask and `replace` concern the region alone, ``C[I, J](mask)``, not all of C, ``C(mask)[I, J]``, or of
    the row i, ``C(m)[i, J]`` with a Vector m.

    Examples
    --------
    >>> w, m = Vector.from_dense([1, 2, 3]), Vector.from_coo([0, 2], True, size=3)
    >>> (w(m.S, accum="plus") << 10).to_dict(), (w(m.S)[1:] << 0).to_dict()
    ({0: 11, 1: 2, 2: 13}, {0: 11, 1: 2, 2: 0})
    """

    __slots__ = ("_object", "_region", "_sub", "_write")
    _hint = "it is the left side of <<, as in C(mask, accum) << x"

    def __init__(self, target: T, write: Write = PLAIN, region: Any = None, *, sub: bool = False) -> None:
        self._object: Any = target
        self._write, self._region, self._sub = write, region, sub

    @classmethod
    def _of(cls, target: Any, write: Write) -> Target[Any]:
        """Return the target of a whole object; without a call of the constructor, as every write makes one."""
        made = object.__new__(cls)
        made._object, made._write, made._region, made._sub = target, write, None, False
        return made

    def __lshift__(self, value: Any) -> T:
        try:
            if self._region is None:
                self._object._assign(value, self._write)
            else:
                self._object._assign_region(self._region, value, self._write, sub=self._sub)
        except Exception as error:  # as `reports_memory`, without a call
            if is_shortage(error):
                raise out_of_memory("update", "cpu", error) from error
            raise
        return self._object  # type: ignore[no-any-return]

    def update(self, value: Any) -> T:
        """Write `value`: ``C(mask, accum).update(x)`` is ``C(mask, accum) << x``; returns C.

        Parameters
        ----------
        value : an object of the shape of the target, or a scalar for all its positions

        Raises
        ------
        DimensionMismatch, DomainMismatch, InvalidValue, DeviceMismatch

        Examples
        --------
        >>> w, m = Vector.from_dense([1, 2, 3]), Vector.from_coo([0, 2], True, size=3)
        >>> w(m.S, accum="plus").update(10).to_dict()
        {0: 11, 1: 2, 2: 13}
        """
        return cast(T, self << value)

    def __getitem__(self, key: Any) -> Target[T]:
        """C(mask, accum)[I, J], the left side of ``<<`` for a region.

        Mask and `replace` concern all of C.  A Vector is the mask of one row, ``C(m)[i, J]``, or of one column,
        ``C(m)[I, j]``, and as long as that; other rows (columns) do not change.

        Parameters
        ----------
        key : an index of the object: see `Matrix.__getitem__`

        Raises
        ------
        InvalidType
            If a region is given already, and for a Scalar.

        Examples
        --------
        >>> w, m = Vector.from_dense([1, 2, 3]), Vector.from_coo([0, 2], True, size=3)
        >>> (w(m.S)[1:] << 0).to_dict()
        {0: 1, 1: 2, 2: 0}
        >>> (Matrix.from_dense([[1, 2, 3], [4, 5, 6]])(m.S)[1, [2, 1]] << [7, 8]).to_dicts()
        {0: {0: 1, 1: 2, 2: 3}, 1: {0: 4, 1: 5, 2: 7}}
        """
        if self._region is not None:
            raise InvalidType("the region is given already")
        if self._object.ndim == 0:
            raise InvalidType("a Scalar has no elements")
        return Target(self._object, self._write, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self[key] << value

    def __delitem__(self, key: Any) -> None:
        """Delete the entries of a region, where the mask admits: ``del C(mask)[I, J]``."""
        self[key] << self._object._scalar_class(bool)

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        """Raise InvalidType: the parts of a write are given once.

        Examples
        --------
        >>> w = Vector.from_dense([1, 2, 3])
        >>> w(accum="plus")(w.S)
        Traceback (most recent call last):
            ...
        semiring.exceptions.InvalidType: mask and accumulator are given already: ...
        """
        raise InvalidType("mask and accumulator are given already: C(mask, accum)[I, J] << x, or C[I, J](mask) << x")

    def __repr__(self) -> str:
        return f"<left side of <<: a {type(self._object).__name__}; nothing is written until a value follows>"


def checked_wait(how: str) -> None:
    """Raise InvalidValue unless `how` is a mode of GraphBLAS's wait."""
    if how not in ("materialize", "complete"):
        raise InvalidValue(f'wait: how must be "materialize" or "complete", got {how!r}')
