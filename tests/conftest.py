"""Settings that must stand before any test module is imported."""

import os

from hypothesis import Phase, settings

# scikit-learn's checks of array API input run only when SciPy was told so before it was imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# A busy machine must not fail a test that is right.
settings.register_profile("bayeskit", deadline=None)
settings.load_profile("bayeskit")
# `make sanitize`: kernels without optimisation are slow, and what they do wrong shows in few examples.
settings.register_profile("sanitize", deadline=None, max_examples=15, phases=[Phase.explicit, Phase.generate])
