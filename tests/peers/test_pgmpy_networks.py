"""The Gaussian networks of the Bayesian Network Repository (pgmpy brings them) against the algebra of joint normals."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import BayesianNetwork

NAMES = ("ecoli70", "arth150", "magic-niab", "magic-irri")


def file_of(name: str) -> Path:
    spec = find_spec("pgmpy")
    if spec is None or spec.origin is None:
        pytest.skip("pgmpy, which brings these networks, is not installed")
    return Path(spec.origin).parent / "utils" / "example_models" / f"{name}.json"


def joint_normal(path: Path) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return names, mean and covariance: x = a + Bx + e, so x = (I − B)⁻¹(a + e)."""
    data = json.loads(path.read_text())
    names = data["nodes"]
    place = {name: k for k, name in enumerate(names)}
    first = lambda value: value[0] if isinstance(value, list) else value  # noqa: E731
    slopes, intercept, variance = np.zeros((len(names),) * 2), np.zeros(len(names)), np.zeros(len(names))
    for name, cpd in data["cpds"].items():
        for parent, b in cpd["coefficients"].items():
            if parent == "(Intercept)":
                intercept[place[name]] = first(b)
            else:
                slopes[place[name], place[parent]] = first(b)
        variance[place[name]] = first(cpd["variance"])
    total = np.linalg.inv(np.eye(len(names)) - slopes)
    return names, total @ intercept, total @ np.diag(variance) @ total.T


@pytest.mark.parametrize("name", NAMES)
def test_posteriors_are_those_of_the_joint_normal(name):
    path = file_of(name)
    net = BayesianNetwork.read(path)
    names, mean, covariance = joint_normal(path)
    rng = np.random.default_rng(0)
    for _ in range(5):
        seen = sorted(rng.choice(len(names), 6, replace=False).tolist())
        numbers = rng.multivariate_normal(mean, covariance, method="eigh")[seen]
        given = {names[v]: float(x) for v, x in zip(seen, numbers, strict=True)}
        free = [v for v in range(len(names)) if v not in seen]
        gain = np.linalg.solve(covariance[np.ix_(seen, seen)], covariance[np.ix_(seen, free)]).T
        expected = mean[free] + gain @ (numbers - mean[seen])
        left = covariance[np.ix_(free, free)] - gain @ covariance[np.ix_(seen, free)]
        answer = net.posterior(given=given)
        sd = np.sqrt(np.diagonal(left))
        # In units of the posterior's own deviation, as the algebra above loses digits where slopes are large.
        assert_allclose(
            [answer[names[v]].mean / s for v, s in zip(free, sd, strict=True)], expected / sd, atol=1e-8, rtol=1e-10
        )
        assert_allclose([answer[names[v]].sd for v in free], sd, rtol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_structure_and_numbers_come_back_from_a_file(name, tmp_path):
    net = BayesianNetwork.read(file_of(name))
    net.write(tmp_path / "net.json")
    assert BayesianNetwork.read(tmp_path / "net.json").equals(net)
    assert len(net) == {"ecoli70": 46, "arth150": 107, "magic-niab": 44, "magic-irri": 64}[name]
