"""Learning with Bayes' rule: count, then believe, then decide."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Name of a model → the module that holds it. These can be saved, and a model file can ask for no other class.
_MODELS = {
    "AODE": "bayeskit.classify.aode",
    "AutoBayes": "bayeskit.classify.auto.model",
    "AutoText": "bayeskit.classify.auto_text.model",
    "BayesDecision": "bayeskit.decide.bayes_decision",
    "BayesOptimalClassifier": "bayeskit.concept.optimal",
    "BayesianNetwork": "bayeskit.network.network",
    "BernoulliNB": "bayeskit.classify.bernoulli_nb",
    "CategoricalNB": "bayeskit.classify.categorical_nb",
    "ComplementNB": "bayeskit.classify.complement_nb",
    "DynamicNetwork": "bayeskit.sequence.dynamic_network",
    "GaussianBayes": "bayeskit.classify.gaussian_bayes",
    "GaussianNB": "bayeskit.classify.gaussian_nb",
    "GaussianMixture": "bayeskit.mixture.gaussian_mixture",
    "GibbsClassifier": "bayeskit.concept.gibbs_classifier",
    "HiddenMarkov": "bayeskit.sequence.hidden_markov",
    "KDB": "bayeskit.classify.kdb",
    "KMeans": "bayeskit.mixture.k_means",
    "LatentClass": "bayeskit.mixture.latent_class",
    "LeastSquares": "bayeskit.concept.least_squares",
    "LogisticRegression": "bayeskit.classify.logistic_regression",
    "MDLTree": "bayeskit.concept.mdl_tree",
    "MultinomialNB": "bayeskit.classify.multinomial_nb",
    "NaiveBayes": "bayeskit.classify.naive_bayes",
    "NetworkClassifier": "bayeskit.classify.network_classifier",
    "KNeighbors": "bayeskit.classify.k_neighbors",
    "ODE": "bayeskit.classify.ode",
    "SequenceClassifier": "bayeskit.sequence.sequence_classifier",
    "SPODE": "bayeskit.classify.spode",
    "SigmoidUnit": "bayeskit.concept.sigmoid",
    "TAN": "bayeskit.classify.tan",
    "TextClassifier": "bayeskit.classify.text",
}
# All public names, loaded at first use, so that `import bayeskit` costs next to nothing.
_PUBLIC = {
    **_MODELS,
    "BruteForceMAP": "bayeskit.concept.brute_force",
    "CandidateElimination": "bayeskit.concept.candidate_elimination",
    "Discretizer": "bayeskit.table.bins",
    "FindS": "bayeskit.concept.find_s",
    "Hypotheses": "bayeskit.concept.hypotheses",
    "BDeu": "bayeskit.network.learn.pseudo_counts",
    "BackOff": "bayeskit.estimate.smoothing",
    "Dirichlet": "bayeskit.network.learn.pseudo_counts",
    "Lidstone": "bayeskit.estimate.smoothing",
    "MEstimate": "bayeskit.estimate.smoothing",
    "SemiSupervised": "bayeskit.classify.semi_supervised",
    "Tokenizer": "bayeskit.table.tokenizer",
    "arc_reasons": "bayeskit.network.learn.arc_reasons",
    "arc_strength": "bayeskit.network.learn.arc_strength",
    "bayes_error": "bayeskit.workflow.bayes_error",
    "bayes_risk": "bayeskit.decide.bayes_risk",
    "compare": "bayeskit.workflow.compare",
    "compare_networks": "bayeskit.network.learn.structure_difference",
    "description_length": "bayeskit.concept.description_length",
    "distill": "bayeskit.export.distill",
    "drop_unlabeled": "bayeskit.table.rows",
    "explore": "bayeskit.studio.notebook",
    "feature_relevance": "bayeskit.explain.relevance",
    "independence_test": "bayeskit.network.learn.independence_test",
    "learn_pag": "bayeskit.network.learn.fci",
    "learn_structure": "bayeskit.network.learn.search",
    "load": "bayeskit.io.model_files",
    "mean_loss": "bayeskit.decide.scorer",
    "network_score": "bayeskit.network.learn.scored_families",
    "overall_risk": "bayeskit.decide.risk",
    "read": "bayeskit.workflow.reading",
    "read_texts": "bayeskit.table.corpus_files",
    "scan": "bayeskit.cluster.scan",
    "set_language": "bayeskit.language",
    "threads": "bayeskit._kernels.threads",
    "to_c": "bayeskit.export.c.score",
    "to_onnx": "bayeskit.export.onnx.score",
    "to_sql": "bayeskit.export.sql.score",
    "value_of_information": "bayeskit.explain.relevance",
    "what_if": "bayeskit.explain.what_if",
}
_STAGES = ("concept", "course", "datasets", "errors", "explain", "network", "plot")

__all__ = ["__version__", *_PUBLIC, *_STAGES]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(_PUBLIC[name]), name)
        if hasattr(value, "_role"):  # a model: what is public is its estimator
            value = import_module("bayeskit.learn.estimator").estimator_class(value)
    elif name in _STAGES:
        value = import_module(f"bayeskit.{name}")
    else:
        raise AttributeError(f"module 'bayeskit' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
