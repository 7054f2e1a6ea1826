"""Clusters of the rows, with the evidence for their number."""

from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy.linalg import eigh

from bottega.cluster import (
    ClusterProfiles,
    GaussianMixture,
    Silhouettes,
    silhouette,
    what_sets_apart,
)
from bottega.core.signs import signed
from bottega.core.typing import FloatArray, IntArray
from bottega.workbench._describing.categories import choose_means
from bottega.workbench._describing.filling import Filling
from bottega.workbench._describing.inputs import DescribedInputs
from bottega.workbench._describing.mixtures import ChosenMixture, MixtureStep, choose_mixture
from bottega.workbench._describing.space import NumberSpace

__all__ = ["FoundClusters", "find_clusters"]

_ROWS = 2_500  # that the clusters are found in
_SHOWN_ROWS = 2_000  # that the silhouette is taken from


@dataclass(frozen=True)
class FoundClusters:
    """Clusters of the rows; one cluster where there is no evidence of more.

    Attributes
    ----------
    labels : ndarray of int
        Cluster of each row, from 1 on, the largest first.
    certainty : ndarray
        Probability of the row's cluster; NaN where clusters are not those of a mixture.
    sizes : tuple of int
        Rows of each.
    by : str
        "mixture" of the number columns, or "means" of all columns.
    columns : tuple of str
        Columns that the clusters were sought in.
    evidence : tuple of str
        Why there are as many, in sentences.
    steps : tuple of MixtureStep
        Criteria by number of clusters; empty for "means".
    stability, separation : float or None
        Agreement of clusters in random halves (adjusted Rand index), and least distance of two
        centres in standard deviations.
    silhouettes : Silhouettes or None
        Of some rows; None where there is one cluster.
    profiles : ClusterProfiles or None
        What sets each apart; None where there is one.
    plane : ndarray of shape (n, 2) or None
        The rows in the plane in which the clusters differ most, where there are several.
    n_fitted : int
        Rows that the clusters were found in; the others were assigned to them.
    mixture : ChosenMixture or None
        The mixture.
    """

    labels: IntArray = field(repr=False)
    certainty: FloatArray = field(repr=False)
    sizes: tuple[int, ...]
    by: str
    columns: tuple[str, ...]
    evidence: tuple[str, ...]
    steps: tuple[MixtureStep, ...]
    stability: float | None
    separation: float | None
    silhouettes: Silhouettes | None = field(repr=False)
    profiles: ClusterProfiles | None = field(repr=False)
    plane: FloatArray | None = field(repr=False)
    n_fitted: int
    mixture: ChosenMixture | None = field(repr=False)

    @property
    def count(self) -> int:
        """Number of clusters."""
        return len(self.sizes)

    @property
    def silhouette(self) -> float | None:
        """Mean silhouette."""
        return None if self.silhouettes is None else self.silhouettes.mean

    def words(self) -> list[str]:
        """Return one sentence per cluster: its size, and what sets it apart."""
        return [] if self.profiles is None else self.profiles.words()


def find_clusters(
    inputs: DescribedInputs,
    space: NumberSpace | None,
    rows: IntArray,
    most: int,
    rng: np.random.Generator,
) -> FoundClusters:
    """Find clusters in the number columns, or in all where fewer than two numbers can be used."""
    fitted = rows if len(rows) <= _ROWS else np.sort(rng.choice(rows, _ROWS, replace=False))
    if space is not None and (len(space.columns) > 1 or len(inputs.blocks) < 3):
        points = space.points()
        known = fitted[~np.all(np.isnan(points[fitted]), axis=1)]
        chosen = choose_mixture(points[known], most, rng)
        shares = _responsibilities(chosen.model, points)
        labels = _by_size(np.argmax(shares, axis=1), chosen.k)
        points = np.where(np.isnan(points), 0.0, points)
        return _finished(
            inputs, labels, shares.max(axis=1), points, "mixture", space.columns, fitted,
            evidence=_of_mixture(chosen), steps=chosen.steps, stability=chosen.stability,
            separation=chosen.separation, mixture=chosen,
        )  # fmt: skip
    X = inputs.matrix()
    X = Filling.of(X[fitted]).fill(X)
    found = choose_means(X, fitted, inputs.owners, most, rng)
    labels = _by_size(found.labels, found.k)
    return _finished(
        inputs, labels, np.full(len(X), np.nan), X, "means",
        tuple(block.name for block in inputs.blocks), fitted,
        evidence=found.evidence, steps=(), stability=found.stability, separation=None, mixture=None,
    )  # fmt: skip


def _responsibilities(model: GaussianMixture, points: FloatArray) -> FloatArray:
    """Return how likely each row comes from each component; by the weights where all is missing."""
    known = ~np.all(np.isnan(points), axis=1)
    found = np.tile(model.weights_, (len(points), 1))
    if known.any():
        found[known] = model.predict_proba(points[known])
    return found


def _by_size(codes: IntArray, k: int) -> IntArray:
    """Return labels from 1 on, the largest cluster first."""
    order = np.argsort(-np.bincount(codes, minlength=k), kind="stable")
    places = np.empty(k, dtype=np.int64)
    places[order] = np.arange(1, k + 1)
    return places[codes]


def _finished(
    inputs: DescribedInputs,
    labels: IntArray,
    certainty: FloatArray,
    points: FloatArray,
    by: str,
    columns: tuple[str, ...],
    fitted: IntArray,
    **found: Any,
) -> FoundClusters:
    sizes = np.bincount(labels)[1:]
    sizes = sizes[sizes > 0]
    judged, profiles, plane = None, None, None
    if len(sizes) > 1:
        judged = silhouette(points[fitted], labels[fitted], most_rows=_SHOWN_ROWS)
        profiles = what_sets_apart(_described(inputs), labels)
        plane = _plane(points, labels, fitted)
    return FoundClusters(
        labels=labels,
        certainty=certainty,
        sizes=tuple(int(size) for size in sizes),
        by=by,
        columns=columns,
        silhouettes=judged,
        profiles=profiles,
        plane=plane,
        n_fitted=len(fitted),
        **found,
    )


def _described(inputs: DescribedInputs) -> Any:
    """Return the columns that tell clusters apart, as they are.

    One that is mostly missing explains no cluster, and one that follows from others repeats them.
    """
    frame = nw.from_native(inputs.table.X, eager_only=True)
    used = {block.name for block in inputs.blocks} - set(inputs.following)
    return frame.select([name for name in frame.columns if name in used]).to_native()


def _plane(points: FloatArray, labels: IntArray, fitted: IntArray) -> FloatArray | None:
    """Return the rows in the two directions in which clusters differ most, within them round.

    With two clusters the second direction is the one of largest variance within them.
    """
    X, codes = points[fitted], labels[fitted] - 1
    if X.shape[1] < 2:
        return None
    counts = np.bincount(codes)
    means = np.stack([X[codes == k].mean(axis=0) for k in np.flatnonzero(counts)])
    inner = X - means[np.unique(codes, return_inverse=True)[1]]
    within = inner.T @ inner / len(X) + 1e-6 * np.eye(X.shape[1])
    gap = (means - X.mean(axis=0)) * np.sqrt(counts[counts > 0] / len(X))[:, None]
    _, vectors = eigh(gap.T @ gap, within)
    first = vectors[:, ::-1][:, :2]
    if len(means) == 2:
        spread = np.linalg.eigh(within)[1][:, -1]
        first = np.column_stack([first[:, 0], spread / np.sqrt(spread @ within @ spread)])
    return np.asarray((points - X.mean(axis=0)) @ signed(first))


def _of_mixture(chosen: ChosenMixture) -> tuple[str, ...]:
    """Say why there are as many clusters."""
    one = chosen.steps[0]
    by_bic = min(chosen.steps, key=lambda step: step.bic)
    found = []
    if chosen.k > 1:
        here = next(step for step in chosen.steps if step.k == chosen.k)
        found.append(
            f"The integrated classification likelihood (ICL) of {chosen.k} clusters is better than "
            f"that of one by {one.icl - here.icl:,.0f}, where 10 is very strong evidence."
        )
        found.append(
            f"Their centres are at least {chosen.separation:.1f} standard deviations apart, and "
            f"clusters found in random halves of the rows agree with them by "
            f"{chosen.stability:.2f} (adjusted Rand index; 1 is perfect, 0 is chance)."
        )
    else:
        found.append("There is no evidence of more than one cluster.")
    if chosen.refused is not None:
        k, why = chosen.refused
        found.append(f"A mixture of {k} normal clouds fits better, but {why}.")
    elif by_bic.k > chosen.k:
        found.append(
            f"By BIC a mixture of {by_bic.k} normal clouds describes the density best; they "
            "overlap, which means that the columns are not normal rather than that there are as "
            "many clusters."
        )
    return tuple(found)
