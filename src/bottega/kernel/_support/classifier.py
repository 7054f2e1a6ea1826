"""Classification on machines for the pairs of classes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bottega.core.classes import check_classes
from bottega.core.errors import ParameterError
from bottega.core.loaded import insist
from bottega.core.pairs import coupled, pair_scores, pairs_of
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.kernel._support.base import MachineProblem, MachineRows, SupportVectors
from bottega.kernel._support.machines import Machine
from bottega.kernel._support.pairs import packed, pair_coefficients, winners
from bottega.kernel._support.slacks import slacks_of
from bottega.kernel._support.span import left_out
from bottega.optimize.score_maps import MAPS, ScoreMap

__all__ = ["PairMachines"]


def _gives_probabilities(model: Any) -> bool:
    if not model.probability:
        raise AttributeError(
            f"This {type(model).__name__} was made with probability=False; set probability=True, "
            "or 'isotonic', and fit again."
        )
    return True


class PairMachines(ClassifierMixin, SupportVectors):
    """Machines for all pairs of classes, that vote.

    A machine of two classes is positive for the second; those of the pairs of several classes are
    positive for the first of a pair, as scikit-learn's are.
    """

    probability: Any
    class_weight: Any
    decision_function_shape: str
    break_ties: bool

    def _check_params(self) -> None:
        super()._check_params()
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ParameterError(
                f"{type(self).__name__}: break_ties=True needs scores of the classes; use "
                "decision_function_shape='ovr'."
            )

    def _class_weighted(self, y: Any, weight: Any) -> Any:
        found = super()._class_weighted(y, weight)
        self._factor = {}
        if self.class_weight is not None:
            labels, first = np.unique(y, return_index=True)
            factor = compute_sample_weight(self.class_weight, y)[first]
            self._factor = dict(zip(labels.tolist(), factor.tolist(), strict=True))
        return found

    def _input_weight(self, rows: Rows) -> FloatArray | None:
        """Return the weights of the rows without those of their classes."""
        if rows.weight is None or not self._factor:
            return rows.weight
        factor = np.array([self._factor[label] for label in self.classes_.tolist()])
        found = rows.weight / factor[rows.y]
        return None if np.allclose(found, 1.0, rtol=1e-12, atol=0) else found

    def _machines_for(self, rows: Rows) -> tuple[list[MachineProblem], float, float]:
        check_classes(self.classes_)
        present = np.unique(rows.y)
        problems = []
        for i, j in pairs_of(len(present)):
            members = np.flatnonzero((rows.y == present[i]) | (rows.y == present[j]))
            positive = present[j] if len(present) == 2 else present[i]
            problems.append(
                MachineProblem(members, np.where(rows.y[members] == positive, 1.0, -1.0))
            )
        return problems, 0.0, 1.0

    def _keep(self, work: MachineRows, machines: list[Machine]) -> None:
        codes, K = work.rows.y, len(self.classes_)
        members = [problem.rows for problem in work.problems]
        betas = [machine.beta for machine in machines]
        support, coef, self.n_support_ = packed(betas, members, codes, K)
        self._keep_points(work.rows, work.X, support)
        self.dual_coef_ = coef
        self.intercept_ = np.array([machine.bias for machine in machines])
        width = [_margin(machine) for machine in machines]
        self.margin_ = width[0] if K == 2 else np.array(width)
        names = [f"{self.classes_[i]}, {self.classes_[j]}" for i, j in pairs_of(K)]
        self._slacks = slacks_of(
            machines,
            members,
            self.classes_[codes],
            0.0,
            1.0,
            names=None if K == 2 else names,
            classes=True,
        )
        self._curves: list[ScoreMap] = []
        if self.probability:
            self._curves = self._curves_of(work, machines, self.kernel_)

    def _curves_of(self, work: MachineRows, machines: list[Machine], kernel: Any) -> list[ScoreMap]:
        """Return the curves of probability, from the decision values of rows left out."""
        kind = MAPS["isotonic" if self.probability == "isotonic" else "sigmoid"]
        found = []
        for problem, machine in zip(work.problems, machines, strict=True):

            def between(rows: IntArray, others: IntArray, among: IntArray = problem.rows) -> Any:
                return self._between(kernel, work.X[among[rows]], work.X[among[others]])

            f = left_out(machine, between)
            weight = work.rows.weights[problem.rows]
            found.append(kind().fit(f, problem.z > 0, weight))
        return found

    def _columns(self) -> FloatArray:
        return pair_coefficients(self.dual_coef_, self.n_support_)

    def _own_numbers(self) -> dict[str, float]:
        return {"C": self.C_, "margin": float(np.min(self.margin_))}

    def _predictions(
        self, work: MachineRows, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        present, (m, K) = np.unique(work.rows.y), (X_new.shape[0], len(self.classes_))
        if len(present) == 1:  # a fold without the others: nothing to tell apart
            if method == "predict":
                return np.full((m, len(settings)), present[0])
            out = np.zeros((m, len(settings), K))
            out[:, :, present[0]] = 1.0
            return out
        decisions = self._decisions(work, settings, X_new)
        if method == "predict":
            return present[self._winners(decisions, len(present))]
        out = np.zeros((m, len(settings), K))
        for k, setting in enumerate(settings):
            kernel = self._kernel_at(work, self._gamma_of(setting))
            curves = self._curves_of(work, self._at(work, setting), kernel)
            out[:, k, present] = _probabilities(decisions[:, k], curves, len(present))
        return out

    def _winners(self, decisions: FloatArray, n_classes: int) -> IntArray:
        if self.break_ties and n_classes > 2:
            return np.argmax(pair_scores(decisions > 0, decisions, n_classes), axis=-1)
        return winners(decisions, n_classes)

    def _pair_decisions(self, X: Any) -> FloatArray:
        return self._decide(X) + self.intercept_

    def decision_function(self, X: Any) -> FloatArray:
        """Return the decision values of the rows of X.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.

        Returns
        -------
        ndarray of shape (m,), (m, K) or (m, K (K - 1) / 2)
            Of two classes, f(x) + b, positive for the second class. Of more, a score per class, its
            votes and, below one third, the sum of its decisions; or with
            ``decision_function_shape="ovo"`` the values of the pairs, positive for the first class.
        """
        found = self._pair_decisions(X)
        if len(self.classes_) == 2:
            return found[:, 0]
        if self.decision_function_shape == "ovo":
            return found
        return pair_scores(found > 0, found, len(self.classes_))

    def predict(self, X: Any) -> Array:
        """Return the class that wins most pairs for each row of X; of equal ones the first."""
        codes = self._winners(self._pair_decisions(X), len(self.classes_))
        return np.asarray(self.classes_[codes])

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, one column each."""
        check_is_fitted(self)
        if not self._curves:
            raise NotFittedError(
                f"{type(self).__name__}: predict_proba is not available when fitted with "
                "probability=False; fit it again."
            )
        return _probabilities(self._pair_decisions(X), self._curves, len(self.classes_))

    def check_loaded(self) -> None:
        """Raise unless the parts of a model that was read from a file fit together."""
        K, s = len(self.classes_), len(self.support_)
        insist(self.dual_coef_.shape == (K - 1, s), "dual_coef_ does not fit support_")
        insist(self.n_support_.shape == (K,) and self.n_support_.sum() == s, "n_support_")
        insist(self.intercept_.shape == (len(pairs_of(K)),), "intercept_ does not fit classes_")


def _margin(machine: Machine) -> float:
    """Return the width of the margin: 2 over the norm of the function."""
    norm2 = float(machine.beta @ machine.fitted)  # the coefficients sum to zero
    return float(2.0 / np.sqrt(norm2)) if norm2 > 0 else np.inf


def _probabilities(decisions: FloatArray, curves: list[ScoreMap], n_classes: int) -> FloatArray:
    shares = np.column_stack([curve(f) for curve, f in zip(curves, decisions.T, strict=True)])
    if n_classes == 2:
        return np.column_stack([1 - shares[:, 0], shares[:, 0]])
    return coupled(shares, n_classes)
