import numpy as np
import pandas as pd
import pytest

from bayeskit import NaiveBayes, datasets
from common.registry import any_table_classifiers


def test_it_tells_rows_priors_kinds_bins_and_missing_rates():
    frame = pd.DataFrame(
        {"colour": ["red", "red", None, "blue"], "size": [1.0, 2.0, 3.0, 9.0], "weight": [1.0, np.nan, 3.0, 4.0]}
    )
    model = NaiveBayes(kinds={"size": "equal-width"}, bins=2).fit(frame, ["a", "a", "b", "b"])
    text = str(model.summary())
    assert "NaiveBayes: 4 rows, 3 features, 2 classes" in text
    assert "a  P = 0.5000  rows 2" in text
    assert "colour  categorical  missing 25.0%  2 values: blue, red" in text
    assert "size    binned       missing 0.0%  2 bins, edges 5" in text
    assert "weight  gaussian     missing 25.0%  mean a 1, b 3.5" in text


def test_the_most_telling_value_is_the_one_with_the_largest_mean_weight():
    summary = NaiveBayes(smoothing=0).fit(datasets.load_tennis(), target="play").summary()
    (first, *_) = summary.top_values(list(summary.classes).index("no"))
    assert first == ("humidity", "high", pytest.approx(np.log((4 / 5) / (3 / 9))))
    overcast = next(item for item in summary.top_values(list(summary.classes).index("yes")) if item[1] == "overcast")
    assert overcast[2] == np.inf


@pytest.mark.parametrize("model", [*any_table_classifiers(), NaiveBayes(unseen="smooth", kinds="categorical")], ids=str)
@pytest.mark.filterwarnings("ignore:rows left out gain nothing")
def test_every_classifier_of_any_table_has_one(model):
    table = np.random.default_rng(0).integers(0, 3, (30, 2)).astype(float)
    text = str(model.fit(table, np.repeat(["yes", "no"], [20, 10])).summary()).splitlines()
    assert text[0] == f"{type(model).__name__}: 30 rows, 2 features, 2 classes"
    classes = [line.split()[:6] for line in text if " P = " in line]
    assert [(name, rows) for name, _, _, _, _, rows in classes] == [("no", "10"), ("yes", "20")]
    assert [line.split()[0] for line in text[text.index("features") + 1 :]] == ["x0", "x1"]


def test_one_class_alone_has_no_telling_values():
    summary = NaiveBayes().fit({"x": ["a", "b"]}, ["c", "c"]).summary()
    assert summary.top_values(0) == []
