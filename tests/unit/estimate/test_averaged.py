"""An average over super-parents: a column without any value takes no part in it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import AODE, datasets


@pytest.mark.filterwarnings("ignore:column 'empty' has no value")
@pytest.mark.parametrize("settings", [{}, {"n_parents": 2}, {"unseen": "smooth"}, {"smoothing": "back-off"}], ids=str)
def test_a_column_without_values_changes_nothing(settings):
    tennis = dict(datasets.load_tennis())
    play = tennis.pop("play")
    plain = AODE(**settings).fit(tennis, play)
    with_empty = {"empty": np.full(14, None, dtype=object), **tennis}
    model = AODE(**settings).fit(with_empty, play)
    assert_allclose(model.predict_proba(with_empty), plain.predict_proba(tennis), rtol=1e-12)
    left_out = model.leave_one_out(with_empty, play).log_posterior
    assert_allclose(left_out, plain.leave_one_out(tennis, play).log_posterior, rtol=1e-9)


def test_one_column_is_backed_off_as_with_one_that_says_nothing():
    tennis = datasets.load_tennis()
    alone, play = {"outlook": tennis["outlook"]}, tennis["play"]
    beside = alone | {"same": ["a"] * 14}
    expected = AODE(smoothing="back-off", min_rows=0).fit(beside, play).predict(beside)
    model = AODE(smoothing="back-off", min_rows=0).fit(alone, play)
    assert (model.predict(alone) == expected).all()
    assert model.leave_one_out(alone, play).log_posterior.shape == (14, 2)
