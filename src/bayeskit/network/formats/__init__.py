"""Network files, one file per format; the extension of a path decides."""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING

from bayeskit.errors import NetworkError
from bayeskit.network.cpd.link import LinkCPD
from bayeskit.network.formats.network_format import known_extensions
from bayeskit.network.formats.network_parts import Parts, check_parents
from bayeskit.network.formats.paths import format_of, is_network_file, load_text, save_text

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

__all__ = ["is_network_file", "read", "write"]


def read(path: str | os.PathLike[str], normalize: bool = False) -> Parts:
    """Read the parts of a network; names, numbers, rows and arcs are checked."""
    form, packed = format_of(path)
    source = load_text(path, packed)
    return check_parents(source, form.read(source, normalize))


def write(net: BayesianNetwork, path: str | os.PathLike[str]) -> None:
    """Write a network in the format of the path's extension."""
    form, packed = format_of(path)
    if net.real and not form.holds_real:
        able = sorted(ext for ext, cls in known_extensions().items() if cls.holds_real)
        raise NetworkError(
            f"{net.real[0]!r} is a real variable, which {form.name} files cannot hold; write {', '.join(able)} or "
            ".bayes."
        )
    linked = [name for name, cpd in zip(net.names, net.cpds, strict=True) if isinstance(cpd, LinkCPD)]
    if linked:
        raise NetworkError(
            f"{linked[0]!r} is discrete and has real parents, which {form.name} files cannot hold; write .bayes."
        )
    for name in chain(net.names, *net.states):
        if name != name.strip() or not name.isprintable():
            raise NetworkError(
                f"the name {name!r} begins or ends with a space or holds a control character; rename it."
            )
    save_text(form.write(net), path, packed)
