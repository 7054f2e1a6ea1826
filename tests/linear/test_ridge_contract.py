"""The contract of scikit-learn at a given penalty, weights as copies of rows included."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from bottega.linear import Ridge


@parametrize_with_checks([Ridge(alpha=1.0)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
