"""What a network format is: extensions, a reader and a writer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from bayeskit.network.formats.network_parts import FileText, Parts
from bayeskit.network.registry import Registry

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

FORMATS: Registry[NetworkFormat] = Registry("network format", "bayeskit.network.formats")


class NetworkFormat(ABC):
    """A format of network files.

    A format is a file in this folder with a class that has a name; nothing else lists it. A class that is defined
    elsewhere is known from then on too.
    """

    # What the format is called.
    name: ClassVar[str]
    # The extensions of its files, each with its dot and in lower case; the first is the usual one.
    extensions: ClassVar[tuple[str, ...]]
    # Whether its files can hold real variables.
    holds_real: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        FORMATS.add(cls)

    @abstractmethod
    def read(self, source: FileText, normalize: bool) -> Parts:
        """Read the text of a file; ``source.fault(position, message)`` refuses it with line and column.

        `checked_rows` turns numbers into a table and checks its size and sums; names and cycles are checked afterwards.
        """

    @abstractmethod
    def write(self, net: BayesianNetwork) -> str:
        """Return the text of a file that reads back as the same network, to the last bit."""


def known_extensions() -> dict[str, type[NetworkFormat]]:
    """Return the format of each extension.

    Examples
    --------
    >>> known_extensions()[".gv"].name
    'dot'
    """
    return {extension: cls for cls in FORMATS.classes.values() for extension in cls.extensions}
