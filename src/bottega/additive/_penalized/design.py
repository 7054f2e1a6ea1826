r"""The design of an additive model on binned inputs, and its products.

A row of a block is a multiplier (the product of its margins of one column, such as ``by=``,
evaluated exactly) times the row of its bin. Bins have few non-zeros. A crossproduct of two blocks
first sums the rows of one by the bins of the other, which costs the rows times the non-zeros of a
bin, and then works on bins alone.

Symbols
-------
n, p    rows, coefficients (constraints absorbed)
m, k    bins of a block, its columns before the constraint is absorbed
z       non-zeros of a bin
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Self

import numpy as np

from bottega.additive._kernels import crossproducts as kernels
from bottega.additive._penalized.bins import Binning
from bottega.additive._terms.blocks import Block, row_products
from bottega.core.typing import FloatArray, IntArray

__all__ = ["CodedRows", "Design", "column_sets", "is_scalar"]


# Numbers of a matrix that is kept whole, and seconds of a product in BLAS and of a pair of blocks.
_WHOLE = 5e6
_PER_PRODUCT, _PER_PAIR = 2e-10, 4e-5


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows (all, or a chunk) as codes.

    Attributes
    ----------
    codes : tuple of ndarray of int32 of shape (n,)
        Bin of each row in each block.
    multipliers : tuple of ndarray of shape (n,) or None
        What the rows of a block are multiplied by.
    y, weight, offset : ndarray of shape (n,)
        Responses (codes of classes for the multinomial), weights, known part of the predictor.
    """

    codes: tuple[Any, ...]
    multipliers: tuple[FloatArray | None, ...]
    y: FloatArray
    weight: FloatArray
    offset: FloatArray | None
    weighted: bool = True  # or all weights are one
    whole: dict[int, Any] = field(default_factory=dict)  # matrices of small designs, by design

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True, eq=False)
class _BlockTable:
    """The bins of a block: columns and values of their non-zeros, before the constraint."""

    columns: tuple[int, ...]  # of the inputs that are binned
    index: Any  # int32 (m, z)
    values: FloatArray  # (m, z)
    k: int
    transform: FloatArray | None
    first: Any = field(default=None)  # int32 (m,) where the non-zeros are neighbours

    @property
    def m(self) -> int:
        return len(self.values)

    @property
    def z(self) -> int:
        return int(self.values.shape[1])

    def matrix(self) -> FloatArray:
        """Return the columns at each bin."""
        found = np.zeros((self.m, self.k))
        np.put_along_axis(found, self.index.astype(np.intp), self.values, axis=1)
        return found if self.transform is None else found @ self.transform

    def same_as(self, other: "_BlockTable") -> bool:
        """Return True if the bins of another block have the same non-zeros."""
        return (
            self.columns == other.columns
            and self.k == other.k
            and np.array_equal(self.index, other.index)
            and np.array_equal(self.values, other.values)
        )

    def raw(self, coef: FloatArray) -> FloatArray:
        return coef if self.transform is None else self.transform @ coef

    def effects(self, coef: FloatArray) -> FloatArray:
        """Return the sum of the columns times coefficients at each bin."""
        return np.asarray(np.einsum("mz,mz->m", self.values, self.raw(coef)[self.index]))

    def back(self, sums: FloatArray) -> FloatArray:
        """Return the columns' products with sums by bin."""
        found = self.raw_back(sums)
        return found if self.transform is None else self.transform.T @ found

    def raw_back(self, sums: FloatArray) -> FloatArray:
        """Return the products of the columns before the constraint with sums by bin."""
        return kernels.from_bins(self.index, self.values, sums, self.k)

    def own_gram(self, sums: FloatArray) -> FloatArray:
        """Return the crossproduct of the block with itself, from sums of weights by bin."""
        return kernels.own_crossproduct(self.index, self.values, sums, self.k)

    def own_form(self, M: FloatArray) -> FloatArray:
        """Return the quadratic form of each bin in a (raw) matrix."""
        every = np.arange(self.m, dtype=np.int32)
        return kernels.form_row_by_row(
            M, every, self.index, self.values, every, self.index, self.values
        )


def is_scalar(margin: Any) -> bool:
    """Return True for a margin of one column, which multiplies the others row by row."""
    return bool(margin.size == 1)


def _binned_columns(block: Block) -> tuple[int, ...]:
    """Return the inputs of a block that are binned, together where there are several."""
    found = [c for margin in block.margins if not is_scalar(margin) for c in margin.columns]
    return tuple(dict.fromkeys(found))


def column_sets(blocks: Sequence[Block]) -> list[tuple[int, ...]]:
    """Return the sets of inputs that blocks want binned, each once."""
    return list(dict.fromkeys(filter(None, map(_binned_columns, blocks))))


def _sparse(B: FloatArray) -> tuple[Any, FloatArray, Any]:
    """Return columns and values of the non-zeros of rows; the first column of neighbours."""
    k = B.shape[1]
    some = B != 0
    any_here = some.any(axis=1)
    first = np.where(any_here, some.argmax(axis=1), 0)
    last = np.where(any_here, k - 1 - some[:, ::-1].argmax(axis=1), 0)
    width = int((last - first).max(initial=0)) + 1
    most = int(some.sum(axis=1).max(initial=0)) or 1
    if width <= most + 2 or width > 0.75 * k:
        first = np.minimum(first, k - width)
        index = first[:, None] + np.arange(width)
        values = np.ascontiguousarray(np.take_along_axis(B, index, axis=1))
        return index.astype(np.int32), values, first.astype(np.int32)
    index = np.argsort(~some, axis=1, kind="stable")[:, :most]
    values = np.ascontiguousarray(np.take_along_axis(B, index, axis=1))
    return np.ascontiguousarray(index, dtype=np.int32), values, None


class Design:
    """The columns of all blocks on binned rows.

    Parameters
    ----------
    blocks : sequence of Block
        Block after block, the columns of the design.
    binning : Binning
        Bins of (at least) all `column_sets` of the blocks.
    """

    def __init__(self, blocks: Sequence[Block], binning: Binning) -> None:
        self.blocks = tuple(blocks)
        self.bins = {columns: binning.bins(columns) for columns in column_sets(blocks)}
        self.kept, self._kept_of = binning.kept, binning.kept_of
        self.tables = tuple(self._table(block) for block in self.blocks)
        self._place()

    def with_blocks(self, blocks: Sequence[Block]) -> Self:
        """Return the design of the same columns after other transforms."""
        found = copy(self)
        found.blocks = tuple(blocks)
        found.tables = tuple(
            replace(table, transform=block.transform)
            for table, block in zip(self.tables, blocks, strict=True)
        )
        found._place()
        return found

    def _place(self) -> None:
        self.sizes = tuple(block.size for block in self.blocks)
        ends = np.cumsum(self.sizes).tolist()
        self.slices = [slice(e - s, e) for s, e in zip(self.sizes, ends, strict=True)]
        self.p = int(sum(self.sizes))

    def _table(self, block: Block) -> _BlockTable:
        columns = _binned_columns(block)
        sized = [margin for margin in block.margins if not is_scalar(margin)]
        if not sized:
            one = np.ones((1, 1))
            zero = np.zeros((1, 1), dtype=np.int32)
            return _BlockTable((), zero, one, 1, block.transform, zero[0])
        values = self.bins[columns].values
        rows = [
            margin.rows(values[:, [columns.index(each) for each in margin.columns]])
            for margin in sized
        ]
        B = np.ascontiguousarray(reduce(row_products, rows))
        index, found, first = _sparse(B)
        return _BlockTable(columns, index, found, B.shape[1], block.transform, first)

    def rows(
        self,
        X: FloatArray,
        y: FloatArray,
        weight: FloatArray | None = None,
        offset: FloatArray | None = None,
    ) -> CodedRows:
        """Return rows as codes; those that the binning kept are not coded again."""
        codes = {}
        for columns in self.bins:
            kept = self.kept.get(columns) if X is self._kept_of else None
            codes[columns] = self.bins[columns].codes(X) if kept is None else kept
        return self.coded(codes, X, y, weight, offset)

    def coded(
        self,
        codes: Mapping[tuple[int, ...], Any],
        X: FloatArray,
        y: FloatArray,
        weight: FloatArray | None = None,
        offset: FloatArray | None = None,
    ) -> CodedRows:
        """Return rows whose codes in all margins are known."""
        every = {**codes, (): np.zeros(len(X), dtype=np.int32)}
        return CodedRows(
            tuple(every[table.columns] for table in self.tables),
            tuple(_multiplier(block, X) for block in self.blocks),
            np.ascontiguousarray(y, dtype=np.float64),
            np.ones(len(X)) if weight is None else np.ascontiguousarray(weight, dtype=np.float64),
            offset,
            weight is not None,
        )

    def raw(self) -> Self:
        """Return the design of the same columns before any constraint is absorbed."""
        return self.with_blocks([replace(block, transform=None) for block in self.blocks])

    def has_columns_of(self, other: "Design") -> bool:
        """Return True if the columns before constraints are those of another design."""
        return len(self.tables) == len(other.tables) and all(
            mine.same_as(theirs) and _scalars(one) == _scalars(two)
            for mine, theirs, one, two in zip(
                self.tables, other.tables, self.blocks, other.blocks, strict=True
            )
        )

    def absorbed(self, pull: FloatArray, gram: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return products with the raw columns as those with the columns after constraints."""
        ends = np.cumsum([table.k for table in self.tables]).tolist()
        raw = [slice(e - t.k, e) for t, e in zip(self.tables, ends, strict=True)]
        found, G = np.empty(self.p), np.empty((self.p, self.p))
        for first, left, here in zip(self.tables, self.slices, raw, strict=True):
            found[left] = pull[here] if first.transform is None else first.transform.T @ pull[here]
            for second, right, there in zip(self.tables, self.slices, raw, strict=True):
                G[left, right] = _both(first, gram[here, there], second)
        return found, G

    def _matrix(self, rows: CodedRows) -> FloatArray | None:
        """Return X itself where it is small and products of pairs of blocks are slower."""
        n, pairs = len(rows), len(self.blocks) * (len(self.blocks) + 1) / 2
        if n * self.p > _WHOLE or n * self.p**2 * _PER_PRODUCT > pairs * _PER_PAIR:
            return None
        if id(self) not in rows.whole:
            X = np.empty((n, self.p))
            for table, where, codes, u in self._each(rows):
                columns = table.matrix()[codes]
                X[:, where] = columns if u is None else columns * u[:, None]
            rows.whole[id(self)] = self, X
        return rows.whole[id(self)][1]

    def predictor(self, rows: CodedRows, coef: FloatArray) -> FloatArray:
        """Return X coef (without the offset)."""
        X = self._matrix(rows)
        if X is not None:
            return X @ coef
        total = np.zeros(len(rows))
        for table, where, codes, u in self._each(rows):
            f = table.effects(coef[where])
            if u is not None:
                total += u * f[codes]
            elif table.m == 1:
                total += f[0]
            else:
                kernels.add_gathered(total, codes, f)
        return total

    def back(self, rows: CodedRows, g: FloatArray) -> FloatArray:
        """Return X'g."""
        X = self._matrix(rows)
        if X is not None:
            return X.T @ g
        found = np.empty(self.p)
        for table, where, codes, u in self._each(rows):
            each = g if u is None else g * u
            sums = each.sum(keepdims=True) if table.m == 1 else None
            if sums is None:
                sums = kernels.bin_sums(codes, each, table.m)
            found[where] = table.back(sums)
        return found

    def gram(self, rows: CodedRows, w: FloatArray) -> FloatArray:
        """Return X' diag(w) X."""
        X = self._matrix(rows)
        if X is not None:
            return X.T @ (X * w[:, None])
        G = np.empty((self.p, self.p))
        every = list(self._each(rows))
        waiting: list[list[int]] = [[] for _ in every]  # first blocks of tables, by the second
        for a, (first, left, codes, u) in enumerate(every):
            wu = w if u is None else w * u
            own = wu if u is None else wu * u
            sums = kernels.bin_sums(codes, own, first.m)
            G[left, left] = _both(first, first.own_gram(sums), first)
            for b, (second, right, others, v) in enumerate(every[:a]):
                if second.m == 1 and v is None and u is None:  # of the intercept
                    block = _both(first, first.raw_back(sums)[:, None], second)
                elif u is None and v is None and _is_cubic_table(first, second, len(rows)):
                    waiting[b].append(a)
                    continue
                else:
                    both = wu if v is None else wu * v
                    block = _cross(first, codes, second, others, both)
                G[left, right] = block
                G[right, left] = block.T
        for (second, right, others, _), partners in zip(every, waiting, strict=True):
            for start in range(0, len(partners), 2):
                firsts = [every[a] for a in partners[start : start + 2]]
                raws = _cubic_tables(
                    [(table, codes) for table, _, codes, _ in firsts], second, others, w
                )
                for (first, left, _, _), raw in zip(firsts, raws, strict=True):
                    block = _both(first, raw, second)
                    G[left, right] = block
                    G[right, left] = block.T
        return G

    def forms(self, rows: CodedRows, M: FloatArray) -> FloatArray:
        """Return x_i' M x_i of each row, of a symmetric M."""
        X = self._matrix(rows)
        if X is not None:
            return np.asarray(np.einsum("ij,ij->i", X @ M, X))
        total = np.zeros(len(rows))
        every = list(self._each(rows))
        for a, (first, left, codes, u) in enumerate(every):
            part = np.zeros(len(rows))
            for second, right, others, v in every[:a]:
                each = _form(first, codes, second, others, M[left, right])
                if v is not None:
                    each *= v
                part += each
            part *= 2.0
            own = first.own_form(_raw_matrix(first, M[left, left], first))
            if u is None:
                kernels.add_gathered(part, codes, own)
            else:
                part += u * own[codes]
                part *= u
            total += part
        return total

    def _each(self, rows: CodedRows) -> Any:
        return zip(self.tables, self.slices, rows.codes, rows.multipliers, strict=True)


def _multiplier(block: Block, X: FloatArray) -> FloatArray | None:
    found: FloatArray | None = None
    for margin in block.margins:
        if is_scalar(margin):
            each = margin.rows(X[:, list(margin.columns)])[:, 0]
            found = each if found is None else found * each
    return found


def _scalars(block: Block) -> list[tuple[Any, Any]]:
    """Return what the multiplier of a block is made of."""
    return [(margin.columns, margin.basis) for margin in block.margins if is_scalar(margin)]


def _both(left: _BlockTable, raw: FloatArray, right: _BlockTable) -> FloatArray:
    """Absorb the constraints of both sides of a crossproduct."""
    found = raw if left.transform is None else left.transform.T @ raw
    return found if right.transform is None else found @ right.transform


def _raw_matrix(left: _BlockTable, M: FloatArray, right: _BlockTable) -> FloatArray:
    """Return a matrix between coefficients as one between columns before the constraints."""
    found = M if left.transform is None else left.transform @ M
    found = found if right.transform is None else found @ right.transform.T
    return np.ascontiguousarray(found)


def _is_cubic_table(first: _BlockTable, second: _BlockTable, n: int) -> bool:
    """Return True if `_cross` would sum the rows of cubic B-splines by the bins of `first`."""
    by_first, by_second, by_rows = _costs(first, second, n)
    cubic = second.z == 4 and second.first is not None
    return cubic and by_first <= by_second and by_first < by_rows


def _costs(first: _BlockTable, second: _BlockTable, n: int) -> tuple[int, int, int]:
    """Return what a crossproduct costs by the bins of either block, or row by row."""
    by_first = n * second.z + first.m * (first.z + 1) * second.k
    by_second = n * first.z + second.m * (second.z + 1) * first.k
    return by_first, by_second, n * first.z * second.z


def _cubic_tables(
    firsts: Sequence[tuple[_BlockTable, IntArray]],
    second: _BlockTable,
    others: IntArray,
    w: FloatArray,
) -> list[FloatArray]:
    """Return the crossproducts of one block or two with one of cubic B-splines."""
    if len(firsts) == 1:
        return [_by_table(*firsts[0], second, others, w)]
    (one, codes), (two, more) = firsts
    return list(
        kernels.two_crossproducts(
            codes, one.index, one.values, one.k, more, two.index, two.values, two.k,
            others, second.first, second.values, second.k, w,
        )
    )  # fmt: skip


def _cross(
    first: _BlockTable, codes: IntArray, second: _BlockTable, others: IntArray, w: FloatArray
) -> FloatArray:
    # A table by the bins of one block, or the rows themselves: whatever is least work.
    by_first, by_second, by_rows = _costs(first, second, len(w))
    if by_rows <= min(by_first, by_second):
        raw = kernels.row_by_row(
            codes, first.index, first.values, first.k,
            others, second.index, second.values, second.k, w,
        )  # fmt: skip
    elif by_first <= by_second:
        raw = _by_table(first, codes, second, others, w)
    else:
        raw = _by_table(second, others, first, codes, w).T
    return _both(first, raw, second)


def _by_table(
    first: _BlockTable, codes: IntArray, second: _BlockTable, others: IntArray, w: FloatArray
) -> FloatArray:
    if second.first is None:
        T = kernels.scattered_table(
            codes, first.m, others, second.index, second.values, w, second.k
        )
    else:
        T = kernels.table(codes, first.m, others, second.first, second.values, w, second.k)
    return kernels.from_table(first.index, first.values, T, first.k)


def _form(
    first: _BlockTable, codes: IntArray, second: _BlockTable, others: IntArray, M: FloatArray
) -> FloatArray:
    M = _raw_matrix(first, M, second)
    n = len(codes)
    by_first = n * second.z + first.m * first.z * second.k
    by_second = n * first.z + second.m * second.z * first.k
    if n * first.z * second.z <= min(by_first, by_second):
        return kernels.form_row_by_row(
            M, codes, first.index, first.values, others, second.index, second.values
        )
    if by_first <= by_second:
        return _form_by_table(first, codes, second, others, M)
    return _form_by_table(second, others, first, codes, np.ascontiguousarray(M.T))


def _form_by_table(
    first: _BlockTable, codes: IntArray, second: _BlockTable, others: IntArray, M: FloatArray
) -> FloatArray:
    P = np.einsum("mz,mzk->mk", first.values, M[first.index])
    if second.first is None:
        return kernels.scattered_form(P, codes, others, second.index, second.values)
    return kernels.form_from_table(P, codes, others, second.first, second.values)
