"""Settings that must stand before any test module is imported."""

import os
import signal

from hypothesis import Phase, settings

# scikit-learn's checks of array API input run only when SciPy was told so before it was imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# A busy machine must not fail a test that is right.
settings.register_profile("bayeskit", deadline=None)
settings.load_profile("bayeskit")
# `make sanitize`: kernels without optimisation are slow, and what they do wrong shows in few examples.
settings.register_profile("sanitize", deadline=None, max_examples=15, phases=[Phase.explicit, Phase.generate])


def pytest_runtest_setup() -> None:
    # Some tests press Ctrl-C, which a shell lets those ignore that it starts in the background; programs that tests
    # start would ignore it as well.
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.default_int_handler)
