"""Each problem is found where it was planted, and not in a table that has none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bayeskit
from bayeskit.table.column import Numbers
from bayeskit.table.problems import Examined, find_problems
from bayeskit.table.problems.label_variants import variants
from bayeskit.table.problems.read_table import problems_of
from bayeskit.table.problems.registry import ORDER

N = 400


def clean(n=N, seed=0):
    """A table with numbers and categories that say something about the class, and nothing wrong."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return {
        "age": rng.normal(40 + 5 * y, 10).round(1).tolist(),
        "height": rng.normal(170, 8, n).round(1).tolist(),
        "wind": rng.choice(["weak", "strong", "none"], n).tolist(),
        "sky": np.where(rng.random(n) < 0.3 + 0.4 * y, "clear", "cloudy").tolist(),
        "play": np.where(y, "yes", "no").tolist(),
    }


def codes_of(table, target="play"):
    return {problem.code: problem for problem in problems_of(bayeskit.read(table, target))}


@pytest.mark.parametrize("seed", range(10))
def test_a_clean_table_has_no_problem(seed):
    assert codes_of(clean(seed=seed)) == {}


def test_a_table_without_a_target_is_looked_through_too():
    table = clean()
    table["unit"] = ["cm"] * N
    del table["play"]
    assert list(codes_of(table, None)) == ["constant"]


def planted():
    """Name of a problem → a table that has it, and the columns that it is in."""
    rng = np.random.default_rng(1)
    cases = {}

    def plant(code, columns, **changes):
        cases[code] = ({**clean(), **changes}, columns)

    base = clean()
    y = np.array([label == "yes" for label in base["play"]])
    plant("constant", ("unit",), unit=["cm"] * N)
    plant("nearly constant", ("unit",), unit=["cm"] * (N - 1) + ["m"])
    plant("ids", ("customer_id",), customer_id=(1000 + 7 * rng.permutation(N)).tolist())
    plant("leakage", ("ticket",), ticket=np.where(y, "A", "B").tolist())
    plant(
        "same columns", ("wind", "wind_code"), wind_code=[{"weak": 1, "strong": 2, "none": 3}[w] for w in base["wind"]]
    )
    plant(
        "label variants",
        ("play",),
        play=[" Yes" if i % 40 == 0 and label == "yes" else label for i, label in enumerate(base["play"])],
    )
    plant("rare classes", ("play",), play=[*base["play"][:-2], "maybe", "maybe"])
    plant("sentinels", ("age",), age=[-999 if i % 20 == 0 else age for i, age in enumerate(base["age"])])
    plant("mixed", ("dose",), dose=["not asked" if i % 10 == 0 else str(20 + i % 60) for i in range(N)])
    plant("outliers", ("height",), height=[*base["height"][:-1], 17000.0])
    missing = rng.random(N) < np.where(y, 0.4, 0.05)
    plant(
        "informative missing",
        ("height",),
        height=[None if gone else h for gone, h in zip(missing, base["height"], strict=True)],
    )
    towns = [f"town {i}" if i % 3 == 0 else "city" for i in range(N)]
    plant("seen once", ("town",), town=towns)
    plant("texts", ("note",), note=[f"{i} words that somebody wrote about this row, {rng.random()}" for i in range(N)])
    days = (np.datetime64("2021-01-01") + rng.integers(0, 700, N)).astype(str).tolist()
    plant("dates", ("sold",), sold=days)
    return cases


@pytest.mark.parametrize("code", list(planted()))
def test_a_planted_problem_is_found_alone_with_its_column_and_a_remedy(code):
    table, columns = planted()[code]
    problems = codes_of(table)
    assert list(problems) == [code]
    problem = problems[code]
    assert problem.columns == columns
    assert all((problem.message, problem.why, problem.what_to_do, problem.n))


def test_copied_rows_are_found_and_rows_that_are_equal_by_chance_are_not():
    copied = {name: [*cells, *cells[:40]] for name, cells in clean().items()}
    problem = codes_of(copied)["duplicates"]
    assert problem.n == 40
    assert "rows 1 and 401" in problem.example
    few = {name: cells for name, cells in clean().items() if name in ("wind", "sky", "play")}
    assert "duplicates" not in codes_of(few)


def test_equal_rows_of_two_classes_give_the_least_error_by_brute_force():
    few = {name: cells for name, cells in clean().items() if name in ("wind", "sky", "play")}
    problem = codes_of(few)["contradictions"]
    rows = list(zip(few["wind"], few["sky"], strict=True))
    wrong = 0
    for pair in set(rows):
        labels = [label for row, label in zip(rows, few["play"], strict=True) if row == pair]
        wrong += len(labels) - max(labels.count("no"), labels.count("yes"))
    assert problem.n == wrong
    assert f"{100 * wrong / N:.1f} %" in problem.why


@pytest.mark.parametrize("sign", [".", ","])
def test_numbers_beside_a_word_are_said_and_the_option_reads_them(sign):
    rng = np.random.default_rng(0)
    numbers = rng.normal(20, 5, 300).round(2)
    cells = ["not asked" if i % 8 == 0 else f"{x:.2f}".replace(".", sign) for i, x in enumerate(numbers)]
    table = {"dose": cells, "play": rng.choice(["no", "yes"], 300).tolist()}
    problem = codes_of(table)["mixed"]
    assert problem.n == 38
    assert problem.columns == ("dose",)
    assert problem.options == (("missing", "dose=not asked"),)
    read = bayeskit.read(table, "play", missing=["dose=not asked"])
    assert read.kinds == {"dose": "numeric"}
    assert [x for x in read["dose"].to_pylist() if x is not None] == [x for i, x in enumerate(numbers) if i % 8]


def test_codes_with_letters_among_digits_are_no_numbers_with_words():
    cells = [f"{i * 37 % 400}" if i % 3 else f"A/{i}" for i in range(300)]
    table = {"ticket": [*cells, *cells], "play": (["no", "yes", "yes"] * 200)}
    assert "mixed" not in codes_of(table)


def test_a_zero_among_measurements_is_a_sentinel_and_a_zero_among_counts_is_not():
    rng = np.random.default_rng(0)
    table = clean()
    table["pressure"] = np.where(rng.random(N) < 0.05, 0, rng.normal(75, 10, N).round()).astype(int).tolist()
    table["children"] = rng.poisson(8, N).tolist()
    assert codes_of(table)["sentinels"].columns == ("pressure",)


def test_rows_of_a_patient_are_groups_and_the_option_names_the_folds():
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(100), 4)
    by_patient = {name: [cells[p] for p in patient] for name, cells in clean(100).items() if name != "height"}
    table = {"patient": [f"p{p}" for p in patient], **by_patient, "dose": rng.normal(size=400).round(2).tolist()}
    problem = codes_of(table)["groups"]
    assert problem.columns == ("patient",)
    assert problem.n == 100
    assert problem.options == (("folds", "group:patient"),)


def test_several_problems_do_not_hide_each_other():
    table = clean()
    table["ticket"] = ["A" if label == "yes" else "B" for label in table["play"]]
    table["customer_id"] = (1000 + 7 * np.arange(N)).tolist()
    table["play"] = [f" {label.title()}" if i % 10 == 0 else label for i, label in enumerate(table["play"])]
    table["age"] = [-999 if i % 20 == 0 else age for i, age in enumerate(table["age"])]
    table = {name: [*cells, *cells[:20]] for name, cells in table.items()}
    problems = codes_of(table)
    assert set(problems) == {"leakage", "duplicates", "label variants", "sentinels", "ids"}
    assert problems["leakage"].columns == ("ticket",)


def test_few_rows_for_many_columns_are_said():
    rng = np.random.default_rng(0)
    table = {f"x{j}": rng.normal(size=40).tolist() for j in range(60)} | {"play": (["a", "b"] * 20)}
    assert codes_of(table)["few rows"].n == 40


def test_a_column_that_the_user_has_named_is_not_an_id():
    table = {**clean(), "customer_id": list(range(3, 3 + 7 * N, 7))}
    read = bayeskit.read(table, "play", kinds={"customer_id": "numeric"})
    assert "ids" not in {problem.code for problem in problems_of(read)}


def test_held_out_information_of_a_column_is_what_counting_by_hand_gives():
    y = np.array([0, 1] * 200)
    table = Examined({"x": Numbers(y.astype(float)), "noise": Numbers(np.arange(400) % 7)}, y=y, classes=("a", "b"))
    half = table._half
    by_hand = 0.0
    for part in (half, ~half):
        prior = np.bincount(y[part]) / part.sum()
        n = int((y[part] == 0).sum()), int((y[part] == 1).sum())
        for c in y[~part]:
            by_hand += np.log2((n[c] + prior[c]) / (n[c] + 1) / prior[c])
    assert table.information("x") == pytest.approx(by_hand / 400, abs=1e-7)
    assert table.information("noise") < 0.01


@pytest.mark.parametrize(
    ("levels", "counts", "merged"),
    [
        (["yes", " Yes", "YES", "yess", "no"], [40, 3, 2, 1, 50], {" Yes": "yes", "YES": "yes", "yess": "yes"}),
        (["male", "female"], [40, 1], {}),
        (["Iran", "Iraq"], [40, 1], {}),
        (["grade1", "grade2"], [40, 1], {}),
        (["malignant", "malignent", "benign"], [200, 2, 300], {"malignent": "malignant"}),
        (["Ａ区", "A区"], [2, 30], {"Ａ区": "A区"}),
        (["new york", "New-York", "New_York."], [5, 3, 1], {"New-York": "new york", "New_York.": "new york"}),
    ],
)
def test_spellings_of_one_value(levels, counts, merged):
    assert dict(variants(levels, counts)) == merged


def test_many_rows_are_sampled_and_the_words_say_so():
    n = 3_000_000
    table = Examined({"x": Numbers(np.arange(n) % 977 + 0.5), "unit": Numbers(np.ones(n))})
    problems = find_problems(replace(table))
    assert [problem.code for problem in problems] == ["nearly constant"]
    assert "2,500,000 sampled rows" in problems[0].message


def test_every_check_has_a_place_in_the_order():
    from bayeskit.table.problems.checks import CHECKS

    find_problems(Examined({}))
    assert sorted(CHECKS) == sorted(ORDER)


@pytest.mark.parametrize(
    "levels",
    [
        ["A", "A-", "B", "B-", "B+"],
        ["1", "-1"],
        ["level 1", "level -1"],
        ["symptomatic", "asymptomatic"],
        ["afferent", "efferent"],
        ["macrocytic", "microcytic"],
        ["abduction", "adduction"],
        ["employer", "employee"],
        ["vii", "viii"],
    ],
)
def test_values_that_mean_the_opposite_stay_apart(levels):
    assert variants(levels, [1000] + [20] * (len(levels) - 1)) == {}
    assert variants(levels, [20] * (len(levels) - 1) + [1000]) == {}


def test_hyphens_and_spaces_between_words_are_one_spelling():
    levels, counts = ["self-employed", "Self employed", "self_employed", "self  employed"], [90, 3, 2, 1]
    assert set(variants(levels, counts).values()) == {"self-employed"}
    assert len(variants(levels, counts)) == 3


def test_columns_that_were_left_out_for_two_reasons_are_two_problems():
    table = {**clean(), "number": list(range(1, N + 1)), "key": [f"K{i * 7919 % 100_003:06}" for i in range(N)]}
    problems = [problem for problem in problems_of(bayeskit.read(table, "play")) if problem.code == "ids"]
    assert {problem.columns: "numbers the rows" in problem.message for problem in problems} == {
        ("number",): True,
        ("key",): False,
    }
