"""The registry of kinds: those of this folder, and those that users define elsewhere."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from bayeskit.errors import TableError
from bayeskit.kinds.kind import KINDS, Kind
from bayeskit.table.schema import Variable


def kinds() -> dict[str, Kind]:
    """Return each kind by its name.

    Examples
    --------
    >>> list(kinds())[:7]
    ['categorical', 'bernoulli', 'binned', 'gaussian', 'kde', 'lognormal', 'poisson']
    """
    _import_files()
    return _made(tuple(KINDS.values()))


@cache
def _made(classes: tuple[type[Kind], ...]) -> dict[str, Kind]:
    return {kind.name: kind() for kind in classes}


@cache
def _import_files() -> None:
    # Defining a kind lists it.
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem != "__init__":
            import_module(f"bayeskit.kinds.{path.stem}")


def words() -> dict[str, Kind]:
    """Return each word that a user may give for a column, such as ``kinds={"age": "gaussian"}``, with its kind.

    >>> words()["equal-width"].name
    'binned'
    """
    return {word: kind for kind in kinds().values() for word in kind.words}


def number_words() -> tuple[str, ...]:
    """Return the words that a user may give for numeric columns: the numeric kinds, and ways of binning.

    >>> number_words()[:4]
    ('gaussian', 'kde', 'lognormal', 'poisson')
    """
    numeric = [word for word, kind in words().items() if not kind.coded]
    return (*numeric, *(word for word, kind in words().items() if kind.coded and word != kind.name))


def kind_of(variable: Variable) -> Kind:
    """Return the kind of a column; an unknown name is an error.

    >>> kind_of(Variable("height", "gaussian")).description
    'a normal density'
    """
    kind = kinds().get(variable.kind)
    if kind is None:
        raise TableError(
            f"column '{variable.name}' is of kind '{variable.kind}'; this version knows {', '.join(kinds())}."
        )
    return kind
