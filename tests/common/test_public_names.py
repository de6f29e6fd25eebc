"""Tab completion shows what a user uses: parameters, methods, and what was learned."""

import inspect

import pytest

from common.registry import everyone

# Names of the stages inside, which once stood among the methods.
MACHINERY = {
    *("compared_as", "counted_as", "takes_kind", "log_joint_of_codes", "to_parts", "from_parts", "used_cells"),
    *("dependence", "beliefs", "state", "settings"),
}


@pytest.mark.parametrize("model", everyone(), ids=lambda model: str(model)[:40])
def test_a_public_name_is_a_parameter_a_method_or_what_was_learned(model):
    names = {name for name in dir(model) if not name.startswith("_")}
    attributes = {name for name in names if not callable(inspect.getattr_static(type(model), name, None))}
    attributes = {
        name
        for name in attributes
        if not isinstance(inspect.getattr_static(type(model), name, None), classmethod | staticmethod)
        # scikit-learn's own: methods that are there on a condition
        and not type(inspect.getattr_static(type(model), name, None)).__module__.startswith("sklearn.")
    }
    parameters = set(model.get_params(deep=False))
    assert {name for name in attributes - parameters if not name.endswith("_")} == set()
    assert not names & MACHINERY
    assert parameters <= names
