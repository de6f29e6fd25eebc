"""Every classifier of the registry, so that a new model joins the checks by being registered."""

from bayeskit.io.registry import MODELS, estimator_named


def classifiers():
    """One fresh model of each registered classifier of tables that learns from counts, with its default parameters."""
    return [model for model in _registered() if model.__sklearn_tags__().input_tags.two_d_array]


def any_table_classifiers():
    """Of these, the ones that read any table: of mixed columns, and with missing cells."""
    return [model for model in classifiers() if model.__sklearn_tags__().input_tags.allow_nan]


def whole_models():
    """One fresh model of each registered estimator that is fitted whole and not from counts."""
    from bayeskit.concept.posterior_classifier import PosteriorClassifier
    from bayeskit.learn.whole_model import WholeModel
    from bayeskit.mixture.base import MixtureModel

    kinds = [estimator_named(name) for name in sorted(MODELS)]
    whole = [kind for kind in kinds if issubclass(kind, WholeModel) or issubclass(kind, PosteriorClassifier)]
    return [kind() for kind in whole if not issubclass(kind, MixtureModel)]


def mixtures():
    """Mixtures: with their default parameters, and k-means."""
    from bayeskit import GaussianMixture, KMeans, LatentClass

    return [GaussianMixture(), KMeans(3), LatentClass()]


def chains():
    """Models of sequences."""
    from bayeskit import HiddenMarkov

    return [HiddenMarkov(2, n_init=1)]


def semi_supervised():
    """SemiSupervised around a classifier that learns from counts."""
    from bayeskit import NaiveBayes, SemiSupervised

    return [SemiSupervised(NaiveBayes())]


def _registered():
    from sklearn.base import ClassifierMixin

    from bayeskit.learn.learner import Learner

    kinds = [estimator_named(name) for name in sorted(MODELS)]
    return [kind() for kind in kinds if issubclass(kind, ClassifierMixin) and issubclass(kind, Learner)]


def decisions():
    """BayesDecision around classifiers of scikit-learn and around ours."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    from bayeskit import BayesDecision, NaiveBayes

    inner = [LogisticRegression(), GaussianNB(), DecisionTreeClassifier(random_state=0), NaiveBayes()]
    return [BayesDecision(classifier) for classifier in inner]


def everyone():
    """One fresh estimator of each public class, and of each that wraps another."""
    import bayeskit
    from bayeskit import AutoText, BruteForceMAP, CandidateElimination, Discretizer, FindS, TextClassifier

    others = [TextClassifier(), AutoText(), FindS(), CandidateElimination(), BruteForceMAP(noise=0.1)]
    known = [
        *classifiers(),
        *whole_models(),
        *mixtures(),
        *chains(),
        *semi_supervised(),
        *decisions(),
        *others,
        Discretizer(),
    ]
    assert {type(model).__name__ for model in known} >= {
        name for name in bayeskit._PUBLIC if hasattr(getattr(bayeskit, name), "get_params")
    }
    return known
