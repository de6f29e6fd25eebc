"""What risk and explanations ask of a model: our classifiers keep it, and so does a class written by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from bayeskit import bayes_risk, feature_relevance, value_of_information, what_if
from bayeskit.decide.protocol import Domain, JointModel, SamplingModel
from common.registry import any_table_classifiers

by_model = pytest.mark.parametrize("model", any_table_classifiers(), ids=lambda model: type(model).__name__)

# P(x1, x2, c), with a dependence that no naive Bayes has.
JOINT = np.array([[[0.10, 0.05], [0.02, 0.23]], [[0.08, 0.22], [0.24, 0.06]]])
SAME = {"rtol": 1e-14, "atol": 0}


class ByHand:
    """Two features and a class, as one table."""

    classes_ = np.array(["no", "yes"])
    feature_names_in_ = np.array(["x1", "x2"], dtype=object)

    def domains(self):
        return [Domain(name, ("a", "b"), np.ones(2), True) for name in self.feature_names_in_]

    def log_joint(self, columns):
        return np.log([self._cell(*cells) for cells in zip(*columns, strict=True)])

    def predict_proba(self, X):
        joint = np.exp(self.log_joint([np.asarray(X[name], dtype=object) for name in self.feature_names_in_]))
        return joint / joint.sum(axis=1, keepdims=True)

    def _cell(self, first, second):
        table = JOINT if first is None else JOINT["ab".index(first)][None]
        table = table if second is None else table[:, "ab".index(second)][:, None]
        return table.sum(axis=(0, 1))


class Drawn(ByHand):
    def sample_columns(self, n_rows, rng):
        cells = rng.choice(4, size=n_rows, p=JOINT.sum(axis=2).ravel())
        return [np.array(["a", "b"], dtype=object)[cells // 2], np.array(["a", "b"], dtype=object)[cells % 2]]


@pytest.mark.filterwarnings("ignore:columns .* are the same")  # one of these columns gives the class away
@by_model
def test_every_classifier_of_any_table_keeps_the_protocol_once_it_is_fitted(model):
    table = np.random.default_rng(0).integers(0, 3, (60, 4)).astype(float)
    assert not isinstance(model, JointModel)
    model.fit(table, (table[:, 0] > 0).astype(int))
    assert isinstance(model, JointModel)
    columns = [np.array([*column, None], dtype=object) for column in table.T]
    assert_allclose(
        model.log_joint(columns),
        model.predict_joint_log_proba(np.vstack([table, np.full(4, np.nan)])),
        rtol=1e-12,
    )
    assert [domain.name for domain in model.domains()] == list(model.schema_.names)


def test_the_risk_of_a_model_written_by_hand_is_the_sum_of_its_smaller_probabilities():
    found = bayes_risk(ByHand())
    assert_allclose([found.risk, found.best_accuracy], [JOINT.min(axis=2).sum(), JOINT.max(axis=2).sum()], **SAME)
    assert (found.method, found.n_rows) == ("exact", 4)


def test_a_model_written_by_hand_that_draws_rows_gives_its_risk_by_monte_carlo():
    assert isinstance(Drawn(), SamplingModel)
    assert not isinstance(ByHand(), SamplingModel)
    found = bayes_risk(Drawn(), method="monte carlo", n_samples=40_000)
    assert abs(found.risk - JOINT.min(axis=2).sum()) < 4 * found.standard_error
    with pytest.raises(ValueError, match="ByHand cannot draw random rows; pass rows as X"):
        bayes_risk(ByHand(), method="monte carlo")


def test_the_worth_of_a_question_is_the_fall_of_the_expected_risk():
    (question,) = value_of_information(ByHand(), {"x1": "b"})
    given = JOINT[1] / JOINT[1].sum()
    assert question.feature == "x2"
    assert_allclose(question.value, given.sum(axis=0).min() - given.min(axis=1).sum(), rtol=1e-12)


def test_relevance_is_the_mutual_information_with_the_class():
    found = {each.feature: each.information for each in feature_relevance(ByHand())}
    for name, pair in (("x1", JOINT.sum(axis=1)), ("x2", JOINT.sum(axis=0))):
        apart = pair.sum(axis=1, keepdims=True) * pair.sum(axis=0)
        assert_allclose(found[name], (pair * np.log(pair / apart)).sum(), rtol=1e-12)


def test_what_if_tries_the_values_of_the_domains():
    found = what_if(ByHand(), {"x1": "a", "x2": "a"})
    assert (found.before, found.after, found.changes) == ("no", "yes", {"x2": "b"})  # 0.02 : 0.23, against 0.08 : 0.22


def test_a_model_that_knows_posteriors_only_is_refused():
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=r"needs a model that gives P\(x, c\), such as NaiveBayes; LogisticRegression"):
        feature_relevance(model)
