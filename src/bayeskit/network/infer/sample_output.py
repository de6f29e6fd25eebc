"""Cases sampled from a network, in the form that the caller wants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

Output = Literal["dict", "codes", "pandas", "polars"]
OUTPUTS = ("dict", "codes", "pandas", "polars")


def is_whole(value: object, least: int) -> bool:
    """Return whether a value is a whole number of at least ``least``; booleans are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= least)


def check_random_state(random_state: object) -> int:
    """Return the seed; refuse what is not a whole number from 0 to 2**64 - 1."""
    if not is_whole(random_state, 0) or int(random_state) >= 2**64:  # type: ignore[call-overload]
        raise NetworkError(f"random_state must be a whole number from 0 to 2**64 - 1; got {random_state!r}.")
    return int(random_state)  # type: ignore[call-overload,no-any-return]


def check_request(n: object, output: str) -> int:
    """Return the number of cases; refuse what is not a whole number, and outputs that do not exist."""
    if output not in OUTPUTS:
        raise NetworkError(f"output must be 'dict', 'codes', 'pandas' or 'polars'; got {output!r}.")
    if not is_whole(n, 0):
        raise NetworkError(f"n must be a whole number of at least 0; got {n!r}.")
    return int(n)  # type: ignore[call-overload,no-any-return]


def cases_as(net: BayesianNetwork, codes: list[NDArray[Any]], output: Output) -> Any:
    """Return columns of codes as arrays of states, as they are, or as a frame of categories."""
    if output == "codes":
        return codes
    triples = list(zip(net.names, net.states, codes, strict=True))
    if output == "pandas":
        import pandas as pd

        return pd.DataFrame(
            {
                name: pd.Categorical.from_codes(column.astype(np.int32), pd.Index(named))
                for name, named, column in triples
            }
        )
    columns = {name: np.array(named)[column] for name, named, column in triples}
    if output == "polars":
        import polars as pl

        return pl.DataFrame({name: pl.Series(columns[name], dtype=pl.Enum(named)) for name, named, _ in triples})
    return columns
