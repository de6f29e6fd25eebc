"""Models for any table that are fitted in one call: how they read columns, and how they are saved."""

from __future__ import annotations

from abc import abstractmethod
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.io.model_files import save
from bayeskit.learn.checks import check_columns, in_order
from bayeskit.learn.estimator import Estimator, not_fitted
from bayeskit.learn.parameters import from_json, refuse_parameters, to_json
from bayeskit.table.encode import encode, refuse_infinite
from bayeskit.table.read import Source, read_table
from bayeskit.table.schema import Schema


class TableModel(Estimator):
    """A model that learned from a table with a schema; it reads other tables in the same terms.

    ``fit`` ends with :meth:`_note_columns`, before which a fitted model is unchanged.
    """

    # Each parameter's check: name → what it must be, in words, and the test of it.
    _rules: ClassVar[dict[str, tuple[str, Any]]] = {}

    schema_: Schema
    target_: str | None

    def _note_columns(self, schema: Schema, target: str | None) -> None:
        self.schema_ = schema
        self.target_ = target
        self.n_features_in_ = len(schema)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _read_features(self, X: Any) -> Source:
        source = read_table(X)
        if self.target_ is not None and source.named and self.target_ in source.names:
            source = source.without(self.target_)  # fitted with target=: the whole table may come again
        source = in_order(X, source, self.schema_.names)
        check_columns(source, self.schema_.names, self.schema_.named, type(self).__name__)
        return source

    def _encode(self, X: Any) -> list[NDArray[Any]]:
        """Return one array per column: codes, or numbers with NaN."""
        self._refuse_unfitted()
        columns = encode(self._read_features(X), self.schema_)
        for column, variable in zip(columns, self.schema_, strict=True):
            if variable.is_numeric:
                refuse_infinite(column, variable.name)
        return columns

    def _refuse_unfitted(self) -> None:
        if not hasattr(self, "schema_"):
            raise not_fitted(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "schema_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # -- files ------------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file that :func:`bayeskit.load` reads; an old file is replaced only at the end."""
        self._refuse_unfitted()
        save(self, path)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file: fields for JSON, and arrays."""
        self._refuse_unfitted()
        meta, arrays = self._learned()
        own = {
            "parameters": to_json(self.get_params(deep=False)),
            "schema": self.schema_.to_json(),
            "target": self.target_,
        }
        return {**own, **meta}, arrays

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Read what :meth:`to_parts` gave; the file may be untrusted."""
        model = cls(**from_json(meta["parameters"]))
        refuse_parameters(model, cls._rules)
        target = meta["target"]
        if target is not None and not isinstance(target, str):
            raise TypeError("the target is not a column name")
        schema = Schema.from_json(meta["schema"])
        model._restore(schema, meta, arrays)
        model._note_columns(schema, target)
        return model

    @abstractmethod
    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what was learned besides the schema, as fields and arrays."""

    @abstractmethod
    def _restore(self, schema: Schema, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Set what :meth:`_learned` gave, checking each part."""
