"""Settings that must stand before any test module is imported."""

import os

# scikit-learn's checks of array API input run only when SciPy was told so before it was imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
