"""A matrix with several slices, and how a request for it is executed."""

from __future__ import annotations

from typing import Any

from semiring.dtypes import INT64
from semiring.engines import recording, registry
from semiring.formats import CSR
from tests.compare import device_for, place
from tests.draw import make_matrix
from tests.storage_kinds import in_kind, small_slices

BLOCKS = make_matrix(130, 130, INT64, 0.2, False, 7)


def on_host(a: CSR, engine: str) -> CSR:
    return in_kind(place(a, device_for(engine)), None, "host", engine)


def details(name: str, spec: Any, engine: str) -> dict[str, Any]:
    """The details that the sliced call recorded."""
    with small_slices(), recording.listen() as log:
        registry.run(spec, engine)
    (found,) = [call.details for call in log if call.operation == name and call.details.get("kernel") == "sliced"]
    return found


def in_slices(spec: Any, engine: str) -> bool:
    """False where the engine has its own implementation, which may skip smaller units."""
    found = registry.find(spec, engine)
    assert found is not None
    return found.about == f"{spec.name} slice by slice"
