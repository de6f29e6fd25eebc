# Two commands for everyone: `make demo` and `make test`. The rest is for developers (CONTRIBUTING.md).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(wildcard native/*.cpp native/*.hpp) CMakeLists.txt pyproject.toml

.PHONY: demo test check bench docs clean lint oldest fuzz

# Reinstalled when the native code or the build changes; Python files are read in place.
$(VENV)/.user: $(NATIVE)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[all]"
	@touch $@

$(VENV)/.developer: $(VENV)/.user
	$(BIN)/python -m pip install --quiet --group test --group check --group docs --group bench
	@touch $@

demo: $(VENV)/.user
	@$(BIN)/python docs/start/demo.py

test: lint oldest
	$(BIN)/python -m pytest --cov --cov-report=term

# Ruff, mypy and the tests are the same for all.
check: test

lint: $(VENV)/.developer
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Every estimator also passes scikit-learn's checks on the oldest release that we support.
.venv-oldest/.ready: $(NATIVE)
	@test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --upgrade pip
	.venv-oldest/bin/python -m pip install --quiet --editable . --config-settings=build-dir=build/oldest \
	  "scikit-learn==1.6.*" "numpy==1.26.*" "scipy==1.11.*" "narwhals==1.30.*" "pandas==2.2.*" "polars==1.10.*" "pyarrow==16.*" pytest hypothesis joblib array-api-strict
	@touch $@

oldest: .venv-oldest/.ready
	.venv-oldest/bin/python -m pytest tests/common -q -p no:cacheprovider

# The result is written down in docs/developer/fuzz.md.
fuzz: $(VENV)/.developer
	BAYESKIT_FUZZ_MUTATIONS=20000 $(BIN)/python -m pytest -m fuzz -s --no-cov

bench: $(VENV)/.developer
	$(BIN)/python -m benchmarks

docs: $(VENV)/.developer
	$(BIN)/sphinx-build -W --keep-going --quiet -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

clean:
	rm -rf $(VENV) .venv-oldest build docs/_build docs/auto_gallery docs/sg_execution_times.rst demo-output
