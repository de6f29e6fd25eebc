"""Other spellings of a value, and words that are missing cells in one column only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bayeskit.table.missing_words import is_text, without_words

# What is written in a column, and what it means; None is a missing cell.
Spellings = Mapping[str, str | None]


def respelled(column: Any, meant: Spellings) -> Any:
    """Return an Arrow column with each spelling replaced by what it means.

    >>> import pyarrow as pa
    >>> respelled(pa.chunked_array([["yes", "YES", "?"]]), {"YES": "yes", "?": None}).to_pylist()
    ['yes', 'yes', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    column = without_words(column, [written for written, value in meant.items() if value is None])
    others = {written: value for written, value in meant.items() if value is not None}
    if not others or not is_text(column):
        return column
    place = pc.index_in(column, value_set=pa.array(list(others), type=column.type))
    return pc.if_else(pc.is_valid(place), pc.take(pa.array(list(others.values()), type=column.type), place), column)


def split_words(words: Sequence[str], names: Collection[str]) -> tuple[tuple[str, ...], dict[str, Spellings]]:
    """Return the words for a missing cell of all columns, and those of one column, which are written NAME=WORD.

    >>> split_words(["?", "age=-1", "a=b"], ["age", "sex"])
    (('?', 'a=b'), {'age': {'-1': None}})
    """
    everywhere: list[str] = []
    here: dict[str, Spellings] = {}
    for word in words:
        name = next((name for name in names if word.startswith(f"{name}=")), None)
        if name is None:
            everywhere.append(word)
        else:
            here[name] = {**here.get(name, {}), word[len(name) + 1 :]: None}
    return tuple(everywhere), here
