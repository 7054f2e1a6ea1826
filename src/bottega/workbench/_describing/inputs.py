"""The columns of a table on one scale: what every part of a description works with."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray, IntArray
from bottega.data import Encoder, Table
from bottega.data.convert import as_numbers
from bottega.workbench._describing.scales import ColumnScale

__all__ = ["ColumnBlock", "DescribedInputs"]

_MOST_MISSING = 0.6  # share; a column with more says little about its rows
_LEAST_LEVEL = 5  # rows of a level that is shown by itself,
_LEAST_SHARE = 0.02  # and its share of all rows
_FEW_VALUES = 10  # distinct numbers: steps, in which every density finds spikes
_SPIKE = 0.4  # share of rows with one and the same value, as of zeros
_MOST_ENCODED = 2_000  # encoded columns
_FAR = 6.0  # standard deviations; what is farther pulls components and clusters no harder
_REPEATED = 2e-3  # share of a column's variance that others leave: 1e-3 is a rounded copy's,
# crabs of one shape leave 3e-3 in each measurement
_EXACT = 1e-4  # the same for sums and products of skewed columns, where a long tail weighs more
_COMPARED = 20_000  # rows that columns are compared in


@dataclass(frozen=True)
class ColumnBlock:
    """One column of the table as columns of numbers, of total variance one.

    Attributes
    ----------
    name, kind : str
        Of the column.
    titles : tuple of str
        Of its encoded columns: its own name, or one per level.
    values : ndarray of shape (n, w)
        Centred; missing numbers are NaN.
    scale : ColumnScale or None
        How a number became `values`.
    """

    name: str
    kind: str
    titles: tuple[str, ...]
    values: FloatArray = field(repr=False)
    scale: ColumnScale | None = None


@dataclass(frozen=True)
class DescribedInputs:
    """The usable columns of a table, each with total variance one.

    Attributes
    ----------
    table : Table
        Where they come from.
    blocks : tuple of ColumnBlock
        One per column in use.
    raw : dict of str to ndarray
        Numbers and dates (as days) as they are.
    dense : tuple of str
        The numbers that a density can describe: neither steps of few values nor mostly one value,
        and none that follows from others.
    following : tuple of str
        The numbers that follow from others.
    skipped : dict of str to str
        Columns that some part leaves out, with the reason.
    """

    table: Table
    blocks: tuple[ColumnBlock, ...]
    raw: dict[str, FloatArray] = field(repr=False)
    dense: tuple[str, ...]
    following: tuple[str, ...]
    skipped: dict[str, str]

    @classmethod
    def of(cls, table: Table) -> "DescribedInputs":
        """Encode the features of a table."""
        blocks: list[ColumnBlock] = []
        raw: dict[str, FloatArray] = {}
        dense: list[str] = []
        skipped: dict[str, str] = {}
        width = 0
        for name, kind in table.kinds.items():
            column = table.column(name)
            if column.missing > _MOST_MISSING * table.n_rows:
                share = 100 * column.missing / table.n_rows
                skipped[name] = f"missing in {share:.0f}% of the rows: not used"
                continue
            if kind == "text":
                skipped[name] = "it holds free text: not used"
                continue
            values = _numbers(table, name, kind) if kind in ("number", "date") else None
            block = _block(table, name, kind) if values is None else _scaled(name, kind, values)
            if block is None:
                least = max(_LEAST_LEVEL, round(_LEAST_SHARE * table.n_rows))
                skipped[name] = (
                    f"no level has {least:,} rows: not used"
                    if kind == "category"
                    else "all its values are alike: not used"
                )
                continue
            if width + len(block.titles) > _MOST_ENCODED:
                skipped[name] = f"there are {_MOST_ENCODED:,} encoded columns without it: not used"
                continue
            width += len(block.titles)
            blocks.append(block)
            if values is not None:
                raw[name] = values
                reason = _not_dense(values)
                if reason:
                    skipped[name] = f"{reason}: not used for clusters and outliers"
                else:
                    dense.append(name)
        if not blocks:
            raise InputError(
                "No column is left to describe: "
                + "; ".join(f"{name!r} is left out ({why})" for name, why in skipped.items())
                + "."
            )
        chosen = [block for block in blocks if block.name in dense]
        following = _repeated(chosen, raw)
        for name, share in following.items():
            dense.remove(name)
            skipped[name] = (
                f"other number columns explain {100 * share:.5g}% of its variance: not used for "
                "clusters and outliers"
            )
        return cls(table, tuple(blocks), raw, tuple(dense), tuple(following), skipped)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    @property
    def titles(self) -> list[str]:
        """Names of the encoded columns."""
        return [title for block in self.blocks for title in block.titles]

    @property
    def owners(self) -> IntArray:
        """Which block each encoded column belongs to."""
        return np.repeat(np.arange(len(self.blocks)), [len(each.titles) for each in self.blocks])

    @property
    def bent(self) -> list[str]:
        """Columns that are taken on a logarithmic scale."""
        return [each.name for each in self.blocks if each.scale is not None and each.scale.side]

    def matrix(self, rows: Any = slice(None)) -> FloatArray:
        """Return the encoded columns of some rows side by side; missing numbers are NaN.

        Numbers more than six standard deviations off count as six.
        """
        found = np.concatenate([block.values[rows] for block in self.blocks], axis=1)
        return np.clip(found, -_FAR, _FAR)

    def numbers(self, rows: Any = slice(None)) -> FloatArray:
        """Return the dense numbers of some rows in standard units; missing ones are NaN."""
        chosen = [block for block in self.blocks if block.name in self.dense]
        if not chosen:
            return np.empty((self.n_rows, 0))[rows]
        return np.concatenate([block.values[rows] for block in chosen], axis=1)

    def scale(self, name: str) -> ColumnScale:
        """Return the scale of a number column."""
        found = next(block.scale for block in self.blocks if block.name == name)
        assert found is not None
        return found


def _numbers(table: Table, name: str, kind: str) -> FloatArray:
    values = as_numbers(table.series(name), kind, table.decimal.get(name))
    return np.where(np.isfinite(values), values, np.nan)


def _scaled(name: str, kind: str, values: FloatArray) -> ColumnBlock | None:
    """Return a number column with variance one; None where it does not vary."""
    scale = ColumnScale.of(values)
    scaled = scale.forward(values)
    if not np.nanstd(scaled) > 1e-3:  # about one, unless all are alike
        return None
    return ColumnBlock(name, kind, (name,), scaled[:, None], scale)


def _block(table: Table, name: str, kind: str) -> ColumnBlock | None:
    """Return a category or a boolean with total variance one; None where it does not vary."""
    least = max(_LEAST_LEVEL, int(np.ceil(_LEAST_SHARE * table.n_rows)))
    encoder = Encoder(
        standardize=False,
        impute=False,
        kinds={name: kind},
        handle_unknown="infrequent_if_exist",
        min_frequency=least if kind == "category" else None,
    )
    frame = table.series(name).to_frame().to_native()
    found = np.asarray(encoder.fit_transform(frame), dtype=np.float64)
    titles = tuple(str(title) for title in encoder.get_feature_names_out())
    found = found - np.nanmean(found, axis=0)
    spread = float(np.sqrt(np.sum(np.nanvar(found, axis=0))))
    if not spread > 0:
        return None
    return ColumnBlock(name, kind, titles, found / spread)


def _not_dense(values: FloatArray) -> str:
    """Return why no density describes a column; empty if one may."""
    known = values[~np.isnan(values)]
    distinct, counts = np.unique(known, return_counts=True)
    if distinct.size <= _FEW_VALUES:
        return f"it has only {distinct.size} different values"
    if counts.max() > _SPIKE * known.size:
        share = 100 * counts.max() / known.size
        return f"{share:.0f}% of its values are {distinct[np.argmax(counts)]:.4g}"
    return ""


def _repeated(blocks: list[ColumnBlock], raw: dict[str, FloatArray]) -> dict[str, float]:
    """Return numbers that follow from others, with the share of variance these explain.

    Rows lie on a surface then, and normal clouds tile it: many small ones fit better than one,
    without any clusters. Linear relations are sought in the numbers as they are used, and exact
    ones in the numbers as they are and in logarithms: sums and products of skewed columns.
    """
    if len(blocks) < 2:
        return {}
    step = -(-len(blocks[0].values) // _COMPARED)
    used = np.concatenate([block.values[::step] for block in blocks], axis=1)
    usual = np.all(np.abs(used) < _FAR, axis=1)  # a wild value in one hides that they repeat
    used = used[usual]
    units = [1.0 if block.scale is None else block.scale.unit for block in blocks]
    plain = np.column_stack(
        [raw[block.name][::step][usual] / unit for block, unit in zip(blocks, units, strict=True)]
    )
    positive = np.all(plain > 0, axis=0)
    logs = np.where(positive, np.log(np.where(positive, plain, 1.0)), used)
    names = [block.name for block in blocks]
    found: dict[str, float] = {}
    for values, least in ((used, _REPEATED), (plain, _EXACT), (logs, _EXACT)):
        places = [j for j, name in enumerate(names) if name not in found]
        shares = _linear_in_others(values[:, places], least)
        found |= {names[places[j]]: share for j, share in shares.items()}
    return found


def _linear_in_others(X: FloatArray, least: float) -> dict[int, float]:
    """Return columns of which others leave less than a share, with the share that these explain.

    Columns are kept one by one, the one that those kept explain least first (Cholesky decomposition
    with pivots), and of equals the first.
    """
    n, p = X.shape
    if n < 3:
        return {}
    X = X - X.mean(axis=0)
    spread = np.sqrt(np.mean(X**2, axis=0))
    X = X / np.where(spread > 0, spread, 1.0)
    correlations = X.T @ X / n
    shares = np.diag(correlations).copy()  # of the variance, that the kept ones do not explain
    open_ = spread > 1e-12  # one that is constant in these rows follows from nothing
    most = min(p, n // 3)  # more would explain any column of so few rows
    factor = np.zeros((p, most))
    found: dict[int, float] = {}
    for kept in range(most):
        if kept:
            gone = np.flatnonzero(open_ & (shares < least))
            found |= {int(j): 1.0 - max(float(shares[j]), 0.0) for j in gone}
            open_[gone] = False
        j = int(np.argmax(np.where(open_, np.round(shares, 9), 0.0)))
        if not (open_[j] and shares[j] > 0):
            break
        rest = correlations[:, j] - factor[:, :kept] @ factor[j, :kept]
        factor[:, kept] = rest / np.sqrt(shares[j])
        shares -= factor[:, kept] ** 2
        open_[j] = False
    return found
