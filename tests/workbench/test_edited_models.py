"""Model files that were edited: refused before anything walks them, and quickly."""

import io
import json
import time
import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from bottega.core.errors import ModelFileError
from bottega.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from bottega.tree import TreeClassifier, TreeRegressor
from bottega.workbench.persist import SavedModel, load, save

MODELS = {
    "tree": TreeClassifier(ccp_alpha=0.0, max_depth=4),
    "surrogates": TreeRegressor(ccp_alpha=0.0, max_depth=4, missing="surrogate"),
    "forest": RandomForestClassifier(5, max_features=2),
    "forest of numbers": RandomForestRegressor(5, max_features=2),
    "whole trees": RandomForestRegressor(2, ccp_alpha=1e-6, max_features=2),
    "stumps": AdaBoostClassifier(n_estimators=5),
    "weak trees": AdaBoostClassifier(n_estimators=2, max_depth=2),
    "bagged trees": BaggingRegressor(TreeRegressor(ccp_alpha=0.0, max_depth=3), n_estimators=2),
    "boosting": GradientBoostingClassifier(4),
    "boosting of numbers": GradientBoostingRegressor(n_estimators=4),
}


def frame(n=80):
    rng = np.random.default_rng(0)
    found = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    found["kind"] = rng.choice(["u", "v", "w"], n)
    found.loc[::9, "b"] = np.nan
    return found


def saved_file(model, folder):
    X = frame()
    signal = X["a"] + 2 * (X["kind"] == "u")
    y = signal if model.card.task == "regression" else np.where(signal > 0.5, "yes", "no")
    if isinstance(model, BaggingRegressor):
        X = X[["a", "c"]]
    fitted = model.fit(X, y)
    columns = tuple(X.columns)
    kept = SavedModel(fitted, model.card.method, model.card.task, "y", columns, "", "0")
    return save(kept, folder / "m.skops"), X


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path, parts, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression=compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def as_bytes(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def edits(array):
    """Yield the array with numbers that point elsewhere."""
    if not array.ndim:
        return
    if array.dtype.names:
        for field in ("left", "right", "feature_idx"):
            for value in (0, 10**6):
                if field == "feature_idx" and value == 0:
                    continue
                other = array.copy()
                other[field] = value
                yield other
    elif array.dtype.kind in "iu" and array.size:
        for value in (0, 2, -1, 10**6, 2**31 - 1):
            if array.dtype.kind == "u" and value < 0:
                continue
            yield np.full_like(array, min(value, np.iinfo(array.dtype).max))
        yield array[: len(array) // 2]
        yield array.astype(np.int16 if array.dtype != np.int16 else np.int32)
    elif array.dtype.kind == "f" and array.size:
        yield array[: len(array) // 2]


@pytest.mark.parametrize("name", list(MODELS))
def test_edited_arrays_are_refused_or_harmless(name, tmp_path):
    """Each array of whole numbers is filled with other ones; a walk would crash, or never end."""
    path, X = saved_file(MODELS[name], tmp_path)
    whole = members(path)
    expected = load(path).predict(X)
    refused = tried = 0
    for part, content in whole.items():
        if not part.endswith(".npy"):
            continue
        for edited in edits(np.load(io.BytesIO(content))):
            rewrite(path, {**whole, part: as_bytes(edited)})
            tried += 1
            try:
                found = load(path)
            except ModelFileError:
                refused += 1
                continue
            # What is let in may predict something else, or say why not.
            with suppress(ArithmeticError, LookupError, TypeError, ValueError):
                assert len(found.predict(X)) == len(expected)
    assert tried > 10
    assert refused > tried / 5


def test_a_child_that_is_its_own_parent_is_refused(tmp_path):
    path, _ = saved_file(MODELS["tree"], tmp_path)
    whole = members(path)
    nodes = load(path).model.nodes_
    for part, content in whole.items():
        if part.endswith(".npy"):
            array = np.load(io.BytesIO(content))
            if array.shape == nodes.first_child.shape and np.array_equal(array, nodes.first_child):
                loop = np.where(array >= 0, 0, array).astype(array.dtype)
                rewrite(path, {**whole, part: as_bytes(loop)})
                with pytest.raises(ModelFileError, match="a child is no node"):
                    load(path)
                return
    raise AssertionError("the children are not in the file")


def test_a_file_that_unpacks_to_much_more_is_refused_at_once(tmp_path):
    path, _ = saved_file(MODELS["tree"], tmp_path)
    whole = members(path)
    name = next(part for part in whole if part.endswith(".npy"))
    rewrite(
        path, {**whole, name: bytes(300_000_000)}, compression=zipfile.ZIP_DEFLATED
    )  # some 300 kB on disk
    start = time.perf_counter()
    with pytest.raises(ModelFileError, match="unpack to"):
        load(path)
    assert time.perf_counter() - start < 1


def test_one_part_that_is_named_many_times_is_refused_at_once(tmp_path):
    path, _ = saved_file(MODELS["tree"], tmp_path)
    whole = members(path)
    name = next(part for part in whole if part.endswith(".npy"))
    schema = json.loads(whole["schema.json"])

    def first_array(node):
        if isinstance(node, dict):
            if node.get("file") == name:
                return node
            node = list(node.values())
        if isinstance(node, list):
            return next(filter(None, map(first_array, node)), None)
        return None

    one = first_array(schema)
    schema["more"] = [{**one, "__id__": number} for number in range(2_000)]
    rewrite(path, {**whole, name: as_bytes(np.zeros(100_000)), "schema.json": json.dumps(schema)})
    with pytest.raises(ModelFileError, match="names parts of"):
        load(path)


def test_parts_that_overlap_are_refused(tmp_path):
    path, _ = saved_file(MODELS["tree"], tmp_path)
    whole = members(path)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("schema.json", whole["schema.json"])
    with pytest.raises(ModelFileError):
        load(path)


def test_an_array_that_states_a_huge_shape_is_refused(tmp_path):
    path, _ = saved_file(MODELS["tree"], tmp_path)
    whole = members(path)
    name = next(part for part in whole if part.endswith(".npy"))
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": "<f8", "fortran_order": False, "shape": (10**13,)}
    )
    rewrite(path, {**whole, name: buffer.getvalue()})
    with pytest.raises(ModelFileError):
        load(path)
