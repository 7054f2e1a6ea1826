"""The contract of scikit-learn, in full."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from bottega.linear import Ridge

_REASON = (
    "with alpha='auto' the penalty minimises the leave-one-out error, and leaving out a row of "
    "weight k leaves out all k copies of it: not the same as leaving out one copy"
)


def _expected(estimator):
    if estimator.alpha != "auto":
        return {}
    return {"check_sample_weight_equivalence_on_dense_data": _REASON}


@parametrize_with_checks([Ridge(), Ridge(alpha=1.0)], expected_failed_checks=_expected)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
