"""Whether an additive model suits its data: the size of its bases, and its residuals."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.frames import make_frame
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.plot import model_check_chart

__all__ = ["AdditiveCheck"]

_DOUBT = 0.05
_NEARLY_ALL = 0.8  # share of the functions of a basis that are in use


@dataclass(frozen=True, repr=False)
class AdditiveCheck(Shown):
    """Checks of an additive model on rows.

    Attributes
    ----------
    basis : dict
        A row per smooth term: its number of functions `size`, its degrees of freedom `edf`, the
        mean squared difference of neighbouring residuals over that of any two, `index`, and the
        probability `p_value` of so low an index if the residuals stood in any order. A low index
        with edf near the size asks for more functions.
    quantiles : dict
        Sorted deviance residuals `observed`, their expectation `expected` under the model, and the
        limits `low` and `high` between which each lies with probability `level`.
    residual : ndarray of shape (n,)
        Deviance residuals.
    predictor, fitted, y : ndarray of shape (n,)
        Linear predictor, fitted mean and response of each row.
    dispersion : float
        Sum of the squared Pearson residuals over the residual degrees of freedom. Much above one,
        where the family fixes it at one, the counts vary more than the family allows.
    known_scale : bool
        Whether the family fixes the dispersion.
    level : float
        Coverage of the limits of the quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.additive import AdditiveModel
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 1))
    >>> y = np.sin(20 * X[:, 0]) + 0.1 * rng.normal(size=300)
    >>> check = AdditiveModel("smooth(0, n_splines=6)").fit(X, y).check(X, y)
    >>> check.basis["p_value"][0] < 0.001  # 6 functions are too few for this curve
    True
    """

    basis: dict[str, Any]
    quantiles: dict[str, FloatArray]
    residual: FloatArray
    predictor: FloatArray
    fitted: FloatArray
    y: FloatArray
    dispersion: float
    known_scale: bool
    level: float
    like: Any = None

    @property
    def outside(self) -> float:
        """Share of the sorted residuals outside of their limits; 1 - level is expected."""
        q = self.quantiles
        return float(np.mean((q["observed"] < q["low"]) | (q["observed"] > q["high"])))

    def summary(self) -> Summary:
        """Return the checks as tables, with what they ask for."""
        about: dict[str, Any] = {
            "rows": [len(self.y)],
            "residuals outside their limits": [self.outside],
            "expected": [1 - self.level],
            "dispersion": [self.dispersion],
        }
        notes = []
        columns = zip(
            *(self.basis[name] for name in ("term", "size", "edf", "p_value")), strict=True
        )
        for term, size, edf, p_value in columns:
            if p_value < _DOUBT and edf > _NEARLY_ALL * size:
                notes.append(
                    f"{term} uses {edf:.3g} of its {size} functions, and residuals that are "
                    "neighbours along it are alike: give it a larger n_splines."
                )
        if self.known_scale and self.dispersion > 1.5:
            notes.append(
                f"The responses vary {self.dispersion:.3g} times as much as the family says: "
                "standard errors are too small. For counts use family='negative_binomial'."
            )
        tables = (Section("", about), Section("Basis of each smooth term", self.basis))
        return Summary("Check of the additive model", tables, tuple(notes))

    def tidy(self) -> Any:
        """Return one row per smooth term: size, edf, index and p_value of its basis."""
        return make_frame(self.basis, self.like)

    def plot(self) -> Any:
        """Draw residuals: their quantiles, against the predictor, their shape; and the responses.

        Returns
        -------
        altair.ConcatChart
            Residuals of a good model stay inside the band, without a bend or a funnel.
        """
        return model_check_chart(self)
