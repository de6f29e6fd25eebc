"""Every classifier of the registry, so that a new model joins the checks by being registered."""

from bayeskit.io.registry import MODELS, model_class


def classifiers():
    """One fresh model of each registered classifier, with its default parameters."""
    from sklearn.base import ClassifierMixin

    kinds = [model_class(name) for name in sorted(MODELS)]
    return [kind() for kind in kinds if issubclass(kind, ClassifierMixin)]


def decisions():
    """BayesDecision around classifiers of scikit-learn and around ours."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    from bayeskit import BayesDecision, NaiveBayes

    inner = [LogisticRegression(), GaussianNB(), DecisionTreeClassifier(random_state=0), NaiveBayes()]
    return [BayesDecision(classifier) for classifier in inner]
