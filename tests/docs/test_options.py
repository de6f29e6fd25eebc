"""The table of options on the page of models says what the classifiers take."""

from pathlib import Path

import pytest

import bayeskit
from bayeskit import MEstimate
from bayeskit.learn.model import plain_class
from bayeskit.learn.parameters import refuse_parameters

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "models.md"
ROWS = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| `")
]


def test_every_classifier_with_a_fit_is_in_the_table():
    named = {cells[0].strip("`") for cells in ROWS}
    public = {name for name in bayeskit.__all__ if name[0].isupper()}
    classifiers = {
        name
        for name in public
        if isinstance(cls := getattr(bayeskit, name), type)
        and getattr(cls, "_role", None) == "classifier"
        and plain_class(cls).__module__.startswith("bayeskit.classify.")
    }
    assert classifiers == named


@pytest.mark.parametrize("cells", ROWS, ids=lambda cells: cells[0])
def test_what_the_table_says_holds(cells):
    cls = getattr(bayeskit, cells[0].strip("`"))
    prior, class_weight, leave_one_out, m_estimate = cells[1:]
    model = cls("a") if cls.__name__ == "SPODE" else cls()
    parameters = model.get_params()
    assert bool({"prior", "priors", "class_prior"} & set(parameters)) == (not prior.startswith("no"))
    assert ("class_weight" in parameters) == class_weight.startswith("yes")
    assert hasattr(cls, "leave_one_out") == leave_one_out.startswith("yes")
    if m_estimate == "yes":
        refuse_parameters(model.set_params(smoothing=MEstimate(2)), cls._rules)
