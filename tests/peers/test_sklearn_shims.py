"""What the shims say that ours does not offer, it does not offer."""

import pytest

import bayeskit
from bayeskit.errors import BayeskitError
from peers.sklearn_shims import NOT_OFFERED

VALUES = {"'auto'": "auto", "'saga'": "saga", "'sag'": "sag", "'liblinear'": "liblinear", "0": 0, "callable": len}


WHOLE = [(model, option) for model, option in NOT_OFFERED if "=" not in option]
BY_VALUE = [(model, *option.split("=")) for model, option in NOT_OFFERED if "=" in option]


@pytest.mark.parametrize(("model", "option"), WHOLE, ids="-".join)
def test_an_option_that_is_listed_as_missing_is_missing(model, option):
    assert option not in getattr(bayeskit, model)().get_params()


@pytest.mark.parametrize(("model", "option", "value"), BY_VALUE, ids="-".join)
def test_a_value_that_is_listed_as_refused_is_refused(model, option, value):
    ours = getattr(bayeskit, model)(**{option: VALUES[value]})
    with pytest.raises(BayeskitError, match=f"'{option}' parameter"):
        ours.fit([[0.0], [1.0], [2.0], [1.0]], [0, 1, 1, 0])
