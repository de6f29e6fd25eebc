"""A kind is a file: all files are found, each says all that it must, and no name is known elsewhere."""

import ast
from pathlib import Path

import numpy as np
import pytest

import bayeskit
from bayeskit import NaiveBayes
from bayeskit.counts.left_out import LeftOut
from bayeskit.counts.moments import Moments
from bayeskit.counts.numbers import NumberCounts
from bayeskit.counts.table import TableCounts
from bayeskit.counts.text_columns import count_texts
from bayeskit.errors import BayeskitError, TableError
from bayeskit.kinds import Estimation, Kind, Statistics, kind_of, kinds
from bayeskit.kinds.kind import KINDS
from bayeskit.learn.naive_beliefs import NaiveBeliefs
from bayeskit.table.schema import Variable

SRC = Path(__file__).parents[3] / "src" / "bayeskit"


def variable(kind):
    if kind.name == "binned":
        return Variable("x", "binned", edges=(1.0, 2.0))
    numeric = not kind.coded and kind.name not in ("unknown", "text")
    return Variable("x", kind.name, (0, 1) if kind.coded else (), numeric=numeric)


def statistics(kind, cells, y):
    """The statistics of one column; the cells are numbers, or codes where the kind is coded."""
    of = variable(kind)
    columns = [kind.read(of, cells)] if of.is_numeric else []
    moments, numbers = Moments.of(columns, y, 2), NumberCounts.of(columns if kind.counts_numbers else [], y, 2)
    coded = np.zeros((of.n_values, 2))
    if kind.coded:
        np.add.at(coded, (cells, y), 1)
    texts = [count_texts(cells, y, np.array([0, 1]), None)] if of.is_text else []
    return Statistics((of,), np.bincount(y, minlength=2), [coded] if kind.coded else [], moments, numbers, texts)


def rows(kind):
    """Eight cells that every kind allows, and their classes."""
    y = np.array([0, 0, 0, 1, 1, 1, 0, 1], dtype=np.uint8)
    numbers = np.array([1.0, 2.0, 4.0, 3.0, 3.0, 6.0, 2.0, 1.0])
    if kind.name == "text":  # words that no text has alone: the vocabulary stays when one is left out
        return np.array(["a b", "b", "a a c", "c d", "d b c", "", "a d b b", "c"], dtype=object), y
    return (np.arange(8, dtype=np.uint8) % 2 if kind.coded else numbers), y


def parameters(kind):
    return kind.estimate(statistics(kind, *rows(kind)), Estimation())[0]


def test_every_file_of_the_folder_that_defines_a_kind_is_found():
    named = {
        line.split('"')[1]
        for path in (SRC / "kinds").glob("*.py")
        for line in path.read_text().splitlines()
        if line.startswith('    name = "')
    }
    assert set(kinds()) >= named >= {"categorical", "bernoulli", "binned", "gaussian", "poisson", "unknown"}
    assert all(isinstance(kind, Kind) and kind.name == name for name, kind in kinds().items())


def test_kernel_densities_alone_maximize_no_likelihood():
    # The law that no step of EM lowers the objective runs over the others.
    assert {name for name, kind in kinds().items() if not kind.maximizes} == {"kde"}


@pytest.mark.parametrize("cells", [[0, 1, 1, 0], ["0", "1", "1", "0"]])
def test_a_column_that_is_read_as_bernoulli_holds_zero_and_one(cells):
    table = {"flag": cells, "play": ["a", "b", "a", "b"]}
    model = NaiveBayes().fit(bayeskit.read(table, target="play", kinds={"flag": "bernoulli"}))
    assert model.schema_["flag"].kind == "bernoulli"
    with pytest.raises(TableError, match=r"row 3: column 'flag' .*got 2"):
        bayeskit.read({"flag": [0, 1, 1, 2], "play": ["a", "b", "a", "b"]}, target="play", kinds={"flag": "bernoulli"})


def test_a_kind_defined_elsewhere_is_known_and_no_name_is_taken_twice():
    class Odd(type(kinds()["gaussian"])):
        name, words = "odd", ("odd",)

    try:
        assert NaiveBayes(kinds="odd").fit([[1.0], [2.0]], [0, 1]).schema_[0].kind == "odd"
        with pytest.raises(BayeskitError, match="there is a kind 'odd' already"):
            type("Other", (Odd,), {"name": "odd"})
    finally:
        del KINDS["odd"]


def test_a_kind_that_this_version_does_not_have_is_refused_by_name():
    with pytest.raises(TableError, match=r"column 'x' is of kind 'cauchy'; this version knows .*gaussian"):
        kind_of(Variable("x", "cauchy"))


def test_a_model_file_with_a_kind_that_this_version_does_not_have_is_refused_by_name():
    meta, arrays = NaiveBayes().fit({"h": [1.0, 2.0]}, ["a", "b"]).counts_.to_parts()
    meta["schema"]["variables"][0]["kind"] = "gamma"
    with pytest.raises(TableError, match="column 'h' is of kind 'gamma'; this version knows"):
        NaiveBeliefs.of(TableCounts.from_parts(meta, arrays), Estimation())


def test_only_a_column_without_values_and_one_of_text_have_no_grid():
    without = [name for name, kind in kinds().items() if not kind.grid(variable(kind), parameters(kind)).values]
    assert without == ["text", "unknown"]
    unknown = kinds()["unknown"]
    drawn = unknown.sample(variable(unknown), parameters(unknown), 1, 9, np.random.default_rng(0))
    assert drawn.tolist() == [None] * 9


@pytest.mark.parametrize("name", sorted(set(kinds()) - {"text", "unknown"}))
def test_the_grid_of_a_kind_sums_to_one_in_every_class(name):
    kind = kinds()[name]
    of, believed = variable(kind), parameters(kind)
    grid = kind.grid(of, believed)
    cells = np.arange(len(grid.values), dtype=np.uint8) if kind.coded else kind.read(of, np.array(grid.values))
    mass = np.exp(kind.log_density(of, believed, cells)) * grid.weights[:, None]
    np.testing.assert_allclose(mass.sum(axis=0), 1.0, rtol=1e-8)  # integrals by the rectangle rule


@pytest.mark.parametrize("name", sorted(set(kinds()) - {"text", "unknown"}))
def test_draws_of_a_kind_have_its_mean(name):
    kind = kinds()[name]
    of, believed = variable(kind), parameters(kind)
    grid = kind.grid(of, believed)
    drawn = kind.sample(of, believed, 1, 40_000, np.random.default_rng(0))
    assert len(drawn) == 40_000
    cells = np.arange(len(grid.values), dtype=np.uint8) if kind.coded else kind.read(of, np.array(grid.values))
    share = np.exp(kind.log_density(of, believed, cells))[:, 1] * grid.weights
    numbers = np.array(grid.values, dtype=float)
    mean = share @ numbers
    deviation = np.sqrt(share @ (numbers - mean) ** 2)
    assert abs(np.mean(drawn.astype(float)) - mean) < 4 * deviation / 200  # four standard errors of the mean


@pytest.mark.parametrize("name", sorted(kinds()))
def test_a_missing_cell_says_nothing_in_any_class(name):
    kind = kinds()[name]
    missing = np.array([255], dtype=np.uint8) if kind.coded or name == "unknown" else np.array([np.nan])
    missing = np.array([None]) if name == "text" else missing
    np.testing.assert_array_equal(kind.log_density(variable(kind), parameters(kind), missing), [[0.0, 0.0]])


@pytest.mark.parametrize("name", sorted(kinds()))
def test_every_kind_can_be_read(name):
    kind = kinds()[name]
    of, believed = variable(kind), parameters(kind)
    rows, values = kind.table(of, believed)
    assert values.shape == (len(rows), 2)
    assert kind.title(of, "play").endswith("x | play)")
    assert kind.n_parameters(of, believed) >= 0
    assert kind.description
    assert kind.cells(of) in ("text", "truth", "number", "flag")


@pytest.mark.parametrize("name", sorted(kinds()))
def test_a_row_left_out_is_scored_by_the_other_rows(name):
    kind = kinds()[name]
    (cells, y), of = rows(kind), variable(kind)
    read = kind.read(of, cells) if of.is_numeric else cells
    found = kind.log_density_left_out(statistics(kind, cells, y), Estimation(), read, LeftOut(y))
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        believed = kind.estimate(statistics(kind, cells[rest], y[rest]), Estimation())[0]
        expected = kind.log_density(of, believed, read[i : i + 1])[0] if name != "unknown" else [0.0, 0.0]
        np.testing.assert_allclose(found[i], expected, rtol=1e-9)


def test_no_other_file_names_a_kind_that_is_no_default():
    """The defaults are the two kinds that a dtype means; binned, text and unknown columns are the schema's ideas."""
    defaults = {"categorical", "gaussian", "binned", "text", "unknown"}
    named = {word for kind in kinds().values() if kind.name not in defaults for word in (kind.name, *kind.words)}
    for path in SRC.rglob("*.py"):
        if "kinds" in path.relative_to(SRC).parts:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        assert not (found & named) - {"bernoulli"}, path  # which is a model of texts, too
