"""A classifier that was trained from a file: the model, how the file's columns are written, and its calibration."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit import network  # the class of networks is loaded where one is read
from bayeskit.decide.protocol import HidingModel
from bayeskit.errors import ModelFileError, TableError
from bayeskit.io.model_files import load_with_notes, save
from bayeskit.network.formats import is_network_file
from bayeskit.table.conversions import Conversions
from bayeskit.workflow.calibration import tempered
from bayeskit.workflow.drift import Profile

if TYPE_CHECKING:
    from bayeskit.explain.explanation import Explanation
    from bayeskit.table.conventions import Convention
    from bayeskit.table.schema import Schema


@dataclass(frozen=True)
class TrainedModel:
    """A fitted classifier with its calibration; what the reader did to its columns is part of the classifier.

    ``bayeskit.load`` returns only the classifier, from the same file.
    """

    model: Any
    # Log-posteriors are divided by it; 1 leaves them as they are.
    temperature: float = 1.0
    # What the columns held in training, where the model was trained from a file.
    profile: Profile | None = None
    # Of a text model, the columns of the texts and of the labels.
    text_columns: tuple[str | None, str | None] = (None, None)

    @property
    def conversions(self) -> Conversions:
        """What the reader did to the raw columns."""
        return getattr(self.schema_, "conversions", None) or Conversions()

    @property
    def conventions(self) -> Mapping[str, Convention]:
        """How the cells of a raw column are read, where that is no matter of course."""
        return self.conversions.conventions

    @property
    def missing(self) -> tuple[str, ...]:
        """Words for a missing cell that were said in training: a file that is predicted is read with them too."""
        return self.conversions.missing

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels."""
        return np.asarray(self.model.classes_)

    @property
    def schema_(self) -> Schema:
        """Name, kind and values of each column."""
        schema: Schema = self.model.schema_
        return schema

    @property
    def target_(self) -> str | None:
        """The column that held the labels."""
        name: str | None = self.model.target_
        return name

    def predict_proba(self, X: Any, hidden: Collection[str] = ()) -> NDArray[np.float64]:
        """Return the calibrated P(c | x), of shape (n_rows, n_classes), with some columns hidden.

        A hidden column is missing in every row of ``X``. That is enough for most models; for some a missing cell is a
        value like others, and these are told that nothing was recorded there.
        """
        if not hidden or not isinstance(self.model, HidingModel):
            return tempered(self.model.predict_proba(X), self.temperature)
        cells = np.tile([name in hidden for name in self.schema_.names], (len(X), 1))
        return tempered(np.exp(self.model.log_posterior_hiding(X, cells, floor=True)), self.temperature)

    def posterior(self, known: Mapping[str, Any]) -> NDArray[np.float64]:
        """Return the calibrated P(c | what is known of one row); a column left out is not observed yet."""
        columns = {name: [known.get(name)] for name in self.schema_.names}
        if isinstance(self.model, HidingModel):
            hidden = np.array([[name not in known for name in columns]])
            log_posterior = self.model.log_posterior_hiding(columns, hidden, floor=True)
            return tempered(np.exp(log_posterior), self.temperature).ravel()
        return self.predict_proba(columns).ravel()

    def explain(self, row: Any) -> Explanation:
        """Explain one row; with a temperature T every term is divided by T, and they still add up."""
        explanation: Explanation = self.model.explain(row)
        if self.temperature == 1.0:
            return explanation
        probability = float(self.posterior(row)[self.classes_.tolist().index(explanation.classes[0])])
        t = self.temperature
        return replace(
            explanation,
            prior=explanation.prior / t,
            terms=explanation.terms / t,
            floor=explanation.floor / t,
            probability=probability,
        )

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write a model file; a file that bayeskit did not write is replaced only with ``force``."""
        notes: dict[str, Any] = {} if self.temperature == 1.0 else {"temperature": self.temperature}
        if self.profile is not None:
            notes["profile"] = self.profile.to_json()
        if any(self.text_columns):
            notes["text_columns"] = list(self.text_columns)
        save(self.model, path, notes, force=force)

    @classmethod
    def load(cls, path: str | PathLike[str], target: str | None = None) -> TrainedModel:
        """Load a model file, or a network with the variable ``target`` as its class; others are an error."""
        model, notes = (network.BayesianNetwork.read(path), {}) if is_network_file(path) else load_with_notes(path)
        name = Path(path).name
        if hasattr(model, "posterior"):  # a network, which answers for any of its variables
            if target is None and model.target is None:
                raise TableError(f"{name!r} is a network; say which of its variables is predicted.", "target")
            from bayeskit.classify.network_classifier import NetworkClassifier

            return cls(NetworkClassifier.from_network(model, target))
        if not hasattr(model, "predict_proba"):
            raise ModelFileError(f"{name!r} holds a {type(model).__name__}; this command needs a classifier.")
        if hasattr(model, "loss_"):
            raise ModelFileError(
                f"{name!r} holds a BayesDecision; the command takes the loss as a file: save its estimator_ alone."
            )
        try:
            if "conventions" in notes or "missing" in notes:
                raise ValueError("they are of an earlier version of bayeskit; train the model again")
            temperature = float(notes.get("temperature", 1.0))
            if not 0 < temperature < np.inf:
                raise ValueError(f"the temperature is {temperature}")
            profile = Profile.from_json(notes["profile"]) if "profile" in notes else None
            text, label = notes.get("text_columns", (None, None))
            if not all(name is None or isinstance(name, str) for name in (text, label)):
                raise ValueError(f"the columns of texts are {text!r} and {label!r}")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"{name!r}: its notes do not fit: {error}.") from error
        return cls(model, temperature, profile, (text, label))
