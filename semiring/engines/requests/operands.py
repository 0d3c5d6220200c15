"""The parts of specs: masks, orientations of a matrix, sets of positions, and the base class of all specs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

from ...formats import CSR, Array, Bitmap, Full, StorageKind, VectorStore
from ...formats.records import record

__all__ = ["Index", "Mask", "Rows", "Spec", "admitted_count", "simplified"]


@record
class Mask:
    """The positions at which results may be written.

    Admits index p if the store has an entry there (`structural`) or a nonzero entry (else); `complement`
    admits exactly the others.
    """

    store: CSR | VectorStore
    structural: bool
    complement: bool

    def negated(self) -> Mask:
        """Return the mask that admits exactly the positions that this one does not."""
        return Mask(self.store, self.structural, not self.complement)


def simplified(mask: Mask | None) -> Mask | bool:
    """Return a mask in its simplest form: True if it admits all positions, False if none.

    Otherwise it is structural, or its entries have values of their own.  Does not wait for the device.
    """
    if mask is None:
        return True
    store, structural = mask.store, mask.structural
    if not structural and store.iso is not None:
        if not store.iso:
            return mask.complement
        structural = True
    everywhere = store.pattern.every_row if isinstance(store, CSR) else isinstance(store, Full)
    if structural and everywhere:
        return not mask.complement
    return mask if structural == mask.structural else Mask(store, structural, mask.complement)


def admitted_count(mask: Mask | None, size: int) -> int:
    """Return the number of positions of a vector that a mask admits; `size` if it is not known without waiting."""
    if mask is None or not mask.structural or (isinstance(mask.store, Bitmap) and not mask.store.count.known):
        return size
    return size - mask.store.nvals if mask.complement else mask.store.nvals


class Rows:
    """A matrix orientation: available if `ready`; otherwise `get` derives it, at the cost of a transpose.

    store: the matrix, if it is available.  derive: a function that returns it otherwise.
    """

    __slots__ = ("_derive", "_store", "kind", "ready")
    kind: StorageKind | None

    def __init__(self, store: CSR | None, derive: Callable[[], CSR] | None = None) -> None:
        self._store = store
        self._derive = derive
        # True if `get` costs nothing; then the storage kind.
        self.ready, self.kind = (False, None) if store is None else (True, store.kind)

    def get(self) -> CSR:
        """Return the matrix in this orientation."""
        store = self._store
        if store is None:
            assert self._derive is not None
            store = self._store = self._derive()
            self.kind, self.ready = store.kind, True
        return store


@record
class Index:
    """An ordered set of positions: all positions, an arithmetic range, or an array.

    ``array is None`` means ``start, start + step, ...`` with `count` members.
    `size` is the extent of the indexed dimension.
    """

    size: int
    count: int
    start: int = 0
    step: int = 1
    array: Array | None = None

    @property
    def is_all(self) -> bool:
        """Return True if the set is all positions, in order."""
        return self.array is None and self.start == 0 and self.step == 1 and self.count == self.size


@record
class Spec:
    """Base class of all specs: the name under which engines register, and the fields that hold matrices."""

    name: ClassVar[str]
    # The fields that may hold a matrix, a pattern, an orientation or a mask, by their annotations; without tuples.
    matrices: ClassVar[tuple[str, ...]] = ()
    # Whether it has a field `mask`, which an implementation that fuses ``"mask"`` applies to its result.
    maskable: ClassVar[bool] = False
    # Whether it may be executed on uncompressed copies of its matrices where no implementation accepts their storage
    # kinds.  False for requests about the storage itself, and for those that `ops` composes of others.
    decodable: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        texts = _texts(cls)
        cls.maskable = "mask" in texts
        cls.matrices = tuple(name for name in _named(texts) if not texts[name].startswith("tuple["))

        def first(self: Any) -> tuple[StorageKind, ...]:
            cls.kinds = made = _kinds(texts, _named(texts))  # type: ignore[assignment, method-assign]
            return made(self)

        def first_masked(self: Any, mask: Mask) -> Any:
            cls.with_mask = made = _with_mask(cls, texts)  # type: ignore[assignment, method-assign]
            return made(self, mask)

        cls.kinds = first  # type: ignore[method-assign]
        if cls.maskable:
            cls.with_mask = first_masked  # type: ignore[method-assign]

    def kinds(self) -> tuple[StorageKind, ...]:
        """Return the storage kinds of all matrices; of a derived orientation only if it is available.

        Generated for each class from `matrices`, by its first call; this base class has none.
        """
        return ()

    def with_mask(self, mask: Mask) -> Self:
        """Return the same request with this mask, for a spec that has a mask.  Generated for each class."""
        raise NotImplementedError


def _with_mask(cls: type, texts: dict[str, str]) -> Callable[[Any, Mask], Any]:
    """Return `Spec.with_mask` for these fields, generated as source text as `_kinds` is."""
    names = [name for name, text in texts.items() if not text.startswith("ClassVar") and name != "mask"]
    lines = ["made = new(cls)", *(f"made.{name} = self.{name}" for name in names), "made.mask = mask", "return made"]
    known: dict[str, Any] = {"new": object.__new__, "cls": cls}
    exec("def with_mask(self, mask):\n" + "".join(f"    {line}\n" for line in lines), known)
    made: Callable[[Any, Mask], Any] = known["with_mask"]
    return made


def _texts(cls: type) -> dict[str, str]:
    """Return the annotations of the fields of a class."""
    return {name: str(text) for base in reversed(cls.__mro__) for name, text in _annotations(base).items()}


def _named(texts: dict[str, str]) -> list[str]:
    """Return the fields that may hold matrices."""
    return [name for name, text in texts.items() if _MATRICES.search(text)]


def _annotations(cls: type) -> dict[str, Any]:
    """Return the annotations of a class without those that it inherits."""
    return getattr(cls, "__annotations__", {})


def _kinds(texts: dict[str, str], names: Sequence[str]) -> Callable[[Any], tuple[StorageKind, ...]]:
    """Return `Spec.kinds` for these fields, generated as source text: `registry.run` calls it for every operation."""
    lines = []
    for name in names:
        if texts[name].startswith("tuple["):
            lines.append(f"found += tuple({{x.kind: None for x in self.{name}}})")
        else:
            kind = "x.store.kind" if "Mask" in texts[name] else "x.kind"
            lines.append(f"x = self.{name}\n    if x is not None and {kind} is not None: found += ({kind},)")
    text = "".join(f"    {line}\n" for line in ("found = ()", *lines, "return found"))
    known: dict[str, Any] = {}
    exec(f"def kinds(self):\n{text}", known)
    made: Callable[[Any], tuple[StorageKind, ...]] = known["kinds"]
    return made


_MATRICES = re.compile(r"\b(CSR|AnyPattern|Rows|Mask)\b")
