"""Settings that must stand before any test module is imported."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

# scikit-learn's checks of array API input run only when SciPy was told so before it was imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# What the tests compare is English, wherever they run; tests of Chinese ask for it.
os.environ["BAYESKIT_LANG"] = "en"

# A busy machine must not fail a test that is right, and who runs the tests for the first time meets the examples that
# passed before; `make explore` draws others.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("bayeskit", settings.get_profile("explore"), derandomize=True)
settings.load_profile("bayeskit")
# `make sanitize`: kernels without optimisation are slow, and what they do wrong shows in few examples.
settings.register_profile(
    "sanitize", settings.get_profile("bayeskit"), max_examples=15, phases=[Phase.explicit, Phase.generate]
)


def pytest_runtest_setup() -> None:
    # Some tests press Ctrl-C, which a shell lets those ignore that it starts in the background; programs that tests
    # start would ignore it as well.
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# `make test-all` has all that any test needs, so a test that is skipped there was forgotten. Only the data beside the
# project may be absent from a machine as a whole.
NOTHING_SKIPPED = "BAYESKIT_NOTHING_SKIPPED" in os.environ
SHARED_IS_HERE = (Path(__file__).parents[2] / "shared").is_dir()


def fail_if_skipped(report):
    if NOTHING_SKIPPED and report.skipped and not hasattr(report, "wasxfail"):
        file, _, reason = report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, str(report.longrepr))
        by_a_peer = "sklearn" in Path(file).parts  # a test of scikit-learn's own that skips itself
        if not by_a_peer and (SHARED_IS_HERE or "../shared" not in reason):
            report.outcome, report.longrepr = "failed", f"nothing may be skipped here: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return fail_if_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return fail_if_skipped((yield))
