"""Mutated model files: each is refused with one clear error or gives a well-formed model, in little memory."""

import io
import json
import os
import random
import tracemalloc
import zipfile

import numpy as np
import pytest

import bayeskit
from bayeskit import NaiveBayes
from bayeskit.errors import BayeskitError, ModelFileError
from bayeskit.io import container

MUTATIONS = int(os.environ.get("BAYESKIT_FUZZ_MUTATIONS", "500"))
ARRAYS = {
    "counts": np.arange(60, dtype=np.int64).reshape(12, 5),
    "logs": np.linspace(-3, 0, 20),
    "labels": np.array(["是", "否"]),
    "known": np.array([True, False, True]),
}
META = {"smoothing": 1.0, "edge": float("-inf"), "names": ["色泽", "根蒂"], "nested": {"kinds": ["categorical", None]}}

# What a hostile number, text or list in the header may look like.
ODD = [
    0,
    -1,
    1,
    2**31,
    2**63,
    10**30,
    1e308,
    True,
    None,
    "",
    "x",
    "<f8",
    "|O",
    "<U9",
    [],
    [0],
    [2**40],
    [[]],
    {},
    {"a": 1},
]


def flip(rng, data):
    for _ in range(rng.choice([1, 1, 2, 8, 64])):
        at = rng.randrange(len(data))
        data[at] ^= 1 << rng.randrange(8)
    return data


def overwrite(rng, data):
    at, width = rng.randrange(len(data)), rng.choice([1, 2, 4, 8])
    data[at : at + width] = rng.choice([b"\0" * width, b"\xff" * width, rng.randbytes(width)])
    return data


def cut(rng, data):
    return data[: rng.randrange(len(data))]


def remove(rng, data):
    at = rng.randrange(len(data))
    del data[at : at + rng.choice([1, 4, 30, 500])]
    return data


def repeat(rng, data):
    at, source = rng.randrange(len(data)), rng.randrange(len(data))
    data[at:at] = data[source : source + rng.choice([1, 4, 30, 500])]
    return data


def damage_directory(rng, data):
    at = rng.randrange(data.rfind(b"PK\x01\x02", 0, len(data) // 2 * 2) - 400, len(data))
    data[at] = rng.randrange(256)
    return data


def places(value, path=()):
    """Yield the path of every value inside a piece of JSON."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def change_header(rng, data):
    """Put an odd value anywhere into the header, with checksums that fit."""
    entries = unpacked(data)
    head = json.loads(entries["model.json"])
    *above, last = rng.choice(list(places(head))[1:])
    owner = head
    for key in above:
        owner = owner[key]
    owner[last] = rng.choice(ODD)
    entries["model.json"] = json.dumps(head).encode()
    return packed(entries)


def change_entry(rng, data):
    """Damage the bytes of one entry, with checksums that fit."""
    entries = unpacked(data)
    name = rng.choice(list(entries))
    entries[name] = bytes(rng.choice(RAW)(rng, bytearray(entries[name])))
    return packed(entries)


def unpacked(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return bytearray(file.getvalue())


RAW = [flip, overwrite, cut, remove, repeat]
ALL = [*RAW, damage_directory, change_header, change_entry]


@pytest.mark.fuzz
def test_mutated_files_are_refused_or_read_in_bounded_memory(tmp_path):
    path = tmp_path / "model.bayes"
    container.write(path, "NaiveBayes", META, ARRAYS)
    original = path.read_bytes()
    rng = random.Random(20240)
    refused, peak = 0, 0
    tracemalloc.start()
    try:
        for number in range(MUTATIONS):
            mutate = ALL[number % len(ALL)]
            data = bytes(mutate(rng, bytearray(original)))
            path.write_bytes(data)
            contents, needed = read_and_measure(path, bound=40 * len(original))
            refused += contents is None
            # Checksums stand over every entry: bytes changed from outside are seen, or mean nothing.
            assert contents is None or mutate in (change_header, change_entry) or same(contents), f"mutation {number}"
            peak = max(peak, needed)
    finally:
        tracemalloc.stop()
    print(f"\n{MUTATIONS} mutations: {refused} refused, {MUTATIONS - refused} read, at most {peak} bytes of memory")
    assert refused > MUTATIONS / 2
    assert peak < 40 * len(original)


def fitted_model():
    """A model with a column of every kind, weights and text classes, so that every part of its file is there."""
    rng = np.random.default_rng(0)
    frame = {
        "色泽": rng.choice(["青绿", "乌黑"], 30).tolist(),
        "size": rng.normal(size=30).tolist(),
        "count": rng.poisson(2, 30).tolist(),
        "flag": rng.integers(0, 2, 30).tolist(),
        "bin": rng.random(30).tolist(),
    }
    kinds = {"count": "poisson", "flag": "bernoulli", "bin": "equal-width"}
    model = NaiveBayes(kinds=kinds, bins=3, class_weight={"是": 2.0})
    return model.fit(frame, np.array(["是", "否"])[rng.integers(0, 2, 30)]), {k: v[:1] for k, v in frame.items()}


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore:X has feature names")  # a changed header may say that there were none
def test_mutated_models_are_refused_or_predict(tmp_path):
    model, row = fitted_model()
    path = tmp_path / "model.bayes"
    model.save(path)
    original = path.read_bytes()
    expected = model.predict_proba(row)
    rng = random.Random(7)
    refused = 0
    tracemalloc.start()
    try:
        for number in range(MUTATIONS):
            mutate = ALL[number % len(ALL)]
            path.write_bytes(bytes(mutate(rng, bytearray(original))))
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            try:
                loaded = bayeskit.load(path)
            except ModelFileError:
                refused += 1
                loaded = None
            peak = tracemalloc.get_traced_memory()[1] - before
            assert peak < 100 * len(original), f"mutation {number} took {peak} bytes"
            if loaded is None:
                continue
            if mutate in (change_header, change_entry):
                assert predicts_or_says_why(loaded, row), f"mutation {number}"
            else:
                np.testing.assert_array_equal(loaded.predict_proba(row), expected)
    finally:
        tracemalloc.stop()
    print(f"\n{MUTATIONS} mutations of a model: {refused} refused, {MUTATIONS - refused} loaded")
    assert refused > MUTATIONS / 2


def predicts_or_says_why(model, row):
    """A model whose header was changed may name other columns or values; it gives a posterior or refuses the row."""
    try:
        posterior = model.predict_proba(row)
    except BayeskitError:
        return True
    return bool(np.allclose(posterior.sum(axis=1), 1.0) and (posterior >= 0).all())


def read_and_measure(path, bound):
    """Return what the file holds and the least memory that three reads needed, or one read below the bound.

    What the file asks for, it asks for each time; a first import, or a thread that another test left, comes once.
    """
    needed = []
    while not needed or (needed[-1] >= bound and len(needed) < 3):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        contents = read_or_none(path)
        needed.append(tracemalloc.get_traced_memory()[1] - before)
    return contents, min(needed)


def read_or_none(path):
    try:
        return container.read(path)
    except ModelFileError:
        return None


def same(contents):
    return contents.meta == META and all(np.array_equal(contents.arrays[name], array) for name, array in ARRAYS.items())
