"""Naive Bayes on UCI car: the numbers of R's bnclassify and bnlearn."""

import csv
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

from bayeskit import NaiveBayes

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
TABLE, VALUES = SHARED / "data/tabular/car.csv", SHARED / "golden/car-bnclassify.csv"

# Sums of 1 728 logarithms.
ROUNDING = 1e-13


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def car():
    if not TABLE.exists():
        pytest.skip("the car table lies in ../shared/data/tabular, which is not here")
    rows = read(TABLE)
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.fixture(scope="module")
def model(car):
    return NaiveBayes(smoothing=0).fit(car, target=list(car)[-1])


def test_log_likelihood_aic_and_bic_are_those_of_bnclassify(car, model):
    target = list(car)[-1]
    assert len(car[target]) == 1728
    assert_allclose(model.log_likelihood(car, target=target), -13503.6883427047687, rtol=ROUNDING)
    assert_allclose(-0.5 * model.aic(car, target=target), -13566.6883427047687, rtol=ROUNDING)
    assert_allclose(-0.5 * model.bic(car, target=target), -13738.5120211097346, rtol=ROUNDING)


def test_63_parameters_stand_for_a_joint_of_6912_cells(model):
    assert model.n_parameters_ == 63
    assert model.n_joint_cells_ == 6912


def test_the_numbers_are_those_of_the_shared_file(car, model):
    if not VALUES.exists():
        pytest.skip("the golden values lie in ../shared/golden, which is not here")
    values = {row["quantity"]: row["value"] for row in read(VALUES)}
    target = list(car)[-1]
    assert_allclose(
        model.log_likelihood(car, target=target), float(values["NB MLE loglik (all 6 attrs)"]), rtol=ROUNDING
    )
    assert_allclose(-0.5 * model.aic(car, target=target), float(values["NB MLE AIC (loglik - df)"]), rtol=ROUNDING)
    assert_allclose(
        -0.5 * model.bic(car, target=target), float(values["NB MLE BIC (loglik - df*ln(N)/2)"]), rtol=ROUNDING
    )


def test_one_column_alone(car):
    target = list(car)[-1]
    table = {"buying": car["buying"], "class": car[target]}
    model = NaiveBayes(smoothing=0).fit(table, target="class")
    assert model.n_parameters_ == 15
    assert_allclose(model.log_likelihood(table, target="class"), -3724.18038821656, rtol=ROUNDING)
    assert_allclose(-0.5 * model.bic(table, target="class"), -3780.09078783678, rtol=ROUNDING)
