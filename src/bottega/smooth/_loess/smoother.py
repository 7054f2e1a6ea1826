"""The algebra of a smoother whose scale and test degrees of freedom are loess's own."""

from dataclasses import dataclass

import numpy as np

from bottega.core.smoother import Smoother
from bottega.core.stored import stored


@stored
@dataclass(frozen=True)
class LoessSmoother(Smoother):
    """A `Smoother` with the residual scale of loess.

    Attributes
    ----------
    spread : float
        ``sqrt(sum w r^2 / one_delta)``, or its robust form.
    lookup : float
        Degrees of freedom of Student's t, ``one_delta^2 / two_delta``; nan where two_delta was
        not computed: ``n - df`` then.
    """

    spread: float = np.nan
    lookup: float = np.nan

    @property
    def sigma(self) -> float:
        """Residual standard deviation."""
        return self.spread

    @property
    def df_residual(self) -> float:
        """Degrees of freedom for tests and intervals."""
        return self.n - self.df if np.isnan(self.lookup) else self.lookup
