"""The kind of each column of a table: from the user, from an agreed schema, or from its dtype."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.defaults import BINS
from bayeskit.errors import TableError
from bayeskit.kinds import FitContext, words
from bayeskit.kinds.reader import INFER
from bayeskit.table.column import Coded, Column, unseen_code
from bayeskit.table.encode import encode_column
from bayeskit.table.names import not_found, one_of
from bayeskit.table.read import Source
from bayeskit.table.schema import Schema, Variable

Kinds = Mapping[str, str] | Mapping[int, str] | str | None


def learn_schema(
    source: Source,
    kinds: Kinds = None,
    numeric: str = "gaussian",
    bins: int = BINS,
    weight: NDArray[np.float64] | None = None,
    y: NDArray[Any] | None = None,
    *,
    texts: bool = False,
) -> Schema:
    """Return the schema: text, categories and booleans are categorical, the kind of numbers is ``numeric``.

    Parameters
    ----------
    source : Source
        The table that was read.
    kinds : dict of column name or position to kind, or one kind for all, optional
        Overrides the dtype: "numeric", or one of the words of :func:`bayeskit.kinds.words`.
    numeric : str
        What a numeric column is unless ``kinds`` says otherwise: the word of a numeric kind, or a way to cut bins.
    bins : int
        The largest number of bins.
    weight : float64 array of shape (n_rows,), optional
        Row weights, for the cutting of bins.
    y : array of shape (n_rows,), optional
        Class codes, which the cutting of bins by "mdl" needs.
    texts : bool
        Whether columns may be free text, which most models cannot read.

    Examples
    --------
    >>> from bayeskit.table.read import read_table
    >>> table = read_table({"wind": ["weak", "strong"], "visits": [0, 3]})
    >>> [(variable.name, variable.kind) for variable in learn_schema(table, kinds={"visits": "poisson"})]
    [('wind', 'categorical'), ('visits', 'poisson')]
    """
    wanted, known_words = _wanted_kinds(source, kinds), words()
    if not texts:
        _refuse_texts(wanted)
    plain = _of_plain_numbers(source, wanted, numeric)
    if plain is not None:
        return plain
    columns = [source.column(j) for j in range(len(source.names))]
    variables: list[Variable | None] = [None] * len(columns)
    # The positions of the columns that each word speaks of: a kind learns its columns together.
    asked: dict[str, list[int]] = {}
    for j, (column, name) in enumerate(zip(columns, source.names, strict=True)):
        word = wanted.get(name) or _usual(column)
        word = numeric if word == "numeric" else word
        if column.all_missing() and not (word == "categorical" and isinstance(column, Coded) and column.declared):
            variables[j] = Variable(name, "unknown")
        else:
            asked.setdefault(word, []).append(j)
    training = FitContext(bins, y, weight)
    for word, places in asked.items():
        names = [source.names[j] for j in places]
        learned = known_words[word].learn([columns[j] for j in places], names, word, training)
        for j, variable in zip(places, learned, strict=True):
            variables[j] = variable
    return Schema(tuple(variable for variable in variables if variable is not None), source.named, source.conversions)


def _of_plain_numbers(source: Source, wanted: dict[str, str], numeric: str) -> Schema | None:
    """Return the schema of a whole array of one kind that takes any number: no column needs to be read for that."""
    array = source.array
    asked = {numeric if word == "numeric" else word for word in (wanted or {"": "numeric"}).values()}
    if array is None or array.dtype.kind == "b" or len(asked) > 1 or (wanted and len(wanted) < len(source.names)):
        return None
    kind = words()[asked.pop()]
    if kind.coded or not kind.any_number:
        return None
    empty = np.isnan(array[0]) if array.dtype.kind == "f" else np.zeros(array.shape[1], dtype=bool)
    if empty.any():  # the first row has settled it for the others
        empty[empty] = np.isnan(array[:, empty]).all(axis=0)
    variables = Variable("", kind.name, numeric=True).with_names(source.names)
    for j in np.flatnonzero(empty).tolist():
        variables[j] = Variable(source.names[j], "unknown")
    return Schema(tuple(variables), source.named, source.conversions)


def grow_schema(
    source: Source,
    schema: Schema,
    kinds: Kinds = None,
    numeric: str = "gaussian",
    bins: int = BINS,
    weight: NDArray[np.float64] | None = None,
    y: NDArray[Any] | None = None,
    *,
    texts: bool = False,
) -> tuple[Schema, list[NDArray[Any] | None]]:
    """Read a table under an earlier schema; return the schema that covers both, and encoded columns.

    Kinds, bins and levels are those of the schema. A value that it lacks is added to its column's levels, so that no
    cell is lost. A column that had no value before learns its kind here, as in :func:`learn_schema`. A column that need
    not be encoded for that, since it came as codes with a list of levels, is None among the columns.

    Examples
    --------
    >>> from bayeskit.table.read import read_table
    >>> agreed = learn_schema(read_table({"wind": ["weak", "strong"]}))
    >>> grown, _ = grow_schema(read_table({"wind": ["weak", "calm"]}), agreed)
    >>> grown["wind"].values
    ('calm', 'strong', 'weak')
    """
    fresh = tuple(variable.name for variable in schema if variable.kind == "unknown")
    learned: dict[str, Variable] = {}
    if fresh:
        wanted = {name: kind for name, kind in _wanted_kinds(source, kinds).items() if name in set(fresh)}
        new = learn_schema(source.select(fresh), wanted, numeric, bins, weight, y, texts=texts)
        learned = {variable.name: variable for variable in new}
    variables, columns = [], []
    for j, known in enumerate(schema):
        variable, cells = _grown(source.column(j), learned.get(known.name, known))
        variables.append(variable)
        columns.append(cells)
    same = all(new is old for new, old in zip(variables, schema.variables, strict=True))
    if not same:
        schema = replace(schema, variables=tuple(variables), named=schema.named and source.named)
    return schema, columns


def _grown(column: Column, known: Variable) -> tuple[Variable, NDArray[Any] | None]:
    if isinstance(column, Coded) and known.kind == "categorical" and known.values and column.levels:
        if column.declared:
            return known.union(Variable(known.name, "categorical", column.levels, declared=True)), None
        if type(column.levels[0]) is type(known.values[0]):
            new = [code for code, level in enumerate(column.levels) if level not in known.code_of]
            if not new:
                return known, None
            # A dictionary may list values that no cell of these rows has.
            used = np.bincount(column.codes[~column.missing()], minlength=len(column.levels))[new]
            added = [column.levels[code] for code, n in zip(new, used, strict=True) if n]
            return known.extended(added), None
    cells = encode_column(column, known)
    # The code of an unseen value; bins have none, since every number falls into one.
    if not known.is_discrete or known.is_binned or not (cells == unseen_code(cells.dtype)).any():
        return known, cells
    learned = words()[known.kind].learn([column], [known.name], known.kind, FitContext())
    known = known.union(learned[0])
    return known, encode_column(column, known)


def _refuse_texts(wanted: Mapping[str, str]) -> None:
    """Raise an error for a column that is to be read as free text, by a model that cannot."""
    for name, word in wanted.items():
        if word in words() and words()[word].name == "text":
            raise TableError(
                f"column '{name}' is to be text, which this model cannot read; NaiveBayes and AutoBayes can. Leave the "
                "column out, or give it another kind."
            )


def _wanted_kinds(source: Source, kinds: Kinds) -> dict[str, str]:
    inferred = {name: kind for name, kind in source.kinds.items() if name in set(source.names)}
    if kinds is None or kinds == INFER:
        return inferred
    if isinstance(kinds, str):
        wanted = dict.fromkeys(source.names, kinds)
    else:
        wanted = inferred
        known = set(source.names)
        for key, kind in kinds.items():
            position = key if isinstance(key, int | np.integer) and 0 <= key < len(source.names) else None
            name = str(key) if position is None else source.names[position]
            if name not in known:
                raise TableError(f"kinds: {not_found('column', name, source.names)}")
            wanted[name] = kind
    known_words = {*words(), "numeric"}
    for name, kind in wanted.items():
        if kind not in known_words:
            raise TableError(f"column {name!r} cannot be of kind {kind!r}; {one_of(str(kind), (*words(), 'numeric'))}")
    return wanted


def _usual(column: Column) -> str:
    return "categorical" if isinstance(column, Coded) or column.values.dtype.kind == "b" else "numeric"
