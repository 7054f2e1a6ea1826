"""Looking into networks: one batch by heart, diagnoses, losses and activations as pictures."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from bottega.core.devices import torch_on
from bottega.neural._diagnosis.diagnosis import NetworkDiagnosis, OneBatchCheck

__all__ = ["LookingInto"]


class LookingInto:
    """What a network shows of itself, before and after a fit."""

    device: str = "auto"
    loss_curve_: list[float]

    def overfit_one_batch(
        self, X: Any, y: Any = None, *, n_rows: int = 32, steps: int = 500
    ) -> OneBatchCheck:
        """Train a new network on a few rows alone: one that works learns them by heart.

        It is the first thing to do with a new network: without penalties, dropout and noise the
        loss of a few rows must fall to almost nothing. The model itself is not changed.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs.
        y : array-like of shape (n,)
            Responses, or class labels.
        n_rows : int
            Rows to learn.
        steps : int
            Steps of the optimiser.

        Returns
        -------
        OneBatchCheck
            ``passed``, the ``losses`` of all steps, and ``summary()`` in words.
        """
        torch_on(self.device, instead="device='cpu'")
        from bottega.neural._diagnosis.checks import one_batch

        return one_batch(self, X, y, n_rows, steps)

    def diagnose(self, X: Any, y: Any = None) -> NetworkDiagnosis:
        """Look into the layers of the fitted network while rows pass through them and back.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs; at most 2,000 rows are looked at.
        y : array-like of shape (n,)
            Responses, or class labels.

        Returns
        -------
        NetworkDiagnosis
            Dead and saturated units, sizes of activations and gradients, units that are the same,
            layer by layer; its ``findings`` say what is wrong and what to do.
        """
        check_is_fitted(self)
        from bottega.neural._diagnosis.checks import diagnosis_of

        return diagnosis_of(self, X, y)

    def plot(self) -> Any:
        """Draw the loss of each epoch, and that of rows held out where there were any.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        check_is_fitted(self)
        from bottega.plot.training import training_chart

        return training_chart(self.loss_curve_, getattr(self, "validation_loss_curve_", None))

    def plot_activations(self, X: Any, y: Any = None) -> Any:
        """Draw the distribution of the activations of each hidden layer.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs; at most 2,000 rows are looked at.
        y : array-like of shape (n,)
            Responses, or class labels.

        Returns
        -------
        altair.FacetChart
            One panel per layer.
        """
        check_is_fitted(self)
        from bottega.neural._diagnosis.checks import activations_of
        from bottega.plot.training import activations_chart

        return activations_chart(activations_of(self, X, y))
