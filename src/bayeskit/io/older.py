"""What older versions of the file format wrote in another way, and how it is read today."""

from __future__ import annotations

from typing import Any

from bayeskit.io.container import Contents


def upgraded(contents: Contents) -> dict[str, Any]:
    """Return the fields of a file as the newest version of the format has them.

    Version 1 gave ``max_memory`` in GiB; since version 2 it is in bytes, or text such as "4 GiB".
    """
    meta = contents.meta
    if contents.version == 1 and "believed_with" in meta:
        meta = {**meta, **{part: _in_bytes(meta[part]) for part in ("parameters", "believed_with")}}
    return meta


def _in_bytes(parameters: dict[str, Any]) -> dict[str, Any]:
    if "max_memory" not in parameters:
        return parameters
    return {**parameters, "max_memory": parameters["max_memory"] * 2.0**30}
