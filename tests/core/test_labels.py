"""Coded labels do what an array of the labels would."""

import pickle

import numpy as np

from bottega.core.labels import CodedLabels


def test_they_are_the_labels_wherever_an_array_would_do():
    y = CodedLabels(np.array([2, 0, 2, 1]), np.array(["b", "c", "a"]))
    assert np.asarray(y).tolist() == ["a", "b", "a", "c"]
    assert np.ndim(y) == 1
    assert (np.shape(y), len(y)) == ((4,), 4)
    assert np.asarray(y[np.array([True, False, False, True])]).tolist() == ["a", "c"]
    assert np.unique(np.asarray(y)).tolist() == ["a", "b", "c"]
    assert np.asarray(pickle.loads(pickle.dumps(y))).tolist() == ["a", "b", "a", "c"]


def test_places_among_classes():
    labels = np.array(["b", "c", "a", "b"])  # two that are alike
    y = CodedLabels(np.array([2, 0, 3]), labels)
    place, known = y.within(np.array(["a", "b", "d"]))
    assert place.tolist() == [0, 1, 1]
    assert known  # "c" is no class, and no row has it
    assert not CodedLabels(np.array([1]), labels).within(np.array(["a", "b", "d"]))[1]
    assert not CodedLabels(np.array([1]), labels).within(np.array(["a", "b"]))[1]
