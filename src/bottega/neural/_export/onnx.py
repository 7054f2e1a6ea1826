"""A network of dense layers as an ONNX graph: from rows in their own units to predictions.

The graph holds all of the model: standard units, masks of missing numbers, embeddings, layers,
output activation, and the way back to the units of the response.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bottega.core.errors import InputError, require
from bottega.core.typing import Array

if TYPE_CHECKING:
    from bottega.neural._network.table_network import TabularNetwork

__all__ = ["onnx_bytes"]

_OPSET = 17
_IR_VERSION = 8
_NODES = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid", "sigmoid": "Sigmoid"}


class GraphWriter:
    """Nodes of a graph, one after the other; each call returns the name of what it computes."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Array) -> str:
        """Return the name of an array."""
        name = f"c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def node(self, kind: str, *inputs: str, to: str | None = None, **attributes: Any) -> str:
        """Add an operation; return the name of its result."""
        name = to or f"n{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def cast(self, name: str, kind: int) -> str:
        """Add a change of type."""
        out = f"n{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node("Cast", [name], [out], to=kind))
        return out


def onnx_bytes(model: "TabularNetwork") -> bytes:
    """Return the file of a fitted network.

    The input ``X`` is the matrix of the columns as numbers in double precision, NaN where a value
    is missing, the codes of levels for categories; the output is ``probabilities`` or
    ``prediction``.
    """
    onnx = require("onnx", "onnx")
    require("onnx.numpy_helper", "onnx")
    if model.description_["kind"] != "dense":
        raise InputError(
            "Only networks of dense layers are written as ONNX; export a module of your own with "
            "torch.onnx.export."
        )
    real = np.dtype(model.precision_)
    graph = GraphWriter(onnx)
    hidden = _body(graph, _standardized(graph, model, real), model, real)
    name = _output(graph, hidden, model)
    made = onnx.helper.make_graph(
        graph.nodes,
        "network",
        [_value(onnx, "X", np.dtype(np.float64), [None, model.n_features_in_])],
        [_value(onnx, name, np.dtype(np.float64), [None, None])],
        graph.constants,
    )
    opset = onnx.helper.make_opsetid("", _OPSET)
    file = onnx.helper.make_model(
        made, producer_name="bottega", opset_imports=[opset], ir_version=_IR_VERSION
    )
    onnx.checker.check_model(file)
    return bytes(file.SerializeToString())


def _value(onnx: Any, name: str, kind: np.dtype[Any], shape: list[Any]) -> Any:
    code = onnx.helper.np_dtype_to_tensor_dtype(kind)
    return onnx.helper.make_tensor_value_info(name, code, shape)


def _standardized(graph: GraphWriter, model: "TabularNetwork", real: np.dtype[Any]) -> str:
    """Write numbers in standard units, masks and embeddings side by side."""
    scale = model.inputs_
    code = graph.onnx.helper.np_dtype_to_tensor_dtype(real)
    parts = []
    if len(scale.numbers):
        x = graph.node("Gather", "X", graph.constant(scale.numbers), axis=1)
        missing = graph.node("IsNaN", x)
        z = graph.node("Sub", x, graph.constant(scale.center))
        z = graph.node("Div", z, graph.constant(scale.scale))
        z = graph.node("Where", missing, graph.constant(np.zeros(())), z)
        if np.isfinite(scale.farthest):
            ends = (graph.constant(np.array(end)) for end in (-scale.farthest, scale.farthest))
            z = graph.node("Clip", z, *ends)
        parts.append(graph.cast(z, code))
        if scale.masked.any():
            which = graph.constant(np.flatnonzero(scale.masked))
            mask = graph.node("Gather", missing, which, axis=1)
            parts.append(graph.cast(mask, code))
    whole = graph.onnx.TensorProto.INT64
    for j, column in enumerate(scale.categories):
        x = graph.node("Gather", "X", graph.constant(np.array(column)), axis=1)
        missing = graph.node("IsNaN", x)
        unknown = graph.constant(np.array(float(scale.levels[j])))
        codes = graph.cast(graph.node("Where", missing, unknown, x), whole)
        table = graph.constant(model.arrays_[f"embeddings.{j}.weight"])
        parts.append(graph.node("Gather", table, codes, axis=0))
    return parts[0] if len(parts) == 1 else graph.node("Concat", *parts, axis=1)


def _body(graph: GraphWriter, x: str, model: "TabularNetwork", real: np.dtype[Any]) -> str:
    """Write the dense layers, in the order of the arrays."""
    arrays: Mapping[str, Array] = model.arrays_
    activation = model.description_["activation"]
    dense = [k for k, v in arrays.items() if k.startswith("body.") and v.ndim == 2]
    for i, name in enumerate(dense):
        weight, bias = arrays[name], arrays[name.removesuffix("weight") + "bias"]
        x = graph.node("Gemm", x, graph.constant(weight), graph.constant(bias), transB=1)
        if i == len(dense) - 1:
            break
        follower = f"body.{int(name.split('.')[1]) + 1}"
        if f"{follower}.running_mean" in arrays:
            names = ("weight", "bias", "running_mean", "running_var")
            stats = [graph.constant(arrays[f"{follower}.{each}"].astype(real)) for each in names]
            x = graph.node("BatchNormalization", x, *stats, epsilon=1e-5)
        if activation == "leaky_relu":
            x = graph.node("LeakyRelu", x, alpha=0.01)
        elif activation != "identity":
            x = graph.node(_NODES[activation], x)
    return x


def _output(graph: GraphWriter, x: str, model: "TabularNetwork") -> str:
    """Write the output activation, or the way back to the units of the response."""
    x = graph.cast(x, graph.onnx.TensorProto.DOUBLE)
    if model.responses_ is not None:
        if model.out_activation_ == "exp":
            from bottega.neural._training.criteria import LARGEST_LOG

            x = graph.node("Exp", graph.node("Min", x, graph.constant(np.array(LARGEST_LOG))))
        x = graph.node("Mul", x, graph.constant(model.responses_.scale))
        return graph.node("Add", x, graph.constant(model.responses_.center), to="prediction")
    if model.out_activation_ == "softmax":
        return graph.node("Softmax", x, axis=1, to="probabilities")
    if getattr(model, "_several", False):
        return graph.node("Sigmoid", x, to="probabilities")
    p = graph.node("Sigmoid", x)
    if model.n_outputs_ == 1:
        q = graph.node("Sub", graph.constant(np.ones(())), p)
        return graph.node("Concat", q, p, axis=1, to="probabilities")
    total = graph.node("ReduceSum", p, graph.constant(np.array([1])), keepdims=1)
    return graph.node("Div", p, total, to="probabilities")
