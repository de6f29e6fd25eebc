# Two commands for everyone: `make demo` and `make test`. The rest is for developers (CONTRIBUTING.md).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(wildcard native/*.cpp native/*.hpp) CMakeLists.txt pyproject.toml

.PHONY: demo test check machine bench docs clean lint oldest fuzz

# Reinstalled when the native code or the build changes; Python files are read in place.
$(VENV)/.user: $(NATIVE)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[all]"
	@touch $@

$(VENV)/.developer: $(VENV)/.user
	$(BIN)/python -m pip install --quiet --group test --group check --group docs --group bench --group peers
	@touch $@

# Trains on a bundled table; the next command that it names runs as $(BIN)/bayeskit.
demo: $(VENV)/.user
	@mkdir -p demo-output && cp src/bayeskit/datasets/data/heart.csv demo-output/
	@$(BIN)/bayeskit train demo-output/heart.csv --target disease --output demo-output/disease.bayes
	@echo "(here the command is $(BIN)/bayeskit; open demo-output/disease.html in a browser)"

test: lint oldest machine
	$(BIN)/python -m pytest --cov --cov-report=term

# A browser opens the report in the tests, and a Chinese font draws Chinese labels. Where changes are checked both must be
# there; elsewhere their tests say that they are not.
machine: SUDO := $(shell command -v sudo)
machine:
	@if [ "$(CI)" = true ] && { ! command -v chromium >/dev/null || ! fc-list :lang=zh | grep -q .; }; then \
	  $(SUDO) apt-get update --quiet && $(SUDO) apt-get install --yes --quiet chromium fontconfig fonts-wqy-microhei; fi

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
