# Two commands for everyone: `make demo` and `make test`. The rest is for developers (CONTRIBUTING.md).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(wildcard native/*.?pp native/*/*.?pp) CMakeLists.txt pyproject.toml

.PHONY: demo test test-all check machine bench docs course clean lint oldest fuzz explore sanitize wheels release

# Reinstalled when the native code or the build changes; Python files are read in place.
$(VENV)/.user: $(NATIVE)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[all]"
	@touch $@

$(VENV)/.developer: $(VENV)/.user
	$(BIN)/python -m pip install --quiet --group test --group check --group docs --group bench --group peers
	@touch $@

$(VENV)/.engines: $(VENV)/.developer
	$(BIN)/python -m pip install --quiet --group engines
	@touch $@

# Trains on a bundled table; the next command that it names runs as $(BIN)/bayeskit.
demo: $(VENV)/.user
	@mkdir -p demo-output && cp src/bayeskit/datasets/data/heart.csv demo-output/
	@$(BIN)/bayeskit train demo-output/heart.csv --target disease --output demo-output/heart-disease.bayes
	@echo "(here the command is $(BIN)/bayeskit; open demo-output/heart-disease.html in a browser)"

# Every core takes tests, so that a process of them needs no further threads for linear algebra.
export OPENBLAS_NUM_THREADS := 1

# What a test needs and this machine lacks, it says when it is skipped.
test: lint
	$(BIN)/python -m pytest -n logical --dist loadgroup

# The rest, where nothing may be skipped: the suite with every engine and a browser, the oldest releases that we support,
# and the sanitizers.
test-all: lint oldest sanitize machine $(VENV)/.engines
	BAYESKIT_NOTHING_SKIPPED=1 $(BIN)/python -m pytest -n logical --dist loadgroup --cov --cov-report=term

# A browser opens the report in the tests, a Chinese font draws Chinese labels, and Spark, which needs Java, counts.
machine: SUDO := $(shell command -v sudo)
machine:
	@if ! command -v chromium >/dev/null || ! fc-list :lang=zh | grep -q . || ! command -v java >/dev/null; then \
	  $(SUDO) apt-get update --quiet && $(SUDO) apt-get install --yes --quiet chromium fontconfig fonts-wqy-microhei \
	  openjdk-17-jre-headless; fi

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
	.venv-oldest/bin/python -m pip install --quiet --editable ".[cli]" --config-settings=build-dir=build/oldest \
	  "scikit-learn==1.6.*" "numpy==1.26.*" "scipy==1.11.*" "narwhals==1.30.*" "pandas==2.2.*" "polars==1.10.*" "pyarrow==16.*" pytest "pytest-xdist[psutil]" hypothesis joblib array-api-strict
	@touch $@

oldest: .venv-oldest/.ready
	.venv-oldest/bin/python -m pytest tests/common -q -n logical -p no:cacheprovider

# The kernels without optimisation under the address and undefined-behaviour sanitizers: what reads past an array or does
# what C++ leaves undefined ends the run. Other packages come from $(VENV). Fewer random examples, since each is slow.
.venv-sanitize/.ready: $(VENV)/.developer
	@test -x .venv-sanitize/bin/python || $(PYTHON) -m venv .venv-sanitize
	$(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" \
	  > $$(.venv-sanitize/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/shared.pth
	.venv-sanitize/bin/python -m pip install --quiet --no-deps --editable . --config-settings=build-dir=build/sanitize \
	  --config-settings=cmake.build-type=Debug --config-settings=cmake.define.BAYESKIT_SANITIZE=ON
	@touch $@

# libstdc++ comes along, since Python itself does not load it and the sanitizer looks for it first. Python keeps memory to
# the end, which is no leak. The tests of the command start a browser and other programs, which do not run under the
# sanitizer; those of peak memory would measure the sanitizer's own.
sanitize: .venv-sanitize/.ready
	LD_PRELOAD="$$(c++ -print-file-name=libasan.so) $$(c++ -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 BAYESKIT_SANITIZE=1 \
	  .venv-sanitize/bin/python -m pytest tests/kernels tests/laws tests/golden tests/unit -q -n logical --capture=sys -p no:cacheprovider \
	  --hypothesis-profile=sanitize --ignore=tests/unit/cli --ignore=tests/unit/cluster --ignore=tests/unit/studio \
	  --ignore-glob="tests/unit/classify/test_*memory.py"

# The result is written down in docs/developer/fuzz.md.
fuzz: $(VENV)/.developer
	BAYESKIT_FUZZ_MUTATIONS=20000 $(BIN)/python -m pytest -m fuzz -s --no-cov

# Laws and unit tests on random examples that no run had before.
explore: $(VENV)/.developer
	$(BIN)/python -m pytest tests/laws tests/kernels tests/unit -n logical --dist loadgroup --hypothesis-profile=explore

bench: $(VENV)/.developer
	$(BIN)/python -m benchmarks

# Wheels for Linux in dist/, checked by auditwheel; and the whole checklist of a release up to the push.
$(VENV)/.release: $(VENV)/.developer
	$(BIN)/python -m pip install --quiet --group release
	@touch $@

wheels: $(VENV)/.release
	$(BIN)/python packaging/wheels.py

release: $(VENV)/.release
	$(BIN)/python packaging/release.py $(VERSION)

docs: $(VENV)/.developer
	$(BIN)/sphinx-build -W --keep-going --quiet -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

# The course as a PDF in both languages, printed by Chromium.
course: docs
	$(BIN)/python docs/course/printed.py docs/_build/html docs/_build/course-en.pdf en
	$(BIN)/python docs/course/printed.py docs/_build/html docs/_build/course-zh.pdf zh
	@echo "Open docs/_build/course-en.pdf or docs/_build/course-zh.pdf"

clean:
	rm -rf $(VENV) .venv-oldest .venv-sanitize build docs/_build docs/auto_gallery docs/reference/classes docs/course/films docs/sg_execution_times.rst demo-output
