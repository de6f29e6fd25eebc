"""What imports what: the order of the stages, and how little `import bayeskit` loads."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Modules of the standard library that `import bayeskit` loads after NumPy: so few that nobody notices (a millisecond).
MOST_MODULES = 10

IMPORT_AFTER_NUMPY = """
import json, sys
import numpy
before = set(sys.modules)
import bayeskit
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def import_after_numpy():
    run = subprocess.run([sys.executable, "-c", IMPORT_AFTER_NUMPY], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def test_each_stage_knows_only_the_stages_before_it():
    command = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    lint = subprocess.run([sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert lint.returncode == 0, lint.stdout + lint.stderr
    assert "1 kept, 0 broken" in lint.stdout


def test_the_contract_sees_imports_inside_functions(tmp_path):
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "upper.py").write_text("x = 1\n")
    (package / "lower.py").write_text("def late():\n    from house.upper import x\n    return x\n")
    (tmp_path / "contract.toml").write_text(
        '[tool.importlinter]\nroot_packages = ["house"]\n[[tool.importlinter.contracts]]\nid = "order"\n'
        'name = "order"\ntype = "layers"\ncontainers = ["house"]\nlayers = ["upper", "lower"]\n'
    )
    command = (
        "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports; "
        "raise SystemExit(lint_imports(config_filename='contract.toml', no_cache=True))"
    )
    lint = subprocess.run([sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert lint.returncode != 0
    assert "house.lower -> house.upper" in lint.stdout


def test_importing_bayeskit_loads_no_other_package():
    loaded = {name.split(".")[0] for name in import_after_numpy()} - sys.stdlib_module_names
    assert loaded == {"bayeskit"}


def test_importing_bayeskit_loads_none_of_its_stages():
    assert [name for name in import_after_numpy() if name.startswith("bayeskit.")] == []


def test_importing_bayeskit_costs_next_to_nothing():
    assert len(import_after_numpy()) <= MOST_MODULES


def test_a_model_loads_no_package_that_scikit_learn_does_not():
    command = """
import sys
import narwhals, sklearn.base
before = set(sys.modules)
import bayeskit
bayeskit.NaiveBayes().fit({"wind": ["weak", "strong"]}, ["yes", "no"])
print(*set(sys.modules) - before)
"""
    run = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert {name.split(".")[0] for name in run.stdout.split()} - sys.stdlib_module_names <= {"bayeskit", "narwhals"}
