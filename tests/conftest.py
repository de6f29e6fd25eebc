"""Settings that must stand before any test module is imported."""

import os

from hypothesis import settings

# scikit-learn's checks of array API input run only when SciPy was told so before it was imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# A busy machine must not fail a test that is right.
settings.register_profile("bayeskit", deadline=None)
settings.load_profile("bayeskit")
