"""MDLTree: exact lengths, real bits, cuts, prediction with unknown cells, and what it tells of itself."""

from itertools import pairwise, product
from math import ceil, comb, log2

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit import MDLTree, datasets, description_length
from bayeskit.concept.mdl.average import Average, leaf_probability
from bayeskit.concept.mdl.decoder import decode
from bayeskit.concept.mdl.encoder import encode
from bayeskit.concept.mdl.lengths import leaf_bits, tree_length
from bayeskit.concept.mdl.lengths import test_bits as bits_of_tests
from bayeskit.concept.mdl.prune import prune
from bayeskit.concept.mdl.tree import CodedTable, Tree, label_bits
from bayeskit.errors import BayeskitError, ModelFileError
from kernels.test_grow_tree import coded_tables

SPLITS = ("values", "one-value", "groups")


def grown(table, splits):
    codes, sizes, ordered, y, k = table
    coded = CodedTable(codes, sizes, ordered)
    return coded, Tree.grow(coded, y, None, k, splits)


def same_tree(tree, node, read):
    """Say whether a node and all below it is what the receiver read."""
    if tree.test[node] == 0:
        return read.feature is None and read.label == int(tree.counts[node].argmax())
    group = None
    if tree.test[node] == 4:
        group = {code for code in range(64) if int(tree.value[node]) >> code & 1}
    value = int(tree.value[node]) if tree.value[node] >= 0 and group is None else None
    cut = tree.test[node] == 3 and tree.missing_first[node] >= 0
    first = bool(tree.missing_first[node]) if cut else None
    children = range(tree.n_nodes)[tree.children(node)]
    return (
        (read.feature, read.value, read.missing_first) == (int(tree.feature[node]), value, first)
        and read.group == group
        and len(children) == len(read.children)
        and all(same_tree(tree, child, below) for child, below in zip(children, read.children, strict=True))
    )


@settings(max_examples=150)
@given(coded_tables(), st.sampled_from(SPLITS), st.booleans())
def test_the_decoder_rebuilds_tree_and_labels_from_as_many_bits_as_were_computed(table, splits, cut_back):
    coded, tree = grown(table, splits)
    tree = prune(tree).tree if cut_back else tree
    codes, sizes, ordered, y, k = table
    message = encode(tree, coded, y, splits)
    read = decode(message.data, codes, sizes, ordered, k)
    assert_array_equal(read.labels, y)
    assert same_tree(tree, 0, read.root)
    # The whole message is one number below ∏ N, so that no more than a bit is lost.
    assert message.n_bits == ceil(sum(tree_length(tree)) - 1e-6)
    assert len(message.data) == ceil(message.n_bits / 8)


@settings(max_examples=100)
@given(coded_tables(most_rows=10), st.sampled_from(SPLITS))
def test_the_cuts_lead_to_the_shortest_of_all_trees_that_can_be_cut(table, splits):
    _, tree = grown(table, splits)
    tests = np.flatnonzero(tree.test).tolist()
    assume(len(tests) <= 8)
    found = prune(tree)
    lengths = []
    for choice in product([False, True], repeat=len(tests)):
        is_leaf = tree.test == 0
        is_leaf[tests] = choice
        lengths.append(sum(tree_length(tree.cut_back(is_leaf))))
    assert_allclose(found.bits, min(lengths), rtol=1e-12)
    assert_allclose(found.lengths[0], tree_length(tree), rtol=1e-12)
    assert_allclose(found.lengths[-1], tree_length(found.tree), rtol=1e-12)
    assert (np.diff(found.lengths.sum(axis=1)) <= 1e-9).all()


def test_lengths_by_hand():
    # 14 days: 9 yes and 5 no.
    model = MDLTree(splits="values").fit(datasets.load_tennis(), target="play")
    # One choice of three for the kind of splits, one bit for "leaf", one for the class.
    assert_allclose(model.tree_bits_, log2(3) + 2, rtol=1e-12)
    assert_allclose(model.data_bits_, log2(8) + log2(comb(14, 5)), rtol=1e-12)
    first = model.cuts_[0]
    # The grown tree asks humidity (of 4 columns), below it outlook and wind (of 3 each), then temperature (of 2, where
    # outlook is as good) and wind (of 1), and below temperature outlook (of 1): a bit and the column for each. Three of
    # its eight leaves could be tests, which takes a bit each; and eight classes.
    assert_allclose(first.tree_bits_before, log2(3) + (1 + 2) + 2 * (1 + log2(3)) + (1 + 1) + 2 + 3 + 8, rtol=1e-12)
    # Eight pure leaves of 2, 3, 1, 1, 1, 1, 1 and 4 days: lg(b + 1) each, b = n − ⌈n/2⌉.
    assert_allclose(first.data_bits_before, log2(2) + log2(2) + log2(3), rtol=1e-12)
    assert [cut.path for cut in model.cuts_][-1] == "the root"


def test_labels_of_three_classes_by_hand():
    # 10 rows: 6, 3, 1. Four exceptions of at most 6; which of the 10; 3 and 1 of the other two classes; their order.
    expected = log2(7) + log2(comb(10, 4)) + log2(comb(5, 1)) + log2(4)
    assert_allclose(label_bits(np.array([[6.0, 3.0, 1.0]]))[0], expected, rtol=1e-12)


def test_each_cut_is_told_with_both_parts_before_and_after():
    model = MDLTree().fit(datasets.load_heart(), target="disease")
    cuts = model.cuts_
    assert len(cuts) > 10
    for before, after in pairwise(cuts):
        assert before[3:] == after[1:3]
    for cut in cuts:
        assert cut.tree_bits_after < cut.tree_bits_before
        assert cut.tree_bits_after + cut.data_bits_after <= cut.tree_bits_before + cut.data_bits_before + 1e-9
    assert_allclose(cuts[-1][3:], [model.tree_bits_, model.data_bits_], rtol=1e-12)


def test_auto_takes_the_shortest_of_all_ways_to_part_values():
    heart = datasets.load_heart()
    models = {splits: MDLTree(splits=splits).fit(heart, target="disease") for splits in ("auto", *SPLITS)}
    bits = {splits: model.tree_bits_ + model.data_bits_ for splits, model in models.items()}
    assert bits["auto"] == min(bits.values())
    assert models["auto"].splits_ == min(SPLITS, key=bits.get)


def test_two_groups_of_values_are_one_test(tmp_path):
    # Four values that go two by two: one test of 2³ − 1 ways, where one value against the others needs two or three.
    colour = ["red", "blue", "green", "black"] * 16
    model = MDLTree(average=False).fit({"colour": colour}, [c in ("red", "black") for c in colour])
    assert (model.splits_, model.n_leaves_) == ("groups", 2)
    # The kind of splits, test and column, which groups, and two leaves with their classes (nothing parts their rows by
    # the one column further: each has two values, so each could be a test) and no exception of at most 16 in each.
    assert_allclose(model.tree_bits_, log2(3) + 1 + log2(7) + 2 * (1 + 1), rtol=1e-12)
    assert_allclose(model.data_bits_, 2 * log2(17), rtol=1e-12)
    assert "colour = black or red: True" in str(model)
    model.save(tmp_path / "colours.bayes")
    again = bayeskit.load(tmp_path / "colours.bayes")
    assert_array_equal(again.predict_proba({"colour": colour}), model.predict_proba({"colour": colour}))
    # A new value, and one that the node did not meet, goes both ways.
    assert_allclose(model.predict_proba({"colour": ["white", None]}), [[0.5, 0.5]] * 2, rtol=1e-12)


def test_the_two_groups_are_the_best_of_all_for_two_classes():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = rng.multinomial(40, rng.dirichlet(np.ones(5)))
        yes = rng.binomial(n, rng.random(5))
        if (n == 0).any() or yes.sum() in (0, 40):
            continue
        codes = np.repeat(np.arange(5), n).astype(np.uint32)[None]
        y = np.concatenate([np.arange(m) < k for m, k in zip(n, yes, strict=True)]).astype(np.uint32)
        tree = Tree.grow(CodedTable(codes, np.array([5]), np.array([0])), y, None, 2, "groups")
        counts = np.stack([n - yes, yes], axis=1)

        def bits(mask, counts=counts):
            inside = np.array([mask >> v & 1 for v in range(5)], dtype=bool)
            return label_bits(np.stack([counts[inside].sum(axis=0), counts[~inside].sum(axis=0)]).astype(float)).sum()

        assert_allclose(bits(int(tree.value[0])), min(bits(mask) for mask in range(1, 16)), rtol=1e-12)


def test_the_message_of_a_fitted_tree_is_read_back():
    heart = datasets.load_heart()
    model = MDLTree().fit(heart, target="disease")
    message = model.encode(heart, target="disease")
    table = model.coded_table(heart)
    read = decode(message.data, table.codes, table.sizes, table.ordered, 2)
    assert model.classes_[read.labels].tolist() == heart["disease"]
    assert message.n_bits == ceil(model.tree_bits_ + model.data_bits_)
    found = description_length(model, heart, target="disease")
    assert (found.model, found.data) == (model.tree_bits_, model.data_bits_)


def test_other_rows_than_those_of_the_fit_have_no_message():
    heart = datasets.load_heart()
    model = MDLTree().fit(heart, target="disease")
    some = {name: column[:100] for name, column in heart.items()}
    with pytest.raises(BayeskitError, match="fitted to; got other ones"):
        model.encode(some, target="disease")
    with pytest.raises(BayeskitError, match="fitted to; got other ones"):
        description_length(model, some, target="disease")
    with pytest.raises(BayeskitError, match="the label 'maybe' was not seen in fit"):
        model.encode(heart | {"disease": ["maybe"] * 303}, target="disease")


def test_an_unknown_cell_goes_down_all_branches():
    table = {"colour": ["red"] * 20 + ["blue"] * 10 + ["green"] * 10, "y": ["a"] * 20 + ["b"] * 10 + ["c"] * 10}
    model = MDLTree(smoothing=0, average=False).fit(table, target="y")
    assert_array_equal(model.predict_proba({"colour": ["red", "blue"]}), [[1, 0, 0], [0, 1, 0]])
    assert_allclose(model.predict_proba({"colour": [None, "grey"]}), [[0.5, 0.25, 0.25]] * 2, rtol=1e-12)


def test_missing_cells_are_a_value_or_take_a_side():
    values = {"x": ["u"] * 12 + [None] * 12, "y": ["a"] * 12 + ["b"] * 12}
    model = MDLTree(smoothing=0).fit(values, target="y")
    assert model.predict({"x": ["u", None]}).tolist() == ["a", "b"]
    assert "x = missing" in str(model)
    numbers = {"x": [1.0] * 12 + [2.0] * 12 + [None] * 12, "y": ["a"] * 12 + ["b"] * 24}
    model = MDLTree(smoothing=0).fit(numbers, target="y")
    assert model.predict({"x": [0.5, 1.4, 1.6, None]}).tolist() == ["a", "a", "b", "b"]
    assert str(model) == "x < 1.5: a (12, 0)\nx ≥ 1.5 or missing: b (0, 24)"


def every_cut(tree):
    """Return all trees that can be cut from one, each once."""
    tests = np.flatnonzero(tree.test).tolist()
    found = {}
    for choice in product([False, True], repeat=len(tests)):
        is_leaf = tree.test == 0
        is_leaf[tests] = choice
        found[tuple(tree.kept(is_leaf).tolist())] = tree.cut_back(is_leaf)
    return list(found.values())


@settings(max_examples=100)
@given(coded_tables(most_rows=9), st.floats(0.1, 3.0))
def test_the_average_is_the_sum_over_all_trees_by_their_posterior(table, smoothing):
    codes, sizes, ordered, y, k = table
    coded = CodedTable(codes, sizes, ordered)
    trees = [Tree.grow(coded, y, None, k, splits) for splits in SPLITS]
    assume(max(np.count_nonzero(tree.test) for tree in trees) <= 7)
    unknown = (sizes + 1)[:, None].astype(np.uint32)
    asked = CodedTable(np.hstack([codes, unknown]), sizes, ordered)
    cut = [tree for grown in trees for tree in every_cut(grown)]
    bits = np.array([sum(tree_length(tree)) for tree in cut])
    posterior = np.exp2(bits.min() - bits) / np.exp2(bits.min() - bits).sum()
    answers = np.array([Average.only(tree).predict(asked, smoothing) for tree in cut])
    # What is reached with less than 1e-6 is left out, in each of the three ways to part values.
    assert_allclose(Average.over(trees).predict(asked, smoothing), np.tensordot(posterior, answers, 1), atol=1e-5)


def test_the_bits_of_all_trees_together_are_those_of_the_sum():
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 3, (2, 12)).astype(np.uint32), rng.integers(0, 2, 12).astype(np.uint32)
    tree = Tree.grow(CodedTable(codes, np.array([3, 3]), np.array([0, 1])), y, None, 2, "one-value")
    lengths = np.array([sum(tree_length(cut)) - log2(3) for cut in every_cut(tree)])
    assert len(lengths) > 10
    assert_allclose(leaf_probability(tree)[0], -log2(np.exp2(-lengths).sum()), rtol=1e-12)


def test_the_average_may_answer_otherwise_than_its_most_probable_tree():
    heart = datasets.load_heart()
    model = MDLTree().fit(heart, target="disease")
    averaged, answered = model.predict_proba(heart), model.predict(heart)
    alone = MDLTree(average=False).fit(heart, target="disease").predict(heart)
    assert_array_equal(answered, model.classes_[averaged.argmax(axis=1)])
    assert 0 < (answered != alone).sum() < 30


def test_the_average_survives_saving(tmp_path):
    heart = datasets.load_heart()
    model = MDLTree().fit(heart, target="disease")
    model.save(tmp_path / "heart.bayes")
    again = bayeskit.load(tmp_path / "heart.bayes")
    assert_array_equal(again.predict_proba(heart), model.predict_proba(heart))
    again.average = model.average = False
    assert_array_equal(again.predict_proba(heart), model.predict_proba(heart))


def test_two_values_and_missing_cells_are_parted_in_all_ways():
    # Three values with the missing one: one value against the others is shorter than all three apart.
    x = ["u"] * 20 + ["v"] * 20 + [None] * 20
    model = MDLTree().fit({"x": x}, ["a"] * 40 + ["b"] * 20)
    assert model.n_leaves_ == 2


def test_a_path_tells_the_tests_of_a_row():
    heart = datasets.load_heart()
    model = MDLTree().fit(heart, target="disease")
    row = {name: column[5] for name, column in heart.items() if name != "disease"}
    path = model.path(row)
    assert path.label == model.predict({name: [value] for name, value in row.items()})[0]
    assert path.tests[0].startswith("thal ")
    assert sum(path.counts.values()) < 303
    assert model.path({}).tests[0] == "thal ≠ normal or missing"


def test_numbers_may_be_parted_by_value():
    table = {"code": [1, 2, 3] * 20, "y": ["a", "b", "a"] * 20}
    by_value = MDLTree(kinds="categorical").fit(table, target="y")
    assert "code = 2" in str(by_value)
    assert by_value.score(table, target="y") == 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.update(tree_first_child=np.zeros_like(a["tree_first_child"])), "do not make a tree"),
        (lambda a: a.update(tree_feature=a["tree_feature"] + 100), "do not make a tree"),
        (lambda a: a.update(tree_value=a["tree_value"] + 1000), "has a test that does not fit its column"),
        (lambda a: a.update(tree_counts=-a["tree_counts"]), "do not make a tree"),
        (lambda a: a.update(levels=a["levels"][::-1].copy()), "not in increasing order"),
        (lambda a: a.update(tree_test=np.full_like(a["tree_test"], 9)), "do not make a tree"),
        (lambda a: a.update(average0_leaf=a["average0_leaf"] + 1), "are not probabilities"),
        (lambda a: a.update(average_weight=a["average_weight"] / 2), "are not probabilities"),
    ],
)
def test_a_file_whose_tree_makes_no_sense_is_refused(change, message, tmp_path):
    from bayeskit.io import container

    heart = datasets.load_heart()
    meta, arrays = MDLTree(splits="one-value").fit(heart, target="disease")._to_parts()
    arrays = dict(arrays)
    change(arrays)
    container.write(tmp_path / "bad.bayes", "MDLTree", meta, arrays)
    with pytest.raises(ModelFileError, match=message):
        bayeskit.load(tmp_path / "bad.bayes")


def test_bad_parameters_are_refused():
    for model in (MDLTree(splits="some"), MDLTree(smoothing=-1), MDLTree(average="yes")):
        with pytest.raises(BayeskitError, match="parameter of MDLTree must be"):
            model.fit({"x": [1, 2]}, [0, 1])


def test_the_bits_of_nodes_add_up():
    heart = datasets.load_heart()
    model = MDLTree().fit(heart, target="disease")
    tree = model.tree_
    leaves = tree.test == 0
    total = log2(3) + bits_of_tests(tree).sum() + leaf_bits(tree)[leaves].sum()
    assert_allclose(model.tree_bits_, total, rtol=1e-12)
    assert_allclose(model.data_bits_, label_bits(tree.counts[leaves]).sum(), rtol=1e-12)
    assert (model.n_leaves_, model.depth_) == (int(leaves.sum()), 3)
