import numpy as np
import pandas as pd
import pytest

from bayeskit import CategoricalNB, GaussianNB, NaiveBayes, datasets


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
    (first, *_) = summary.telling(list(summary.classes).index("no"))
    assert first == ("humidity", "high", pytest.approx(np.log((4 / 5) / (3 / 9))))
    overcast = next(item for item in summary.telling(list(summary.classes).index("yes")) if item[1] == "overcast")
    assert overcast[2] == np.inf


@pytest.mark.parametrize("model", [GaussianNB(), CategoricalNB(), NaiveBayes(unseen="smooth", kinds="categorical")])
def test_every_naive_model_has_one(model):
    table = np.random.default_rng(0).integers(0, 3, (30, 2))
    text = str(model.fit(table, np.repeat(["yes", "no"], 15)).summary())
    assert "30 rows, 2 features, 2 classes" in text
    assert "x1" in text


def test_one_class_alone_has_no_telling_values():
    summary = NaiveBayes().fit({"x": ["a", "b"]}, ["c", "c"]).summary()
    assert summary.telling(0) == []
