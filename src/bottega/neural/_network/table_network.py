"""Networks of dense layers on the rows of a table: what the classifier and the regressor share."""

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from bottega.core.chunks import CheckedChunks
from bottega.core.class_factors import factors_of_classes
from bottega.core.deal import MOST_ORDERED
from bottega.core.devices import torch_on
from bottega.core.errors import InputError, ParameterError
from bottega.core.files import write_atomically
from bottega.core.folds import Fold
from bottega.core.gathered import Gathered
from bottega.core.passes import kept_if_few
from bottega.core.rows import Rows
from bottega.core.sparse import small_as_dense
from bottega.core.typing import Array, FloatArray
from bottega.core.validate import check_response, read_response
from bottega.data.mixed_inputs import MixedInputs
from bottega.neural._network.chunk_inputs import ChunkInputs
from bottega.neural._network.estimator import Network
from bottega.neural._network.tables import TableScale, center_and_scale_of

if TYPE_CHECKING:
    from bottega.neural._network.work import NetworkWork
    from bottega.neural._training.loop import NetworkTraining

__all__ = ["TabularNetwork", "takes_blocks"]

_WIDEST = 16  # numbers that a category is embedded in, at most
# What the path tries where the parameter is "auto"; decays up to a share of the rows that is felt.
_OPEN: dict[str, tuple[Any, ...]] = {
    "hidden_layer_sizes": ((16,), (64, 32), (128, 64)),
    "alpha": (1.0, 0.1, 1e-2, 1e-4),
}


def takes_blocks(model: "TabularNetwork") -> bool:
    """Return True if a network learns from blocks of rows; else say why not."""
    if model.solver == "lbfgs":
        raise AttributeError(
            "partial_fit learns from blocks, and solver='lbfgs' needs all rows at once; give "
            "solver='adam'."
        )
    return True


class TabularNetwork(Network, Gathered):
    """A network of dense layers: numbers in standard units, categories embedded, masks."""

    knobs: ClassVar[tuple[str, ...]] = ("max_iter", "hidden_layer_sizes", "alpha")
    in_chunks: ClassVar[str] = (
        "Of rows in chunks responses and weights are kept, and inputs read again in each epoch, "
        "in batches of the size that `fit` has. With ``shuffle=False`` the answer is that of "
        "`fit`. Otherwise parts of the source come in a new order in each epoch and the rows of "
        "each chunk, which is less than a shuffle of all rows: many parts of mixed rows are "
        "best. Levels of categories are numbered as they are met. To choose the epochs a fifth "
        "of the rows, at most 50,000, is held out and kept in memory."
    )

    def _check_params(self) -> None:
        super()._check_params()
        if self.drop is not None and self.keep is not None:
            raise ParameterError(
                f"{type(self).__name__}: drop={self.drop!r} and keep={self.keep!r} say the same "
                "thing twice; give the share of units that is dropped, or the share that is kept."
            )

    @property
    def _keep_share(self) -> float:
        if self.keep is not None:
            return float(self.keep)
        return 1.0 if self.drop is None else 1.0 - float(self.drop)

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        y = read_response(self, y)
        self.columns_in_ = MixedInputs(self.categorical_features)
        matrix = self._refuse_missing(self.columns_in_.fit(self, small_as_dense(X)))
        check_consistent_length(matrix, y)
        self._check_responses(y)
        return matrix, y

    def _check_responses(self, y: Array) -> None:
        """Refuse responses that the loss does not go with."""

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._refuse_missing(self.columns_in_.read(self, small_as_dense(X)), new=True)

    def _refuse_missing(self, matrix: FloatArray, new: bool = False) -> FloatArray:
        """Return the matrix, or refuse numbers that are missing where the parameter says so."""
        if self.missing == "mask":
            return matrix
        numbers = [
            j for j, levels in enumerate(self.columns_in_.levels) if levels is None or not new
        ]
        bad = np.isnan(matrix[:, numbers]).any(axis=0)
        if bad.any():
            name = self.columns_in_.names[numbers[int(np.argmax(bad))]]
            raise InputError(
                f"Input X contains NaN: column {name!r} misses values, and missing='refuse'; fill "
                "them in, or use missing='mask'."
            )
        return matrix

    def _candidates(self, work: "NetworkWork") -> list[dict[str, Any]]:
        """Return widths and decays that are left open: narrow to wide, strong to weak."""
        open_ones = {
            name: _OPEN[name]
            for name in ("hidden_layer_sizes", "alpha")
            if isinstance(getattr(self, name), str)
        }
        return [dict(zip(open_ones, each, strict=True)) for each in product(*open_ones.values())]

    def _learn_inputs(self, rows: Rows) -> TableScale:
        counts = [0 if each is None else len(each) for each in self.columns_in_.levels]
        levels = np.array(counts, dtype=np.int64)
        if not isinstance(rows.X, ChunkInputs):
            return TableScale.of(rows.X, levels, rows.weight, bool(self.standardize))
        found = center_and_scale_of(
            (X[:, levels == 0], None if rows.weight is None else rows.weight[place])
            for place, X in rows.X.blocks()
        )
        return TableScale.of_columns(levels, *found, bool(self.standardize))

    def _arrays(self, X: Any, learned: TableScale) -> tuple[Array, ...]:
        return learned.arrays(X.matrix() if isinstance(X, ChunkInputs) else X)

    # ------------------------------------------------------------------ rows in chunks

    def _reader_of_chunks(self, first: Any) -> Any:
        self.columns_in_ = MixedInputs(self.categorical_features)
        self.columns_in_.fit(self, first)
        return self.columns_in_.reader(self)

    def _gather(self, checked: CheckedChunks) -> Rows:
        for name, asked in {
            "solver='lbfgs'": self.solver == "lbfgs",
            "checkpoint": self.checkpoint is not None,
        }.items():
            if asked:
                raise InputError(
                    f"{name} needs all rows in memory, and a fit in chunks has a part of them at a "
                    "time; leave it out."
                )
        torch_on(self.device, instead="device='cpu'")
        checked = kept_if_few(checked)
        inputs, y, weight = ChunkInputs.of(checked, factors_of_classes(self, checked))
        if is_regressor(self):
            check_response(y)
        self._check_responses(y)
        self._check_batch_size(len(y))
        self._start_drawing()
        self._vector = checked.y_ndim == 1
        y = y[:, 0] if y.ndim == 2 and self._vector else y
        return Rows(inputs, y, weight)

    def _order(self, rows: Rows) -> Any:
        return None if isinstance(rows.X, ChunkInputs) else super()._order(rows)

    def _held_out(self, rows: Rows, cv: Any) -> tuple[list[Fold], str]:
        if isinstance(rows.X, ChunkInputs) and isinstance(cv, float) and len(rows) > MOST_ORDERED:
            return [rows.X.drawn_part(cv)], "validation"
        return super()._held_out(rows, cv)

    def _tensors(self, rows: Rows, *how: Any) -> Any:
        if not isinstance(rows.X, ChunkInputs):
            return super()._tensors(rows, *how)
        from bottega.neural._training.chunk_batches import ChunkBatches

        unit = 1.0 if rows.weight is None else 2.0 ** np.floor(np.log2(rows.weight.max()))
        return ChunkBatches(rows, float(unit), self, *how)

    def _describe(self, work: "NetworkWork", setting: Mapping[str, Any]) -> dict[str, Any]:
        if self.module is not None:
            given = self.module
            name = getattr(given, "__name__", type(given).__name__)
            return {"kind": "module", "name": name, "n_outputs": self._n_outputs(work)}
        sizes = setting.get("hidden_layer_sizes", self.hidden_layer_sizes)
        levels = [int(n) for n in work.learned.levels]
        return {
            "kind": "dense",
            "n_numbers": work.learned.n_numbers,
            "levels": levels,
            "embedding_widths": [min(_WIDEST, (n + 2) // 2) for n in levels],
            "hidden_layer_sizes": [int(k) for k in np.atleast_1d(sizes)],
            "n_outputs": self._n_outputs(work),
            "activation": self.activation,
            "keep": self._keep_share,
            "batch_norm": bool(self.batch_norm),
            "input_noise": float(self.input_noise),
            "hidden_noise": float(self.hidden_noise),
        }

    def _keep(
        self, work: "NetworkWork", setting: Mapping[str, Any], training: "NetworkTraining"
    ) -> None:
        super()._keep(work, setting, training)
        self.alpha_ = float(setting.get("alpha", self.alpha))
        if self.description_["kind"] == "dense":
            self.hidden_layer_sizes_ = tuple(self.description_["hidden_layer_sizes"])
            self.n_layers_ = len(self.hidden_layer_sizes_) + 2

    def _learn_block(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        torch_on(self.device, instead="device='cpu'")
        from bottega.neural._network.streams import learn_block

        learn_block(self, X, y, classes, sample_weight)

    @property
    def coefs_(self) -> list[FloatArray]:
        """Weights of each layer, (inputs, outputs) as in scikit-learn, in standard units."""
        return [each.T for each in self._layers("weight")]

    @property
    def intercepts_(self) -> list[FloatArray]:
        """Biases of each layer."""
        return self._layers("bias")

    def _layers(self, part: str) -> list[FloatArray]:
        check_is_fitted(self)
        layers = [
            name.removesuffix("weight")
            for name, each in self.arrays_.items()
            if name.startswith("body.") and name.endswith("weight") and each.ndim == 2
        ]
        return [self.arrays_[layer + part] for layer in layers]

    def to_onnx(self, path: Any) -> Any:
        """Write the fitted network as an ONNX file, which other programs and languages run.

        Parameters
        ----------
        path : str or path
            File to write, whole or not at all.

        Returns
        -------
        pathlib.Path
            The file. Its input ``X`` is the matrix of the columns in double precision, NaN where a
            value is missing, the codes of levels (``columns_in_.levels``) for categories; its
            output is ``probabilities``, one column per class, or ``prediction``.
        """
        check_is_fitted(self)
        from bottega.neural._export.onnx import onnx_bytes

        return write_atomically(path, onnx_bytes(self))

    @staticmethod
    def _build(description: Mapping[str, Any]) -> Any:
        from bottega.neural._modules.dense import table_network

        return table_network(description)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "mask"
        tags.input_tags.sparse = True
        return tags
