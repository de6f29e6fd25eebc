"""Models for any table that are fitted in one call: how they read columns, and how they are saved."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from numpy.typing import NDArray

from bayeskit.learn.model import SavedModel
from bayeskit.learn.state import State
from bayeskit.table.encode import encode, refuse_infinite
from bayeskit.table.schema import Schema


class WholeModel(SavedModel):
    """A model that learned from a table with a schema; it reads other tables in the same terms.

    ``fit`` makes a :class:`State` with further fields, and ends with its assignment.
    """

    _state: State

    def _encode(self, X: Any) -> list[NDArray[Any]]:
        """Return one array per column: codes, or numbers with NaN."""
        schema: Schema = self._fitted.schema
        columns = encode(self._read_features(X), schema)
        refuse_infinite_columns(columns, schema)
        return columns

    def _set_tags(self, tags: Any) -> None:
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True

    # -- files ------------------------------------------------------------------------------------------------------

    def _learned_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        meta, arrays = self._learned()
        return {**meta, "schema": self.schema_.to_json()}, arrays

    def _restored(self, meta: dict[str, Any], arrays: dict[str, NDArray[Any]], target: str | None) -> State:
        return self._restore(Schema.from_json(meta["schema"]), target, meta, arrays)

    @abstractmethod
    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what was learned besides the schema, as fields and arrays; called on a plain fitted model."""

    @abstractmethod
    def _restore(
        self, schema: Schema, target: str | None, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> State:
        """Return the state of which :meth:`_learned` gave the parts, checking each; called on the settings."""


def refuse_infinite_columns(columns: list[NDArray[Any]], schema: Schema) -> None:
    """Refuse an infinite number in any numeric column."""
    for column, variable in zip(columns, schema, strict=True):
        if variable.is_numeric:
            refuse_infinite(column, variable.name)
