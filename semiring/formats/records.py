"""Records that are made in every call (stores, requests to engines), and attributes that they compute once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from typing import Any, Generic, Self, TypeVar, dataclass_transform, overload

C = TypeVar("C", bound=type[Any])
T = TypeVar("T")


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def record(cls: C) -> C:
    """Decorate a class: ``dataclass(eq=False)``, frozen for type checkers.

    Records are compared by identity.  Type checkers report an assignment to a field; nothing checks it at run time,
    because a class with such a check stores each field by a call, as the constructor of a frozen dataclass does.
    A class may state an expression of its fields, `invariant`, which the constructor asserts.  A pickle has the fields
    without what is derived from them.

    The constructor is generated when the first record of the class is made: the import of this package defines eighty
    classes, and a program uses few.
    """
    made: Any = dataclass(init=False, repr=False, eq=False)(cls)

    def first(self: Any, *values: Any, **named: Any) -> None:
        made.__init__ = constructor = _constructor(made)
        constructor(self, *values, **named)

    made.__init__, made.__getstate__, made.__repr__ = first, _state, _repr
    return made  # type: ignore[no-any-return]


def _repr(self: Any) -> str:
    shown = (f"{item.name}={getattr(self, item.name)!r}" for item in fields(self) if item.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _state(self: Any) -> dict[str, Any]:
    """Return the fields; of those that collect what is derived (`facts`, `cache`) the flags and numbers."""
    state = {item.name: self.__dict__[item.name] for item in fields(self) if item.name in self.__dict__}
    for item in fields(self):
        if item.default_factory is dict:
            state[item.name] = {key: value for key, value in state[item.name].items() if isinstance(value, (bool, int))}
    return state


def _constructor(cls: type[Any]) -> Callable[..., None]:
    """Return ``__init__`` with the parameters of the fields; generated as source text, as in `namedtuple`."""
    parameters, body, defaults = ["self"], ["pass"], {}
    for item in fields(cls):
        if not item.init:
            continue  # its default is an attribute of the class
        name = item.name
        value = name
        if item.default is not MISSING:
            defaults[f"default_{name}"] = item.default
            parameters.append(f"{name}=default_{name}")
        elif item.default_factory is not MISSING:
            defaults[f"make_{name}"], defaults["missing"] = item.default_factory, MISSING
            parameters.append(f"{name}=missing")
            value = f"make_{name}() if {name} is missing else {name}"
        else:
            parameters.append(name)
        body.append(f"self.{name} = {value}")
    if hasattr(cls, "invariant"):
        body.append(f"assert {cls.invariant}")
    text = f"def __init__({', '.join(parameters)}):\n" + "".join(f"    {line}\n" for line in body)
    made: dict[str, Any] = dict(defaults)
    exec(text, made)
    constructor: Callable[..., None] = made["__init__"]
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    return constructor


def tuple_of(cls: type[T]) -> Callable[[tuple[Any, ...]], T]:
    """Return the function that makes a named tuple of the tuple of all its fields, without a call of Python code."""
    return partial(tuple.__new__, cls)  # type: ignore[type-var]


class derived(Generic[T]):
    """A property of an immutable object, computed at its first read and then an attribute of the instance.

    Later reads call no Python code.  Two threads that read it first compute the same value, so there is no lock
    (`functools.cached_property` has one in Python 3.11).
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any]) -> T: ...
    def __get__(self, instance: object | None, owner: type[Any]) -> Self | T:
        if instance is None:
            return self
        value = self._compute(instance)
        setattr(instance, self._name, value)
        return value
