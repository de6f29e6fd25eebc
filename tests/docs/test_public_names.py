"""What tab completion shows of an estimator is what a user uses: documented, and in the reference."""

import re
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin, RegressorMixin, TransformerMixin

from bayeskit import NaiveBayes
from bayeskit.learn.model import plain_class
from common.registry import everyone

PAGES = "\n".join(path.read_text() for path in (Path(__file__).parents[2] / "docs/reference").glob("*.md"))
OF_SCIKIT_LEARN = {*dir(BaseEstimator), *dir(ClassifierMixin), *dir(ClusterMixin), *dir(RegressorMixin)}
OF_SCIKIT_LEARN |= {*dir(TransformerMixin), "n_features_in_", "feature_names_in_", "n_iter_", "labels_", "classes_"}


def public_names(kind):
    return [name for name in dir(kind) if not name.startswith("_")]


def in_reference(name, kind):
    """Return whether a page shows a name: of this class, of NaiveBayes for all, or in a list."""
    directive = re.search(rf"autoclass:: bayeskit\.{kind.__name__}\n((?:   :.*\n)*)", PAGES)
    shown = directive[1] if directive else ""
    if re.search(rf"\b{name}\b", shown) or ":inherited-members:" in shown:
        return True
    # With ":members:" alone, what the class itself defines; what all models share is at NaiveBayes.
    if re.search(r":members:\s*$", shown, flags=re.MULTILINE) and name in vars(plain_class(kind)):
        return True
    return name in public_names(NaiveBayes) or name in (kind.__doc__ or "")


@pytest.mark.parametrize("kind", sorted({type(model) for model in everyone()}, key=str), ids=lambda kind: kind.__name__)
def test_every_public_name_of_an_estimator_is_documented_and_in_the_reference(kind):
    parameters = (
        set(kind(NaiveBayes()).get_params(deep=False))
        if "estimator" in kind.__init__.__annotations__
        else {*kind().get_params(deep=False)}
    )
    for name in public_names(kind):
        if name in parameters or name in OF_SCIKIT_LEARN or re.fullmatch(r"set_\w+_request", name):
            continue
        assert getattr(kind, name).__doc__, f"{kind.__name__}.{name} has no docstring"
        assert in_reference(name, kind), f"{kind.__name__}.{name} is not in the reference"


@pytest.mark.parametrize(
    "name",
    [
        "compared_as",
        "compared_when_asked",
        "counted_as",
        "takes_kind",
        "log_joint_of_codes",
        "to_parts",
        "from_parts",
        "used_cells",
        "dependence",
    ],
)
def test_the_machinery_is_not_among_them(name):
    assert [type(model).__name__ for model in everyone() if hasattr(model, name)] == []
