"""Settings of the library: one object, checked names, environment variables, and a context manager.

A misspelt setting raises an error.  `Config.set` changes settings, and `use` the device of new objects (and, for
``"reference"``, the engine), permanently or inside a `with` block.

Settings are process-wide: every thread reads the same ones, and a change applies to the next call of each thread.
`with` blocks of two threads that overlap restore in the order in which they end, so settings are best changed by one
thread, before the others start.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from .devices import Device, named
from .exceptions import InvalidValue, NotSupported, near_names
from .optional import installed, missing
from .strategies import STRATEGIES
from .worker_thread import apart_once

_DEVICES = ("auto", "cpu", "cuda")
_ENGINES = ("cpu", "reference")
_DIRECTIONS = ("auto", "push", "pull")


def _default_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "semiring"


@dataclass
class Config:
    """The settings; `semiring.config` is the only instance.

    A setting is an attribute: reading it returns the value, assigning to it changes it for all threads.

    Attributes
    ----------
    device : ``"auto"``, ``"cpu"`` or ``"cuda"``
        The device of new objects and of converted arrays; ``"auto"`` is the GPU if present.  Or the device of a grid
        of processes (`semiring.distributed.Grid`).
    cpu_engine : ``"cpu"`` or ``"reference"``
        The engine of objects on the CPU: numba, or the specification.
    direction : ``"auto"``, ``"push"`` or ``"pull"``
        ``"auto"`` chooses push or pull by the cost model; the others force one, for experiments.
    strategy : str
        How breadth-first searches on a GPU divide the work of a level and choose directions: ``"auto"``, or a strategy
        of the literature, for experiments (``"dynamic"``, ``"chunked"``, ``"warp"``, ``"adaptive"``,
        ``"expand_contract"``, ``"contract_expand"``, ``"two_phase"``, ``"hybrid"``, ``"direction_optimizing"``,
        ``"direct_emission"``).  Levels are the same; of several parents any one is found, as always.  It applies to
        closures whose entries are final on arrival; other operations, the CPU engine and matrices in host memory that
        are streamed do not read it.
    device_memory : int, str or None
        The bytes of GPU memory that the library may hold, a number or text such as ``"5.8 GB"`` or ``"512 MiB"``
        (converted to a number); None is all memory.  What it covers: `semiring.memory.budget`.
    hyper_switch : float
        A matrix of at least 2^20 rows is hypersparse if at most this share of them has entries; 0 for none but those
        that `Matrix.convert` makes so.
    bitmap_switch : float
        The result of an operation on a bitmap matrix is one if at least this share of its positions has entries, else
        it has rows; 0: no result is one, except those that have all entries of a bitmap operand.
    fusion : bool
        Let kernels fuse mask, accumulator and replace; off, every write is composed step by step.
    cache_dir : str or path
        The folder of compiled kernels.
    shared_cache : paths
        Folders of compiled kernels that are read and never written, such as one that the users of a machine share; text
        separates them as PATH does.
    quiet : bool
        Write nothing to standard error while kernels compile for the first time.
    replicated_share : float
        The share of its free memory that a process of a grid may use to hold an operand as a whole; 0: none.
    collective_timeout : float
        Seconds without progress of a process of a grid for which another waits, before that one raises
        `CollectiveTimeout`, which ends the program; 0: without an end.  A process that computes makes progress.

    Examples
    --------
    >>> sr.config.direction
    'auto'
    """

    device: str = "auto"
    cpu_engine: str = "cpu"
    direction: str = "auto"
    strategy: str = "auto"
    device_memory: int | None = None
    hyper_switch: float = 1 / 64
    bitmap_switch: float = 1 / 8
    fusion: bool = True
    cache_dir: Path = field(default_factory=_default_cache)
    shared_cache: tuple[Path, ...] = ()
    quiet: bool = False
    replicated_share: float = 1 / 4
    collective_timeout: float = 300.0

    def __setattr__(self, name: str, value: Any) -> None:
        _assign(self, _checked({name: value}))

    def set(self, **changes: Any) -> Changed:
        """Change settings immediately.

        Parameters
        ----------
        **changes : settings by name, with their new values

        Returns
        -------
        Changed: a context manager that restores the settings that it changed, also after an exception.

        Raises
        ------
        InvalidValue
            For a setting that does not exist (the message lists the closest name) or an invalid value; then no
            setting is changed.

        Examples
        --------
        >>> with sr.config.set(direction="push"):
        ...     sr.config.direction
        'push'
        >>> sr.config.direction
        'auto'
        """
        return Changed(self, changes)


class Changed:
    """Settings that were changed: permanently as a statement, until the end of the block in a `with` statement.

    Made by `Config.set` and `use`, which change the settings before they return it.  It may be entered repeatedly and
    changes the same settings each time; blocks nest: the end of a block restores the settings of its beginning.
    """

    def __init__(self, settings: Config, changes: Mapping[str, Any]) -> None:
        self._settings, self._changes = settings, _checked(changes)
        self._found: list[dict[str, Any]] = []
        # Whether the last change has not been entered by a `with` statement yet.
        self._open = True
        self._change()

    def _change(self) -> None:
        found = {name: getattr(self._settings, name) for name in self._changes}
        try:
            _assign(self._settings, self._changes)
        except BaseException:  # a listener failed: restore the settings
            _assign(self._settings, found)
            raise
        self._found.append(found)

    def __enter__(self) -> Config:
        if self._open:
            self._open = False
        else:
            self._change()
        return self._settings

    def __exit__(self, *_: object) -> None:
        _assign(self._settings, self._found.pop())

    def __repr__(self) -> str:
        return f"<settings changed: {', '.join(f'{name}={value!r}' for name, value in self._changes.items())}>"


def _checked(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes with values converted to the types of the settings; InvalidValue if one is invalid."""
    made = {}
    for name, value in changes.items():
        check = _CHECKS.get(name)
        if check is None:
            close = near_names(name, _CHECKS)
            hint = f"did you mean {close[0]!r}?" if close else f"settings are: {', '.join(_CHECKS)}"
            raise InvalidValue(f"config has no setting {name!r}; {hint}")
        made[name] = check(f"config.{name}", value)
    return made


def _assign(settings: Config, values: Mapping[str, Any]) -> None:
    """Set all settings before any listener runs, so that none reads a partial change."""
    for name, value in values.items():
        object.__setattr__(settings, name, value)
    for name in values:
        for function in _listeners.get(name, ()):
            function()


def _device(place: str, value: Any) -> str:
    if isinstance(value, str) and (found := named(value)) is not None:
        return found
    return _one_of(_DEVICES)(place, value)  # type: ignore[no-any-return]


def _one_of(allowed: tuple[str, ...]) -> Any:
    def check(place: str, value: Any) -> str:
        if isinstance(value, str) and value in allowed:
            return value
        raise InvalidValue(f"{place} must be one of {', '.join(allowed)}; got {value!r}")

    return check


def _flag(place: str, value: Any) -> bool:
    text = str(value).lower()
    if text in ("1", "true", "yes", "on"):
        return True
    if text in ("0", "false", "no", "off"):
        return False
    raise InvalidValue(f"{place} must be true or false; got {value!r}")


def _path(place: str, value: Any) -> Path:
    if not isinstance(value, (str, os.PathLike)) or not os.fspath(value):
        raise InvalidValue(f"{place} must be the path of a folder; got {value!r}")
    return Path(value)


def _paths(place: str, value: Any) -> tuple[Path, ...]:
    given = [part for part in value.split(os.pathsep) if part] if isinstance(value, str) else value
    if isinstance(given, os.PathLike):
        given = [given]
    try:
        return tuple(_path(place, part) for part in given)
    except TypeError:
        raise InvalidValue(f"{place} must be paths of folders; got {value!r}") from None


_UNITS = {"": 1, "b": 1} | {
    f"{prefix}{ending}": base**power
    for power, prefix in enumerate("kmgt", 1)
    for ending, base in (("b", 1000), ("ib", 1024))
}


def _bytes(place: str, value: Any) -> int | None:
    if value is None or (isinstance(value, str) and value.strip().lower() in ("", "none")):
        return None
    count = -1
    if isinstance(value, str):
        found = re.fullmatch(r"\s*((?:[0-9]{1,3}(?:[_,][0-9]{3})+|[0-9]+)(?:\.[0-9]*)?)\s*([a-zA-Z]*)\s*", value)
        unit = None if found is None else _UNITS.get(found.group(2).lower())
        if found is not None and unit is not None:
            count = int(float(re.sub("[_,]", "", found.group(1))) * unit)
    elif hasattr(value, "__index__") and not isinstance(value, bool):
        count = value.__index__()
    if count < 1:
        raise InvalidValue(f"{place} must be None or bytes, as in 2_000_000_000, '5.8 GB' or '512 MiB'; got {value!r}")
    return count


def _share(place: str, value: Any) -> float:
    try:
        share = -1.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        share = -1.0
    if not 0.0 <= share <= 1.0:
        raise InvalidValue(f"{place} must be a number from 0 to 1; got {value!r}")
    return share


def _seconds(place: str, value: Any) -> float:
    try:
        seconds = -1.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise InvalidValue(f"{place} must be a number of seconds, 0 for no limit; got {value!r}")
    return seconds


_CHECKS: dict[str, Any] = {
    "device": _device,
    "cpu_engine": _one_of(_ENGINES),
    "direction": _one_of(_DIRECTIONS),
    "strategy": _one_of(tuple(STRATEGIES)),
    "device_memory": _bytes,
    "hyper_switch": _share,
    "bitmap_switch": _share,
    "fusion": _flag,
    "cache_dir": _path,
    "shared_cache": _paths,
    "quiet": _flag,
    "replicated_share": _share,
    "collective_timeout": _seconds,
}


# Functions to call when a setting changes; they read the setting themselves.
_listeners: dict[str, list[Callable[[], None]]] = {}


def on_change(name: str, function: Callable[[], None]) -> None:
    """Call `function` whenever the setting `name` is set, and when a GPU has been found."""
    _listeners.setdefault(name, []).append(function)


_PREFIX = "SEMIRING_"
_ELSEWHERE = ("SEMIRING_TEST_DATA",)  # read by the tests, not by the library


def _from_environment(environment: Mapping[str, str]) -> tuple[Config, list[str]]:
    """Return the settings with the values of SEMIRING_DEVICE, SEMIRING_CACHE_DIR and so on, and error messages.

    SEMIRING_DEVICE=reference has the effect of ``use("reference")``.  A variable without a setting is an error too.
    """
    config, wrong = Config(), []
    known = {_PREFIX + item.name.upper(): item.name for item in fields(Config)}
    for variable, value in environment.items():
        if not variable.startswith(_PREFIX) or variable in _ELSEWHERE:
            continue
        name = known.get(variable)
        if name is None:
            close = near_names(variable, known)
            hint = f"did you mean {close[0]}?" if close else f"known are: {', '.join(known)}"
            wrong.append(f"the environment variable {variable} is not a setting; {hint}")
        elif name == "device" and value == "reference":
            config.device, config.cpu_engine = "cpu", "reference"
        else:
            try:
                setattr(config, name, _CHECKS[name](f"the environment variable {variable}", value))
            except InvalidValue as error:
                wrong.append(str(error))
    return config, wrong


# Errors are raised at the first use: raised on import they would show the user of a command a traceback.
config, _wrong_variables = _from_environment(os.environ)


def check_environment() -> None:
    """Raise InvalidValue if a ``SEMIRING_*`` variable has an invalid value, or is not a setting."""
    if _wrong_variables:
        raise InvalidValue("; ".join(_wrong_variables))


_cuda: bool | None = None
_cuda_lock = threading.Lock()


def cuda_available() -> bool:
    """Return whether CuPy is installed and finds at least one GPU (determined once).

    Examples
    --------
    >>> sr.Vector(int, 3, device="cuda" if sr.cuda_available() else "cpu").size
    3
    """
    global _cuda
    if _cuda is None:
        with _cuda_lock:
            found = _cuda is None
            if _cuda is None:
                _cuda = apart_once("cuda", _probe_cuda)  # an interrupt would leave CuPy half-imported
        if _cuda and found:
            for function in (function for functions in _listeners.values() for function in functions):
                function()
    return _cuda


def _probe_cuda() -> bool:
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "":
        return False
    # Querying the driver library is fast; importing CuPy costs 0.4 s, also on a machine without a GPU.
    import ctypes

    for name in ("libcuda.so.1", "nvcuda.dll"):
        try:
            driver = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        return False
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        return False
    try:
        import cupy  # noqa: F401
    except ImportError:
        return False
    return True


def default_device() -> str:
    """Return the device of new objects, ``"cuda"`` or ``"cpu"``; InvalidValue for invalid environment variables."""
    check_environment()
    if config.device == "auto":
        return "cuda" if cuda_available() else "cpu"
    return checked_device(config.device)


def checked_device(device: str) -> str:
    """Return `device`; InvalidValue if it is not a device, NotSupported if it is not available."""
    if device == "cuda" and not cuda_available():
        if not installed("cupy"):
            raise missing("device 'cuda'", "cupy")
        raise NotSupported("device 'cuda': CuPy finds no GPU, or no driver; use 'cpu'")
    if device in ("cpu", "cuda"):
        return device
    if (found := named(device)) is None:
        raise InvalidValue(f"a device is 'cpu' or 'cuda', or that of a grid of processes; got {device!r}")
    return found


def engine_for(device: str) -> str:
    """Return the engine that computes on a device; one that has an executor is an engine of its own."""
    if type(device) is Device:
        return device
    return "cuda" if device == "cuda" else config.cpu_engine


class use(Changed):
    """Choose the device of new objects: ``use("cpu")``, ``use("cuda")``, or ``use("reference")``.

    The change is immediate; a `with` block restores the device at its end.

    Parameters
    ----------
    where : ``"cpu"``, ``"cuda"``, ``"auto"``; or ``"reference"``, the CPU with the executable specification as its
        engine (slow, for checking); or the device of a grid of processes

    Raises
    ------
    InvalidValue
        For anything else.
    NotSupported
        For ``"cuda"`` where there is no GPU.

    Examples
    --------
    >>> with sr.use("cpu"):
    ...     v = Vector.full(1.0, 3)
    >>> v.device
    'cpu'
    """

    def __init__(self, where: str) -> None:
        if where not in ("cpu", "cuda", "reference", "auto") and named(str(where)) is None:
            raise InvalidValue(
                f"use() takes 'cpu', 'cuda', 'reference', 'auto', or the device of a grid of processes; got {where!r}"
            )
        if where == "cuda":
            checked_device(where)
        device, engine = ("cpu", "reference") if where == "reference" else (where, "cpu")
        super().__init__(config, {"device": device, "cpu_engine": engine})
