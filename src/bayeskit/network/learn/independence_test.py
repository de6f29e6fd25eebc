"""A test of independence of two columns of a table, given others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeskit.defaults import NETWORK_BINS
from bayeskit.errors import NetworkError
from bayeskit.learn.column_kinds import Kinds
from bayeskit.network.learn.discrete_rows import read_rows
from bayeskit.network.learn.mixed_rows import MixedRows, read_mixed_rows
from bayeskit.network.learn.mixed_tests import MixedTests
from bayeskit.network.learn.tests_of_independence import DataTests, TestName, check_test
from bayeskit.network.variable_names import did_you_mean
from bayeskit.result import Result


@dataclass(frozen=True)
class IndependenceTestResult(Result):
    """The result of a test of independence.

    Attributes
    ----------
    test : str
        "g2", "chi2" or "mi"; with real variables "partial correlation" (Student's t) or "likelihood ratio".
    statistic : float
        G², χ² or t.
    df : float
        The degrees of freedom.
    p_value : float
        The probability of a statistic at least as large, were the two independent.
    effect_size : float
        For "g2" and "mi", the conditional mutual information I(x; y | given) in nats; for "chi2", the root of χ² / N,
        which for two columns of two values is φ; the partial correlation of real columns.
    n_rows : float
        The rows (or their weight) in which all these columns are known.
    """

    test: str
    statistic: float
    df: float
    p_value: float
    effect_size: float
    n_rows: float

    def __repr__(self) -> str:
        return (
            f"{self.test}: {self.statistic:.6g} with {self.df:g} degrees of freedom, p = {self.p_value:.4g}; "
            f"effect size {self.effect_size:.4g}, {self.n_rows:g} rows"
        )


def independence_test(
    table: Any,
    x: str,
    y: str,
    *,
    given: Sequence[str] = (),
    test: TestName = "g2",
    sample_weight: Any = None,
    kinds: Kinds = None,
    numeric: str | None = None,
    bins: int = NETWORK_BINS,
) -> IndependenceTestResult:
    r"""Test whether two columns are independent, given others: the test by which "pc" and "mmhc" decide.

    .. math:: G^2 = 2 \sum n_{xyz} \ln \frac{n_{xyz} n_z}{n_{xz} n_{yz}} = 2 N \, I(x; y \mid z)

    Parameters
    ----------
    table : any table
        As for `learn_structure`. Rows where one of the columns is missing are left out.
    x, y : str
        The two columns.
    given : list of str
        The columns that are known.
    test : {"g2", "chi2", "mi"}, default "g2"
        G² and Pearson's χ² with the degrees of freedom of the values that occur for each configuration of ``given``;
        "mi" is G² with those of all values, as bnlearn's ``ci.test(test = "mi")``.
    sample_weight, kinds, numeric, bins
        As for `learn_structure`. With numeric="gaussian" numbers stay numbers: columns of numbers are tested by their
        partial correlation, and numbers with states by the likelihood ratio of conditional Gaussian distributions.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork, independence_test
    >>> rows = BayesianNetwork("A->B->C", random_tables=1).sample(2000, random_state=0)
    >>> independence_test(rows, "A", "C", given=["B"]).p_value > 0.05
    True
    """
    check_test(test, 0.5)
    if numeric == "gaussian" and test != "g2":
        raise NetworkError(f"test {test!r} is for states; with numeric='gaussian' leave it out.")
    rows = (
        read_mixed_rows(table, sample_weight, kinds)
        if numeric == "gaussian"
        else read_rows(table, sample_weight, kinds=kinds, numeric=numeric, bins=bins)
    )
    others = [given] if isinstance(given, str) else list(given)
    places = []
    for name in (x, y, *others):
        if name not in rows.names:
            raise NetworkError(f"{name!r} is not a column; {did_you_mean(name, rows.names)}")
        places.append(rows.names.index(name))
    if len(set(places)) < len(places):
        raise NetworkError(f"x, y and given must be different columns; got {x!r}, {y!r} given {others!r}.")
    known = rows.whole(places) if isinstance(rows, MixedRows) else ~rows.missing()[:, places].any(axis=1)
    n = float(known.sum() if rows.weight is None else rows.weight[known].sum())
    if not n:
        raise NetworkError(f"no row has a value in all of {', '.join(map(repr, (x, y, *others)))}.")
    if isinstance(rows, MixedRows) and any(j in rows.numbers for j in places):
        tests = MixedTests(rows.take(np.flatnonzero(known)))
        statistic, df, p = tests.test(places[0], places[1], places[2:])
        if all(j in rows.numbers for j in places):
            r = statistic / np.sqrt(df + statistic**2) if np.isfinite(statistic) else float(np.sign(statistic))
            return IndependenceTestResult("partial correlation", statistic, df, p, float(r), n)
        return IndependenceTestResult("likelihood ratio", statistic, df, p, statistic / (2 * n), n)
    plain = rows.discrete() if isinstance(rows, MixedRows) else rows
    if isinstance(rows, MixedRows):
        places = [list(rows.codes).index(j) for j in places]
    assert plain is not None
    statistic, df, p = DataTests(plain, test).test(places[0], places[1], places[2:])
    effect = float(np.sqrt(statistic / n)) if test == "chi2" else statistic / (2 * n)
    return IndependenceTestResult(test, statistic, df, p, effect, n)
