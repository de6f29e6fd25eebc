"""Networks in files and in other libraries; mixed into `BayesianNetwork`."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import NDArray

from bayeskit.io.model_files import save
from bayeskit.network import formats
from bayeskit.network.arcs import read_networkx
from bayeskit.network.cpd.distribution import Distribution
from bayeskit.network.cpd.table import TableCPD
from bayeskit.network.model_file import (
    learned_from_parts,
    network_from_parts,
    network_to_parts,
    properties_from_parts,
)

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork


class Exchange:
    """Reading and writing of network files, model files and ``networkx`` graphs."""

    @classmethod
    def read(cls, path: str | PathLike[str], *, normalize: bool = False) -> BayesianNetwork:
        """Read a network from a file of another program; the extension decides, and .gz is unpacked.

        What the file says beside variables and numbers (titles, notes, places in the drawing) is kept in `properties`.

        Parameters
        ----------
        path : path
            BIF (``.bif``), XMLBIF (``.xmlbif``, ``.bifxml``, ``.xml``), GeNIe (``.xdsl``), Netica (``.dne``,
            ``.dnet``), Hugin (``.net``), Microsoft (``.dsc``), pyAgrum and pgmpy (``.jgum``, ``.json``), UAI
            (``.uai``), DOT (``.dot``, ``.gv``), also with ``.gz``.
        normalize : bool, default False
            Divide each row by its sum, for files whose rows do not sum to 1.
        """
        parts = formats.read(path, normalize)
        cpds = [table if isinstance(table, Distribution) else TableCPD(cast(Any, table)) for table in parts.tables]
        net = cast("type[BayesianNetwork]", cls).__new__(cast(Any, cls), tables=dict(enumerate(cpds)))
        net.names = tuple(parts.names)
        net.states = tuple(parts.states)
        net.cards = tuple(map(len, parts.states))
        net.parents = tuple(parts.parents)
        net.cpds = tuple(cpds)
        net.target = None
        net.properties = {name: dict(said) for name, said in parts.properties.items() if said}
        return net

    def write(self, path: str | PathLike[str]) -> None:
        """Write the network to a file; the extension decides on the format, as in `read`.

        Every number is written so that it reads back as the same. Formats with plain names only hold the full names
        too, beside them. A file of that name is replaced.
        """
        formats.write(cast("BayesianNetwork", self), path)

    def to_networkx(self) -> Any:
        """Return a ``networkx.DiGraph`` whose nodes carry ``states``, ``parents`` and ``table``."""
        import networkx

        net = cast("BayesianNetwork", self)
        graph = networkx.DiGraph()
        for name, states, above, table in zip(net.names, net.states, net.parents, net.tables, strict=True):
            graph.add_node(name, states=states, parents=tuple(net.names[p] for p in above), table=table.copy())
        graph.add_edges_from(net.arcs)
        return graph

    @classmethod
    def from_networkx(cls, graph: Any, *, random_tables: int | None = None) -> BayesianNetwork:
        """Make a network from a ``networkx.DiGraph``; nodes may carry ``states``, ``parents`` (an order) and ``table``.

        Examples
        --------
        >>> import networkx
        >>> from bayeskit import BayesianNetwork
        >>> BayesianNetwork.from_networkx(networkx.DiGraph([("A", "B"), ("B", "C")])).arcs
        (('A', 'B'), ('B', 'C'))
        """
        return cast("type[BayesianNetwork]", cls)(**read_networkx(graph), random_tables=random_tables)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file: fields for JSON, and arrays."""
        return network_to_parts(cast("BayesianNetwork", self))

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> BayesianNetwork:
        """Read what :meth:`to_parts` gave; the file may be untrusted."""
        net = cast("type[BayesianNetwork]", cls).from_tables(**network_from_parts(meta, arrays))
        net._learned = learned_from_parts(meta, arrays, net)
        net.properties = properties_from_parts(meta)
        return net

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Save the network to a model file (.bayes); `bayeskit.load` reads it back to the last bit.

        A file that bayeskit did not write is refused, unless ``force`` says that it may be replaced.
        """
        save(cast("BayesianNetwork", self), path, force=force)
