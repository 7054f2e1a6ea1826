"""Components of all columns: how many there are beyond chance, and which columns carry them."""

from dataclasses import dataclass, field

import numpy as np

from bottega.core.interruption import raise_if_pressed
from bottega.core.typing import FloatArray, IntArray
from bottega.latent import PCA
from bottega.workbench._describing.filling import Filling
from bottega.workbench._describing.inputs import DescribedInputs

__all__ = ["FoundComponents", "find_components"]

_PERMUTATIONS = 19  # the largest of as many, and the data's own, is the 95 % quantile
_PERMUTED_ROWS = 4_000
_MOST = 10  # components that are kept for each row
_TOLD = 0.4  # correlation from which on a column carries a component
_MOST_TOLD = 6


@dataclass(frozen=True)
class FoundComponents:
    """Principal components of all columns, each column of total variance one.

    Attributes
    ----------
    scores : ndarray of shape (n, m)
        Of every row; at least two columns where there are two, at most ten.
    shares : ndarray of shape (q,)
        Share of the variance of each component.
    chance : ndarray of shape (q,)
        Share that a component of the same rank reaches where columns are unrelated: the largest in
        19 tables with each column shuffled by itself.
    kept : int
        Components of more than chance, from the first on.
    titles : tuple of str
        Encoded columns.
    owners : ndarray of int
        Which of `columns` each belongs to.
    columns, kinds : tuple of str
        Columns of the table, and what they hold.
    correlations : ndarray of shape (p, m)
        Of each encoded column with each component.
    """

    scores: FloatArray = field(repr=False)
    shares: FloatArray
    chance: FloatArray
    kept: int
    titles: tuple[str, ...]
    owners: IntArray = field(repr=False)
    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    correlations: FloatArray = field(repr=False)

    def carriers(self, component: int, most: int = _MOST_TOLD) -> list[tuple[str, float]]:
        """Return the columns that carry a component, with their correlations, largest first.

        Columns with a correlation of at least 0.4; the three largest where there are fewer than
        two. Of a category with two levels one is named.
        """
        r = self.correlations[:, component]
        order = np.argsort(-np.abs(r), kind="stable")
        found: list[tuple[str, float]] = []
        seen: list[int] = []
        for j in order.tolist():
            owner = int(self.owners[j])
            if len(found) == most or (abs(r[j]) < _TOLD and len(found) > 1) or r[j] == 0:
                break
            if np.sum(self.owners == owner) == 2 and owner in seen:
                continue  # the other level says the same
            seen.append(owner)
            found.append((self.titles[j], float(r[j])))
        return found

    def words(self) -> list[str]:
        """Return one sentence per component beyond chance."""
        return [self.sentence(k) for k in range(min(self.kept, self.correlations.shape[1]))]

    def sentence(self, k: int) -> str:
        """Return which columns carry a component, and how."""
        told: dict[str, list[str]] = {}
        places = {title: j for j, title in enumerate(self.titles)}
        for title, r in self.carriers(k):
            measured = self.kinds[self.owners[places[title]]] in ("number", "date")
            side = ("larger", "smaller") if measured else ("more often", "less often")
            told.setdefault(side[r < 0], []).append(title)
        order = [side for side in ("larger", "smaller", "more often", "less often") if side in told]
        parts = [f"{side} {_listed(told[side])}" for side in order]
        share = f"{100 * self.shares[k]:.0f}% of the variance"
        return f"Component {k + 1} ({share}) is high for rows with {'; '.join(parts)}."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def find_components(
    inputs: DescribedInputs, rows: IntArray, rng: np.random.Generator
) -> FoundComponents:
    """Find the components from some rows, and the scores of all."""
    X = inputs.matrix(rows)
    filling = Filling.of(X)
    X = filling.fill(X)
    most = int(min(X.shape[1], max(len(X) - 1, 1)))
    model = PCA(n_components=min(most, 50)).fit(X)
    variances = np.var(X, axis=0)
    total = float(np.sum(variances))
    shares = np.asarray(model.explained_variance_ratio_, dtype=np.float64)
    chance = _by_chance(X, inputs.owners, len(shares), rng)
    above = shares > chance
    kept = int(np.argmin(above)) if not above.all() else len(shares)
    if len(inputs.blocks) == 1:  # it has all the variance, shuffled or not
        kept = 0
    m = min(len(shares), max(2, min(kept, _MOST)))
    every = _scores(model, inputs, filling, m)
    eigenvalues = shares[:m] * total
    spread = np.sqrt(np.where(variances > 0, variances, 1.0))
    r = model.components_[:m].T * np.sqrt(eigenvalues) / spread[:, None]
    return FoundComponents(
        every,
        shares,
        chance,
        kept,
        tuple(inputs.titles),
        inputs.owners,
        tuple(block.name for block in inputs.blocks),
        tuple(block.kind for block in inputs.blocks),
        np.clip(r, -1.0, 1.0),
    )


def _scores(model: PCA, inputs: DescribedInputs, filling: Filling, m: int) -> FloatArray:
    """Return the scores of all rows, some thousands at a time."""
    found = np.empty((inputs.n_rows, m))
    for start in range(0, inputs.n_rows, 20_000):
        raise_if_pressed()
        part = slice(start, start + 20_000)
        found[part] = model.transform(filling.fill(inputs.matrix(part)))[:, :m]
    return found


def _by_chance(X: FloatArray, owners: IntArray, q: int, rng: np.random.Generator) -> FloatArray:
    """Return the largest share of variance by rank where the columns of the table are shuffled.

    The encoded columns of one category are shuffled together.
    """
    if len(X) > _PERMUTED_ROWS:
        X = X[rng.choice(len(X), _PERMUTED_ROWS, replace=False)]
    n, p = X.shape
    largest = np.zeros(q)
    for _ in range(_PERMUTATIONS):
        raise_if_pressed()
        shuffled = np.empty_like(X)
        for owner in np.unique(owners):
            its = owners == owner
            shuffled[:, its] = X[:, its][rng.permutation(n)]
        shuffled -= shuffled.mean(axis=0)
        gram = shuffled.T @ shuffled if p <= n else shuffled @ shuffled.T
        values = np.sort(np.linalg.eigvalsh(gram))[::-1]
        found = values / np.sum(values)
        size = min(q, len(found))
        largest[:size] = np.maximum(largest[:size], found[:size])
    return largest
