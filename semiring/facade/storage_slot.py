"""What a Matrix or Vector holds: a store, an operation that is not executed yet, or writes that are not applied yet.

Exactly one of three is current:

- `_store`, if it is not None;
- else `_plan`, if it is not None: an operation, whose result becomes the store when it is used;
- else `_elements`: a store with logged writes to single elements, or with batches of changes, which any use of the
  whole object applies; or, during a write, the lease of the store (`ops.update`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, cast

import numpy as np

from ..engines.programs import traced
from ..exceptions import InvalidType
from ..formats import CSR, VectorStore
from ..ops import check
from ..ops.assign import write_element
from ..ops.elements import Elements, Position
from ..ops.extract import element
from ..ops.update import Lease, may_lease
from ..ops.write import Plan, Write
from ..storage.changes import Changes
from ..symbolic import Symbolic
from . import axis_labels
from .axis_labels import Labeled
from .chain import Chain
from .migration_errors import Named
from .operand import is_empty, scalar
from .scalar import Scalar

if TYPE_CHECKING:
    pass

StoreT = TypeVar("StoreT", CSR, VectorStore)

# Attributes through which other packages of this library reach what an object holds; they are not public.
_INTERNAL = frozenset({"operand", "store", "unlabeled", "with_store"})


class Holder(Labeled, Generic[StoreT], metaclass=Named):
    """The holder of one store: execution of what is pending, the swap of the store, and single elements."""

    __slots__ = ("__weakref__", "_chain", "_elements", "_origin", "_plan", "_store", "_transpose_of", "name")

    _store: StoreT | None
    _plan: Plan[StoreT] | None
    _elements: Elements | Changes | Lease | None
    # The chain of unnamed operators of which this is the result; calling an operator rebinds it.
    _chain: Chain | None
    # The object and region that this one was extracted from: the target of `C[I, J] << x`.
    _origin: tuple[Any, Any] | None
    # The store or plan whose transpose this is, for `A.T`: products read that one in place.
    _transpose_of: StoreT | Plan[StoreT] | None
    name: str | None
    # The number of dimensions.
    ndim: ClassVar[int]
    # The classes of results; a package that derives its own classes sets them.
    _matrix_class: ClassVar[Any]
    _vector_class: ClassVar[Any]
    _scalar_class: ClassVar[Any] = Scalar

    @classmethod
    def _new(cls, store: StoreT | None, plan: Plan[StoreT] | None = None, *, name: str | None = None) -> Self:
        made = object.__new__(cls)
        made._store, made._plan, made.name = store, plan, name
        made._elements = made._chain = made._labels = made._origin = made._transpose_of = None
        if plan is not None and traced.users:
            traced.made(made)
        return made

    def _hold(self, store: StoreT, name: str | None) -> None:
        self._store, self.name = store, name
        self._plan = self._elements = self._chain = self._labels = self._origin = self._transpose_of = None

    def _settle_traced(self) -> None:
        """Record a pending operation in the program of a loop."""
        _ = self.store

    def __dir__(self) -> list[str]:
        """Return the names of the public interface, which completion offers."""
        return sorted(
            name for name in super().__dir__() if name not in _INTERNAL and (name[0] != "_" or name[1] == "_")
        )

    @property
    def store(self) -> StoreT:
        """The store that holds the entries; executes a pending operation and applies writes to elements."""
        store = self._store
        return self._settled() if store is None else store

    def _settled(self) -> StoreT:
        plan, elements = self._plan, self._elements
        if plan is None:  # without elements another thread has executed the plan meanwhile
            return self.store if elements is None else cast(StoreT, elements.store())
        store = self._store = plan.result()
        self._plan, self._chain = None, None if self._chain is None else self._chain.spent()
        return store

    @property
    def _described(self) -> StoreT | Plan[StoreT]:
        """The store, or the plan or the base of the log, which have its type, shape and device; executes nothing."""
        store, plan, elements = self._store, self._plan, self._elements
        if store is not None:
            return store
        if plan is not None:
            return plan
        return self.store if elements is None else cast(StoreT, elements.base)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values.

        Examples
        --------
        >>> Vector.from_coo([0, 2], [1.5, 2.5]).dtype
        dtype('float64')
        """
        store = self._store
        return self._described.dtype if store is None else store.dtype

    @property
    def device(self) -> str:
        """The device that holds the entries: ``"cpu"`` or ``"cuda"``.

        Examples
        --------
        >>> Vector(int, 3, device="cpu").device
        'cpu'
        """
        store = self._store
        return self._described.device if store is None else store.device

    def unlabeled(self) -> Self:
        """Return an object with the same entries without labels; this one if it has none."""
        if self._labels is None:
            return self
        of = self._transpose_of
        made = self._new(self.store) if of is None or self._plan is None else self._new(None, self._plan)
        made._transpose_of = of
        return made

    def _become(self, store: StoreT) -> None:
        """Swap the store, the last step of every write: an earlier exception leaves the object unchanged."""
        if traced.users:
            traced.check_target(self)
        if self._origin is not None or self._transpose_of is not None:
            raise self._belongs()
        if self._labels is not None:
            self._labels = axis_labels.fitting(self._labels, check.shape_of(store))
        self._store, self._plan, self._elements, self._chain = store, None, None, None

    def _write(self, run: Callable[[StoreT, Write], StoreT], write: Write) -> None:
        """Replace the store by ``run(store, write)``, which may update it in place if nobody else holds it."""
        if traced.users:
            traced.check_target(self)
        if write.replace or not may_lease(self._store):
            self._become(run(self.store, write))
            return
        self._check_whole()
        lease = Lease(self._store)
        try:
            self._elements, self._store = lease, None
            lease.check_holders()
            self._become(run(lease.base, Write(write.mask, write.accum, write.replace, lease)))
        except BaseException:
            if self._elements is lease:
                self._store, self._elements = lease.base, None
            raise

    def _check_whole(self) -> None:
        """Raise InvalidType if this is a part or the transpose of another object."""
        if self._origin is not None or self._transpose_of is not None:
            raise self._belongs()

    def _belongs(self) -> InvalidType:
        part = "the transpose" if self._origin is None else "a part"
        return InvalidType(
            f"this {type(self).__name__} is {part} of another object, so it is not clear which of both is to change; "
            f"{'' if self._origin is None else 'write C[I, J] << x in one expression to change C, or '}"
            f"take .dup() to change a copy"
        )

    # -- single elements ---------------------------------------------------------------------------------

    def _element(self, at: Position) -> Callable[[], Any]:
        """Return the function that reads the present value at a position; it returns None if there is none."""
        elements = self._elements
        if self._store is None and self._plan is None and isinstance(elements, Elements):
            return elements.reader(at)
        store = self.store
        return lambda: element(store, *at)

    def _write_element(self, at: Position, value: Any, accum: Any) -> None:
        """C(at) accum= value, where an empty Scalar deletes or, with an accumulator, changes nothing."""
        if traced.users and traced.RECORDER.get() is not None:
            value = scalar(value)
            value = value.traced_present() if isinstance(value, Symbolic) else value
            self._write(lambda store, write: write_element(store, at, value, write), Write(None, accum))
            return
        elements = self._log()
        if is_empty(value):
            if accum is None:
                elements.delete(at)
        elif accum is None:
            elements.set(at, scalar(value))
        else:
            elements.accumulate(at, scalar(value), accum)
        self._keep(elements)

    def _delete_element(self, at: Position) -> None:
        if traced.users and traced.RECORDER.get() is not None:
            raise traced.Untraceable("a deletion of an element")
        elements = self._log()
        elements.delete(at)
        self._keep(elements)

    def _log(self) -> Elements:
        """Return the current log, or a new one, which becomes current by `_keep` after its first write."""
        if traced.users:
            traced.check_target(self)
        self._check_whole()
        elements = self._elements
        if self._store is None and self._plan is None and isinstance(elements, Elements):
            return elements
        return Elements(self.store)

    def _keep(self, elements: Elements) -> None:
        if self._elements is not elements:
            self._elements = elements
            self._store = self._chain = None
