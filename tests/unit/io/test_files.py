import sys
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

import bayeskit
from bayeskit.errors import ModelFileError
from bayeskit.io import container
from bayeskit.io.model_files import load, save
from bayeskit.io.registry import MODELS, model_class


@dataclass
class Toy:
    names: list[str]
    table: NDArray

    def to_parts(self):
        return {"names": self.names}, {"table": self.table}

    @classmethod
    def from_parts(cls, meta, arrays):
        table = arrays["table"]
        if len(meta["names"]) != len(table):
            raise ModelFileError("one name per row of the table is needed.")
        return cls(meta["names"], table / table.sum())


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setitem(sys.modules, "toy_model", sys.modules[__name__])
    monkeypatch.setitem(MODELS, "Toy", "toy_model:Toy")


@pytest.mark.usefixtures("registered")
def test_a_saved_model_is_loaded_by_its_own_class(tmp_path):
    save(Toy(["a", "b"], np.array([1.0, 3.0])), tmp_path / "toy.bayes")
    loaded = bayeskit.load(str(tmp_path / "toy.bayes"))
    assert loaded.names == ["a", "b"]
    np.testing.assert_array_equal(loaded.table, [0.25, 0.75])


@pytest.mark.usefixtures("registered")
def test_fields_that_do_not_fit_together_are_one_clear_error(tmp_path):
    path = tmp_path / "toy.bayes"
    for meta, arrays, message in [
        ({"names": ["a"]}, {"table": np.ones(2)}, "'toy.bayes': one name per row"),
        ({"name": ["a"]}, {"table": np.ones(1)}, "does not describe a Toy: KeyError: 'names'"),
        ({"names": 5}, {"table": np.ones(1)}, "does not describe a Toy: TypeError"),
        ({"names": ["a"]}, {"table": np.array(["x"])}, "does not describe a Toy: UFuncTypeError|UFuncNoLoop|TypeError"),
    ]:
        container.write(path, "Toy", meta, arrays)
        with pytest.raises(ModelFileError, match=message):
            load(path)


def test_a_file_that_names_an_unknown_model_imports_nothing(tmp_path):
    container.write(tmp_path / "m.bayes", "os:system", {}, {})
    with pytest.raises(ModelFileError, match=r"'m.bayes': 'os:system' is not a model that this bayeskit knows"):
        load(tmp_path / "m.bayes")


def test_a_class_that_is_not_registered_is_not_saved(tmp_path):
    with pytest.raises(ModelFileError, match=r"got .*Toy"):
        save(Toy([], np.zeros(0)), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_unknown_names_are_refused():
    with pytest.raises(ModelFileError, match="it knows "):
        model_class("Perceptron")


def test_a_file_of_an_earlier_version_is_refused_and_says_what_to_do(tmp_path, monkeypatch):
    path = tmp_path / "tree.bayes"
    monkeypatch.setattr(container, "FORMAT_VERSION", 2)
    bayeskit.TAN().fit({"wind": ["weak", "strong"]}, ["yes", "no"]).save(path)
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match=r"version 2 of the .*; train the model again with this bayeskit\.$"):
        load(path)


def test_the_memory_limit_of_a_new_file_is_the_text_that_was_given(tmp_path):
    path = tmp_path / "tree.bayes"
    bayeskit.TAN(max_memory="1 GiB").fit({"wind": ["weak", "strong"]}, ["yes", "no"]).save(path)
    assert load(path).max_memory == "1 GiB"
