"""Every registered classifier explains itself: prior and terms sum to the posterior log-odds."""

import numpy as np
import pytest

from common.registry import any_table_classifiers


@pytest.mark.parametrize("model", any_table_classifiers(), ids=lambda model: type(model).__name__)
def test_prior_and_terms_sum_to_the_posterior_log_odds(model):
    table = np.random.default_rng(0).integers(0, 3, (60, 4)).astype(float)
    model.fit(table, (table[:, 0] + table[:, 1] > 2).astype(int))
    row = np.array([2.0, np.nan, 1.0, 0.0])
    found = model.explain(row, classes=(1, 0))
    log_proba = model.predict_log_proba(row[None, :])[0]
    assert abs(found.log_odds - (log_proba[1] - log_proba[0])) < 1e-9
    assert found.used.tolist() == [True, False, True, True]
    assert "60 rows, 4 features, 2 classes" in str(model.summary())
