"""A classifier's network over columns of which some are numbers: how it is learned, kept and asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Score
from bayeskit.counts.class_labels import read_classes
from bayeskit.decide.posterior import log_posterior
from bayeskit.errors import BayeskitError, MergeError, ModelFileError
from bayeskit.estimate.named_table import NamedTable
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.learn.labelled import Labelled
from bayeskit.network.cpd.gaussian import GaussianCPD
from bayeskit.network.infer.incomplete_rows import IncompleteRows
from bayeskit.network.learn.mixed_rows import MixedRows, read_mixed_rows
from bayeskit.network.learn.search import learn_structure
from bayeskit.network.learn.search_method import SearchMethod
from bayeskit.network.mixed import MixedNetwork
from bayeskit.network.network import BayesianNetwork
from bayeskit.table.schema import Schema, Variable

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RealGraph:
    """A network that was learned over columns and the class, which is its last variable and has no real parent.

    It stands where other models keep their counts. The regressions of rows with missing cells are found by EM, so
    there is nothing that would add.
    """

    schema: Schema
    classes: NDArray[Any]  # (n_classes,), rising
    n_class: NDArray[Any]  # (n_classes,): rows, or their weight
    missing: Floats  # (n_columns,): the share of missing cells
    net: MixedNetwork

    @classmethod
    def of(
        cls,
        rows: Labelled,
        name: str,
        method: SearchMethod | str,
        kinds: Any,
        class_weight: Any,
        smoothing: float,
        options: Mapping[str, Any],
    ) -> RealGraph:
        """Learn the network; ``class_weight`` is one number per class, which the structure does not depend on."""
        table = read_mixed_rows(rows.source, None, kinds)
        label = Variable(name, "categorical", tuple(rows.classes.tolist()), declared=True)
        codes = {**table.codes, len(table.schema): np.ascontiguousarray(rows.y, dtype=np.uint32)}
        whole = Schema((*table.schema, label), True)
        mixed = MixedRows(whole, codes, table.numbers, rows.weight)
        net = learn_structure(mixed, method, numeric="gaussian", smoothing=smoothing, **options).network
        if class_weight is not None:
            columns = {each: mixed.values(j) for j, each in enumerate(mixed.names)}
            weight = class_weight[rows.y] * (1.0 if rows.weight is None else rows.weight)
            way: Literal["available-case", "em"] = "available-case" if mixed.whole().all() else "em"
            net = net.fitted(columns, weight, smoothing=smoothing, missing=way)
        share = np.array([1.0 - mixed.whole([j]).mean() for j in range(len(table.schema))])
        n_class = np.bincount(rows.y, rows.weight, minlength=len(rows.classes))
        return cls(table.schema, rows.classes, n_class, share, cast(MixedNetwork, net))

    def __add__(self, other: Any) -> RealGraph:
        raise in_one_fit()

    __sub__ = __add__

    def declare(self, classes: NDArray[Any]) -> RealGraph:
        """Return the same, unless a class is announced that has no row: its normals would be unknown."""
        strange = [label for label in classes.tolist() if label not in self.classes.tolist()]
        if strange:
            raise BayeskitError(f"no row has the class {strange[0]!r}, so its regressions cannot be learned.")
        return self

    def narrow(self) -> RealGraph:
        """Return the same: every class has rows."""
        return self

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file: fields for JSON, and arrays."""
        text = self.classes.dtype.kind in "OU"
        net, numbers = self.net.to_parts()
        meta = {
            "schema": self.schema.to_json(),
            "classes": self.classes.tolist() if text else None,
            "text_dtype": self.classes.dtype.str if text else None,
            "real_network": net,
        }
        arrays = {"n_class": self.n_class, "missing": self.missing, **{f"net_{k}": v for k, v in numbers.items()}}
        return meta, arrays if text else {**arrays, "classes": self.classes}

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> RealGraph:
        """Read what :meth:`to_parts` gave; the network must be one over the columns and the class."""
        schema, classes = Schema.from_json(meta["schema"]), read_classes(meta, arrays)
        numbers = {name.removeprefix("net_"): part for name, part in arrays.items() if name[:4] == "net_"}
        net = BayesianNetwork.from_parts(expect_field(meta, "real_network", dict), numbers)
        dtype = np.float64 if arrays["n_class"].dtype.kind == "f" else np.int64
        n_class = expect_array(arrays, "n_class", dtype, (len(classes),))
        missing = expect_array(arrays, "missing", np.float64, (len(schema),))
        if not isinstance(net, MixedNetwork) or net._links or net.names[:-1] != schema.names:
            raise ModelFileError("the network of the file is not one over its columns and the class.")
        cards = [0 if variable.is_numeric else variable.n_values for variable in schema] + [len(classes)]
        if list(net.cards) != cards or not np.isfinite(n_class).all() or not np.isfinite(missing).all():
            raise ModelFileError("the network of the file does not fit its columns and classes.")
        return cls(schema, classes, n_class, missing, net)


@dataclass(frozen=True, eq=False)
class RealBeliefs:
    """The network of a classifier, ready to score rows with missing cells: they are summed and integrated out."""

    net: MixedNetwork
    in_place: bool = False

    @cached_property
    def log_prior(self) -> Floats:
        """Log P(c)."""
        prior: Any = self.net.posterior(self.net.names[-1])
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(prior.array))

    def log_joint(self, columns: list[NDArray[Any]]) -> Floats:
        """Return log P(x, c), of shape (n_rows, n_classes); each class is put in as if it were known."""
        net, n = self.net, len(columns[0])
        label = len(net.names) - 1
        codes, numbers = {}, {}
        for v, column in enumerate(columns):
            if v in net._gaussian:
                numbers[v] = np.asarray(column, dtype=np.float64)
            else:
                codes[v] = np.where(column < net.cards[v], column.astype(np.int64), -1)
        out = np.empty((n, net.cards[label]))
        for c in range(net.cards[label]):
            rows = IncompleteRows(net, {**codes, label: np.full(n, c)}, numbers, n, [label])
            out[:, c] = rows.log_evidence(net.cpds)
        return out

    def score(
        self, table: list[NDArray[Any]] | NDArray[Any], result: Score, *, fallback: bool = False
    ) -> tuple[NDArray[Any], int, int]:
        """Return the scores, the first row with probability 0 under every class, and the first infinite number."""
        columns = list(table)
        real = [np.isinf(columns[v]) for v in self.net._gaussian]
        infinite = np.any(real, axis=0)
        if infinite.any():
            return np.empty(0), -1, int(infinite.argmax())
        joint = self.log_joint(columns)
        if result == Score.LOG_JOINT:
            return joint, -1, -1
        nowhere = np.isneginf(joint).all(axis=1)
        if result == Score.LOG_EVIDENCE:
            return np.logaddexp.reduce(joint, axis=1), -1, -1
        if nowhere.any() and not fallback:
            return joint, int(nowhere.argmax()), -1
        joint[nowhere] = self.log_prior
        if result == Score.CLASS:
            return joint.argmax(axis=1), -1, -1
        log = log_posterior(joint)
        return (np.exp(log) if result == Score.POSTERIOR else log), -1, -1

    def by_class(self, name: str) -> tuple[Floats, Floats]:
        """Return the mean and the standard deviation of a real column in each class."""
        label = self.net.names[-1]
        each: Any = self.net.posterior_rows({label: list(self.net.states[-1])}, name, impossible="prior")
        return each[:, 0], each[:, 1]


def in_one_fit() -> MergeError:
    """Return the error of what would add or subtract rows."""
    return MergeError(
        "a network with real variables is learned in one fit, so rows cannot be added or subtracted; call fit on all "
        "of them, or bin the numbers by numeric='mdl'."
    )


def regression(net: BayesianNetwork, v: int) -> NamedTable:
    """Return the regression of a real variable: the mean at 0, a slope per real parent, and the standard deviation."""
    cpd, name, above = cast(GaussianCPD, net.cpds[v]), net.names[v], net.parents[v]
    discrete = [above[k] for k in cpd.discrete]
    cases = tuple(product(*(net.states[p] for p in discrete))) if discrete else ("",)
    lines = ("mean", *(net.names[above[k]] for k in cpd.real), "sd")
    given = ", ".join(net.names[p] for p in above)
    title = f"p({name} | {given})" if given else f"p({name})"
    return NamedTable(title, lines, cases, np.vstack([cpd.intercept, *cpd.slope.T, cpd.sd]))


def with_target(net: MixedNetwork, name: str) -> BayesianNetwork:
    """Return the network with its class, the last variable, under this name and as the target."""
    *columns, label = net.schema
    schema = net.schema.with_variables((*columns, replace(label, name=name)))
    return net._like((*net.names[:-1], name), net.states, net.parents, net.cpds, schema, name)
