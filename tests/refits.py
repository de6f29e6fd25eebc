"""The witness of leave-one-out: each row predicted by a model that was fitted on the others."""

import numpy as np


def refits(model, X, y, weight=None, **parameters):
    """P(c | x) of each row by a model of the same schema and classes that was fitted on the other rows."""
    found = []
    for i in range(len(y)):
        # A row that counts several times loses one of its copies.
        rest = np.ones(len(y)) if weight is None else weight.copy()
        rest[i] -= min(1.0, rest[i])
        counts = model.count(X, y, rest, schema=model.schema_).declare(model.classes_)
        other = type(model).from_counts(counts, **{**model.get_params(), **parameters})
        found.append(other.predict_proba(X.iloc[[i]])[0])
    return np.array(found)
