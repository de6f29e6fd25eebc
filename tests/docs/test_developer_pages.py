"""The developer pages are true: their code, put into a package of its own, keeps the laws that the library keeps."""

import importlib
import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that writes a page's blocks as modules of a new package and imports the first."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(page, module):
        name = f"package_of_{page}"
        blocks = BLOCK.findall((ROOT / "docs/developer" / f"{page}.md").read_text(encoding="utf-8"))
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
        (tmp_path / name / f"{module}.py").write_text(blocks[0])
        return importlib.import_module(f"{name}.{module}"), blocks

    yield make
    for name in [name for name in sys.modules if name.startswith("package_of_")]:
        del sys.modules[name]


def loaded(path):
    """Return a module of tests by its path."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / "tests" / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_new_kind_keeps_the_laws_of_all_kinds(package):
    from bayeskit.kinds.kind import KINDS

    KINDS.pop("exponential", None)  # the page itself was run
    module, _ = package("new_kind", "exponential")
    try:
        assert KINDS["exponential"] is module.Exponential
        registry, em = loaded("unit/kinds/test_registry.py"), loaded("laws/test_semi_supervised.py")
        registry.test_the_grid_of_a_kind_sums_to_one_in_every_class("exponential")
        registry.test_draws_of_a_kind_have_its_mean("exponential")
        registry.test_a_missing_cell_says_nothing_in_any_class("exponential")
        registry.test_every_kind_can_be_read("exponential")
        registry.test_a_row_left_out_is_scored_by_the_other_rows("exponential")
        for seed in range(5):
            em.check_kind("exponential", seed)
    finally:
        del KINDS["exponential"]


def test_the_new_kind_is_scipys_exponential(package):
    from scipy import stats

    from bayeskit.kinds.kind import KINDS
    from bayeskit.table.schema import Variable

    KINDS.pop("exponential", None)
    module, _ = package("new_kind", "exponential")
    try:
        x, rate = np.array([0.0, 0.3, 7.0]), np.array([0.5, 2.0])
        found = module.Exponential().log_density(Variable("x", "exponential", numeric=True), rate, x)
        assert_allclose(found, stats.expon.logpdf(x[:, None], scale=1 / rate), rtol=1e-12)
    finally:
        del KINDS["exponential"]


def test_the_new_classifier_is_whole(package, tmp_path, monkeypatch):
    import bayeskit
    from bayeskit import datasets
    from bayeskit.io.registry import MODELS

    module, _ = package("new_model", "chain")
    monkeypatch.setitem(MODELS, "Chain", "package_of_new_model.chain:Chain")  # the line of the second file
    tennis = datasets.load_tennis()
    model = module.Chain().fit(tennis, target="play")
    rows = {name: column for name, column in tennis.items() if name != "play"}
    y = np.array(tennis["play"])
    # Any split equals one fit, and the network that it is gives the same posterior, with a cell missing too.
    halves = module.Chain()
    for part in (slice(0, 6), slice(6, 14)):
        halves.partial_fit({name: column[part] for name, column in rows.items()}, y[part], classes=["no", "yes"])
    assert_allclose(halves.predict_proba(rows), model.predict_proba(rows), rtol=1e-12)
    model.save(tmp_path / "chain.bayes")
    assert_array_equal(bayeskit.load(tmp_path / "chain.bayes").predict_proba(rows), model.predict_proba(rows))
    asked = {"outlook": ["sunny"], "temperature": [None], "humidity": ["high"], "wind": ["weak"]}
    net = model.to_network()
    known = {name: cell[0] for name, cell in asked.items() if cell[0] is not None}
    answer = net.posterior("play", given=known)
    assert_allclose(model.predict_proba(asked)[0], [answer["no"], answer["yes"]], rtol=1e-9)
    # Leaving a row out equals a fit without it, for a row whose values others have too.
    left = model.leave_one_out(rows, y)
    kept = [i for i in range(14) if i != 4]
    less = {name: [column[i] for i in kept] for name, column in rows.items()}
    refit = module.Chain().fit(less, y[kept])
    one = {name: [column[4]] for name, column in rows.items()}
    assert_allclose(left.log_posterior[4], refit.predict_log_proba(one)[0], rtol=1e-9)


def test_the_new_target_is_listed_and_says_what_the_model_says(package):
    from bayeskit import NaiveBayes, datasets
    from bayeskit.export.target import TARGETS, targets

    TARGETS.pop("python", None)
    package("new_export", "plain_python")
    try:
        model = NaiveBayes().fit(datasets.load_tennis(), target="play")
        names = {}
        exec(targets()["python"].write(model), names)
        rows = datasets.load_tennis()
        joint = [names["log_joint"]({name: column[i] for name, column in rows.items()}) for i in range(14)]
        found = np.array([[each["no"], each["yes"]] for each in joint])
        del rows["play"]
        assert_allclose(found, model.predict_joint_log_proba(rows), rtol=1e-12)
        assert_array_equal(found.argmax(axis=1), (model.predict(rows) == "yes").astype(int))
    finally:
        del TARGETS["python"]
