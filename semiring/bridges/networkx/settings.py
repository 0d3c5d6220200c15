"""The settings of the backend: ``nx.config.backends.semiring``."""

from __future__ import annotations

from numbers import Real
from typing import Any

import networkx as nx

from semiring.config import checked_device, config, default_device
from semiring.exceptions import InvalidValue

__all__ = ["check", "device", "device_name", "minimum_size"]


def _setting(name: str) -> Any:
    """Return a setting; None where the backend is not registered with NetworkX."""
    try:
        return getattr(nx.config.backends.semiring, name)
    except AttributeError:
        return None


def check() -> None:
    """Raise the error of a device that is none, or is not available; cheaper than `device`."""
    try:  # as `_setting`, without a call: NetworkX asks before every dispatch
        chosen = nx.config.backends.semiring.device
    except AttributeError:
        return
    if chosen is not None:
        checked_device(str(chosen))


def device() -> str:
    """Return where matrices are made; InvalidValue or NotSupported for a setting that is no device of this machine."""
    chosen = _setting("device")
    return default_device() if chosen is None else checked_device(str(chosen))


def device_name() -> str:
    """Return the device as it is set, ``"auto"`` for the GPU if there is one; it is not looked for."""
    return str(_setting("device") or config.device)


def minimum_size() -> float | None:
    """Return the nodes and edges from which every function runs; None where the measured costs decide."""
    found = _setting("minimum_size")
    if found is not None and (not isinstance(found, Real) or found != found):
        raise InvalidValue(f"nx.config.backends.semiring.minimum_size: expected a number or None, got {found!r}")
    return None if found is None else float(found)
