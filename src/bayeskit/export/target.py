"""The targets of export: each is a class that registers itself; and the parts of a model that they write."""

from __future__ import annotations

import pkgutil
from abc import ABC, abstractmethod
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.gaussian_nb import GaussianNB
from bayeskit.classify.naive_bayes import NaiveBayes
from bayeskit.errors import BayeskitError
from bayeskit.kinds import kind_of
from bayeskit.kinds.closed_form import ClosedForm
from bayeskit.learn.model import plain_class
from bayeskit.learn.naive_beliefs import NaiveBeliefs
from bayeskit.table.schema import Variable

# Each target by its name; see `targets`.
TARGETS: dict[str, type[Target]] = {}


class Target(ABC):
    """A form in which a fitted classifier is written for another engine.

    A target is a file or a folder of `bayeskit.export` with a subclass that has a name; nothing else lists it. A
    subclass that is defined elsewhere is known from then on too.
    """

    name: ClassVar[str]
    # The options that `write` takes; the command passes no others.
    options: ClassVar[tuple[str, ...]] = ()
    # What the result is called where it must go to a file, such as "play.onnx"; empty where it is text.
    file: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            known = TARGETS.get(cls.name)
            if known is not None and known.__qualname__ != cls.__qualname__:
                raise BayeskitError(f"there is a target '{cls.name}' already; give the new one another name.")
            TARGETS[cls.name] = cls

    @abstractmethod
    def write(self, model: Any, **options: Any) -> bytes:
        """Return the model in this form; a model that cannot be written is an error that names it."""


def targets() -> dict[str, Target]:
    """Return each target by its name.

    Examples
    --------
    >>> {"onnx", "sql"} <= set(targets())
    True
    """
    _import_files()
    return {name: target() for name, target in TARGETS.items()}


@cache
def _import_files() -> None:
    # Defining a target lists it.
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        import_module(f"bayeskit.export.{module.name}")


class Column(NamedTuple):
    """log P(x | c) of one column: a table with a row per value, or a density in closed form."""

    variable: Variable
    log_table: NDArray[np.float64] | None  # (n_values, n_classes); with unseen="smooth" one more row
    density: ClosedForm | None


class NaiveParts(NamedTuple):
    """What naive Bayes predicts with: log P(x, c) is log P(c) plus a term per column, 0 for a missing cell."""

    classes: list[Any]
    log_prior: NDArray[np.float64]  # (n_classes,)
    columns: tuple[Column, ...]  # those with a value; the others have no effect
    unseen: str
    impossible: str


def naive_parts(model: Any, engine: str) -> NaiveParts:
    """Return the parts of a fitted naive Bayes classifier; another model is an error that names it.

    Examples
    --------
    >>> from bayeskit import datasets
    >>> parts = naive_parts(NaiveBayes().fit(datasets.load_tennis(), target="play"), "C")
    >>> parts.classes, parts.columns[3].variable.values, np.exp(parts.columns[3].log_table).round(2).tolist()
    (['no', 'yes'], ('strong', 'weak'), [[0.57, 0.36], [0.43, 0.64]])
    """
    if plain_class(model) not in (NaiveBayes, GaussianNB):
        raise BayeskitError(f"{type(model).__name__} cannot be written as {engine}; NaiveBayes and GaussianNB can.")
    model = model._now()
    beliefs: NaiveBeliefs = model._beliefs
    forms, columns = closed_forms(beliefs, engine), []
    for j, variable in enumerate(beliefs.schema):
        if j in forms:
            columns.append(Column(variable, None, forms[j]))
        elif variable.is_discrete and variable.n_values:
            kept = variable.n_values + (model.unseen == "smooth")
            columns.append(Column(variable, beliefs.parameters[j][:kept], None))
    return NaiveParts(model.classes_.tolist(), beliefs.log_prior, tuple(columns), model.unseen, model.impossible)


def closed_forms(beliefs: NaiveBeliefs, engine: str) -> dict[int, ClosedForm]:
    """Return the densities of the numeric columns; a kind without a closed form is an error."""
    forms = {}
    for j, variable in enumerate(beliefs.schema):
        if variable.is_numeric:
            form = kind_of(variable).closed_form(beliefs.parameters[j])
            if form is None:
                raise BayeskitError(
                    f"column '{variable.name}' is of kind '{variable.kind}', which has no closed form in {engine}; fit "
                    f"it with another kind, such as kinds={{'{variable.name}': 'equal-frequency'}}."
                )
            forms[j] = form
    return forms


def writable(text: str, what: str) -> str:
    """Return the text; characters that no program can hold are an error."""
    if "\0" in text:
        raise BayeskitError(f"{what} of the model, {text!r}, holds the character U+0000, which no program can hold.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BayeskitError(f"{what} of the model, {text!r}, cannot be written as UTF-8.") from None
    return text
