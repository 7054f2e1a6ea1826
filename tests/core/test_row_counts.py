"""Row weights as numbers of rows."""

import numpy as np
import pytest

from bottega.core.row_counts import as_counts, rows_of_weight


def test_weights_that_count_rows_stay():
    for weight in ([1.0, 2.0, 3.0], [1.0, 1.0], [0.5, 1.5], [0.0, 2.0, 1.0]):
        assert as_counts(np.array(weight)).tolist() == weight
    assert as_counts(None) is None
    assert as_counts(np.zeros(3)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("factor", [1e-300, 1e-3, 2.0**60, 1e300])
def test_shares_and_what_cannot_be_counted_have_mean_one(factor):
    shares = np.array([0.1, 0.0, 0.3, 0.2])
    found = as_counts(factor * shares)  # three rows with a weight
    np.testing.assert_allclose(found, [0.5, 0.0, 1.5, 1.0], rtol=1e-12)
    assert rows_of_weight(0.6 * factor, 3) == 3
