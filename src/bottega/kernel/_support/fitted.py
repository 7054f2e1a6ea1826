"""A fitted machine: its support vectors, what it decides, and how exact it is."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import ConvergenceWarning, DataWarning, warn_caller
from bottega.core.results import glance_row, glance_section
from bottega.core.rows import Rows
from bottega.core.tables import Summary
from bottega.core.typing import FloatArray, IntArray
from bottega.kernel._inputs.points import GramRows, KernelInputs
from bottega.kernel._objects.base import GAUSSIAN, LAPLACIAN, LINEAR, POLYNOMIAL, psd_check
from bottega.kernel._support.gram import weighted_sums
from bottega.kernel._support.machines import Machine, Settings
from bottega.kernel.kernels import Kernel

__all__ = ["KernelMachine"]

_CHECKED = 500  # rows of which the eigenvalues are looked at
_UNLIMITED = 2**31


class KernelMachine(KernelInputs):
    """A model that is a sum over support vectors."""

    tol: float
    cache_size: float
    shrinking: bool
    max_iter: int
    kernel_: Kernel
    support_: IntArray
    converged_: bool
    _n_rows: int
    _n_given: int

    def _how(self) -> Settings:
        return Settings(
            float(self.tol),
            _UNLIMITED if self.max_iter == -1 else int(self.max_iter),
            float(self.cache_size),
            bool(self.shrinking),
        )

    def _sums(self, kernel: Kernel, X: Any, points: Any, coef: FloatArray) -> FloatArray:
        """Return the sums of the kernel at some points times coefficients."""
        if kernel.row_kernel.code == LINEAR and not isinstance(points, GramRows):
            return np.asarray(X @ (points.T @ coef))
        return weighted_sums(X, points, coef, lambda A, B: self._between(kernel, A, B))

    def _keep_points(self, rows: Rows, X: Any, support: IntArray) -> None:
        self.support_ = support if rows.kept is None else rows.kept[support]
        self._n_rows, self._n_given = len(rows), len(rows.given or rows)
        self.support_vectors_ = np.empty((0, 0))
        if not isinstance(X, GramRows):
            self.support_vectors_ = X[support]

    def _decide(self, X: Any) -> FloatArray:
        """Return the decision values of new inputs, without the biases: (rows, machines)."""
        X = self._check_new(X)
        coef = self._columns()
        if not self._precomputed:
            return self._sums(self.kernel_, X, self.support_vectors_, coef)
        dense = X.toarray() if hasattr(X, "toarray") else X
        return np.asarray(dense[:, self.support_] @ coef)

    def _warn_indefinite(self, X: Any, n: int) -> None:
        """Warn of a kernel that is none: its matrix has a negative eigenvalue."""
        code, _, coef0, _ = self.kernel_.row_kernel
        if code in (LINEAR, GAUSSIAN, LAPLACIAN) or (code == POLYNOMIAL and coef0 >= 0):
            return
        some = np.unique(np.linspace(0, n - 1, _CHECKED).astype(int))
        points = X[some]
        check = psd_check(self._between(self.kernel_, points, points))
        if not check:
            warn_caller(
                f"{type(self).__name__}: the matrix of this kernel has the negative eigenvalue "
                f"{check.least:.4g} on {len(some)} of the rows (the largest is "
                f"{check.largest:.4g}), so it is no kernel: the minimum that was found need not "
                "be the least one.",
                DataWarning,
            )

    @property
    def shape_fit_(self) -> tuple[int, int]:
        """Rows and columns of the inputs of the fit."""
        check_is_fitted(self)
        return self._n_given, int(self.n_features_in_)

    @property
    def fit_status_(self) -> int:
        """0 where the fit converged, else 1."""
        check_is_fitted(self)
        return 0 if self.converged_ else 1

    @property
    def coef_(self) -> FloatArray:
        """Coefficients of the inputs, of the linear kernel alone."""
        if not hasattr(self, "kernel_"):
            raise AttributeError("coef_ is known after fit.")
        if self.kernel_.row_kernel.code != LINEAR or self._precomputed:
            raise AttributeError("Only a linear kernel has coefficients of the inputs, coef_.")
        found = np.asarray(self._columns().T @ self.support_vectors_)
        found.flags.writeable = False  # it is made of the support vectors: change those
        return found

    @abstractmethod
    def _columns(self) -> FloatArray:
        """Return the coefficients of the support vectors, a column per machine."""

    def _report(self, machines: Sequence[Machine], unit: float = 1.0) -> None:
        """Set how exact the machines are, and warn of those that have not converged."""
        self.primal_objective_ = _per_machine([each.primal * unit**2 for each in machines])
        self.dual_objective_ = _per_machine([each.dual * unit**2 for each in machines])
        self.kkt_residual_ = max(each.gap for each in machines) * unit
        self.n_iter_ = max(1, sum(each.n_iter for each in machines))
        self.converged_ = all(each.converged for each in machines)
        if not self.converged_:
            warn_caller(
                f"{type(self).__name__} did not converge: the conditions of the minimum are "
                f"violated by {self.kkt_residual_:.3g}. Raise max_iter or tol, bring the inputs "
                "to one scale, or use a smaller C.",
                ConvergenceWarning,
            )

    def _glance_row(self) -> dict[str, Any]:
        return glance_row(
            {"nobs": self._n_rows},
            n_support=len(self.support_),
            **self._own_numbers(),
            primal=float(np.sum(self.primal_objective_)),
            dual=float(np.sum(self.dual_objective_)),
            kkt=self.kkt_residual_,
        )

    @abstractmethod
    def _own_numbers(self) -> dict[str, float]:
        """Return what the fit of this kind of machine has besides."""

    def glance(self) -> Any:
        """Return one row with the size of the fit and how exact it is, as a data frame.

        After the usual columns come the number of support vectors, C, the margin (the least one of
        all pairs of classes) or the width epsilon of the tube, the primal and the dual objective of
        all machines together, and the largest violation of the conditions of the minimum.
        """
        check_is_fitted(self)
        return self._make_frame({name: [one] for name, one in self._glance_row().items()})

    def summary(self) -> Summary:
        """Return the fit as a table that shows itself as text, HTML and Markdown."""
        check_is_fitted(self)
        return Summary(self.card.title, (glance_section(self._glance_row()),))


def _per_machine(values: list[float]) -> Any:
    return values[0] if len(values) == 1 else np.array(values)
