"""Is x independent of y given z? By a test on rows, or by d-separation in a graph that is known."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple, Protocol, get_args

from bayeskit._kernels import IndependenceTests, n_threads
from bayeskit.errors import NetworkError
from bayeskit.network import dag
from bayeskit.network.learn.discrete_rows import DiscreteRows

TestName = Literal["g2", "chi2", "mi"]
TESTS: tuple[str, ...] = get_args(TestName)


def check_test(test: object, alpha: object) -> None:
    """Refuse a test that is not known, and a level that is not between 0 and 1."""
    if test not in TESTS:
        raise NetworkError(f"test must be one of {', '.join(map(repr, TESTS))}; got {test!r}.")
    if not isinstance(alpha, int | float) or not 0 < alpha < 1:
        raise NetworkError(f"alpha must lie between 0 and 1; got {alpha!r}.")


class Separated(NamedTuple):
    """Whether a set was found that separates two variables, which, and its p (or the greatest p of those tried)."""

    separated: bool
    given: list[int]
    p: float


class IndependenceTest(Protocol):
    """The test that PC and MMPC use."""

    alpha: float

    def p_value(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return the p-value of the hypothesis that x and y are independent given these."""
        ...

    def level(
        self, pairs: list[tuple[int, int]], left: list[list[int]], right: list[list[int]], size: int
    ) -> list[Separated]:
        """Search, for each pair, a set of this size that separates it, among ``left`` and then among ``right``."""
        ...


class DataTests:
    """Tests on rows.

    "g2" and "chi2" are the G² and χ² tests with the degrees of freedom of the values that occur in each configuration
    of z; "mi" is G² (2N times the mutual information) with those of all values, as bnlearn's "mi" has it.

    Examples
    --------
    >>> from bayeskit.network.learn.discrete_rows import read_rows
    >>> rows = read_rows({"x": list("aabb"), "y": list("cdcd")})
    >>> DataTests(rows, "g2", 0.05).p_value(0, 1, [])
    1.0
    """

    def __init__(self, rows: DiscreteRows, test: str = "g2", alpha: float = 0.01) -> None:
        check_test(test, alpha)
        self.alpha = alpha
        self._kernel = IndependenceTests(rows.columns, rows.weight, rows.cards, test)
        self._threads = n_threads(rows.n_rows * len(rows.names))

    @property
    def n_tests(self) -> int:
        """The number of tests."""
        return self._kernel.n_tests

    def test(self, x: int, y: int, given: Sequence[int]) -> tuple[float, float, float]:
        """Return the statistic, the degrees of freedom and p."""
        return self._kernel.test(x, y, list(given))

    def p_value(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return p."""
        return self._kernel.test(x, y, list(given))[2]

    def level(
        self, pairs: list[tuple[int, int]], left: list[list[int]], right: list[list[int]], size: int
    ) -> list[Separated]:
        """Search, for each pair, a set of this size that separates it, among ``left`` and then among ``right``."""
        results = self._kernel.level(pairs, left, right, size, self.alpha, self._threads)
        return [Separated(*each) for each in results]


class GraphOracle:
    """d-separation in a known graph, in the place of tests; p is 1 or 0.

    Examples
    --------
    >>> GraphOracle([[], [0], [1]]).p_value(0, 2, [1])
    1.0
    """

    alpha = 0.5

    def __init__(self, parents: Sequence[Sequence[int]]) -> None:
        self._parents = parents

    def p_value(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return 1 where the graph separates x and y, else 0."""
        return float(dag.open_trail(self._parents, [x], [y], given) is None)

    def level(
        self, pairs: list[tuple[int, int]], left: list[list[int]], right: list[list[int]], size: int
    ) -> list[Separated]:
        """Search, for each pair, a set of this size that separates it, among ``left`` and then among ``right``."""
        results = []
        for (x, y), *sides in zip(pairs, left, right, strict=True):
            sets = (list(given) for side in sides for given in combinations(side, size))
            given = next((given for given in sets if self.p_value(x, y, given)), None)
            results.append(Separated(given is not None, given or [], float(given is not None)))
        return results
