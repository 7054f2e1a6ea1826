"""What recurrent classifiers and regressors share."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bottega.core.errors import InputError, ParameterError
from bottega.core.params import Boolean, Choice, Integer, Parameter, Real
from bottega.core.typing import FloatArray
from bottega.neural._sequences.inputs import SequenceInputs

if TYPE_CHECKING:
    from bottega.neural._network.work import NetworkWork

__all__ = ["RECURRENT", "RECURRENT_CARD", "RecurrentNetwork"]

RECURRENT: Mapping[str, Parameter] = {
    "width": Integer(1, help="numbers of the state"),
    "cell": Choice("gru", "lstm", "vanilla", help="how a step changes the state"),
    "pattern": Choice("last", "every", "output", help="what is an output, and what goes on"),
    "layers": Integer(1, help="recurrent layers"),
    "bidirectional": Boolean(help="read sequences from their end too"),
    "drop": Real(0, 1, open_high=True, help="share of a state that dropout sets to zero"),
}

RECURRENT_CARD: dict[str, Any] = {
    "method": "recurrent_network",
    "title": "Recurrent network",
    "strengths": (
        "Takes sequences of any length with the same few weights.",
        "What was seen long ago can still count.",
    ),
    "weaknesses": (
        "Steps cannot be computed side by side, so long sequences are slow.",
        "Gradients vanish or explode over many steps.",
    ),
    "assumptions": ("What a step means is the same wherever it is in a sequence.",),
    "cost": "sequences times steps times the square of the width, times the epochs",
    "source": "N77-N85",
    "takes": frozenset({"sequence"}),
    "wide": True,
}


class RecurrentNetwork(SequenceInputs):
    """A network with a state that goes along a sequence."""

    def _check_params(self) -> None:
        super()._check_params()
        if self.pattern == "output" and (
            self.cell != "vanilla" or self.layers > 1 or self.bidirectional
        ):
            raise ParameterError(
                f"{type(self).__name__}: pattern='output' passes on outputs, not states; it goes "
                "with cell='vanilla', layers=1 and bidirectional=False."
            )

    def _by_step(self, work: "NetworkWork") -> bool:
        """Return whether there is a response for every step."""
        y = work.rows.y
        return bool(self.pattern != "last" and y.ndim == 2 and y.shape[1] > 1)

    def _describe(self, work: "NetworkWork", setting: Mapping[str, Any]) -> dict[str, Any]:
        by_step, n_outputs = self._by_step(work), self._n_outputs(work)
        if by_step:
            steps = work.resident.inputs[0].shape[1]
            if n_outputs != steps or not bool((work.resident.inputs[1] == steps).all()):
                raise InputError(
                    f"y has {n_outputs} columns and the sequences of X have up to {steps} steps; "
                    f"with pattern={self.pattern!r} give a response for every step of sequences of "
                    "one length, or use pattern='last'."
                )
            n_outputs = 1
        return {
            "kind": "recurrent",
            "n_inputs": int(self.n_channels_),
            "width": int(self.width),
            "n_outputs": n_outputs,
            "cell": self.cell,
            "pattern": self.pattern,
            "layers": int(self.layers),
            "bidirectional": bool(self.bidirectional),
            "keep": 1.0 - float(self.drop),
            "by_step": by_step,
        }

    @staticmethod
    def _build(description: Mapping[str, Any]) -> Any:
        from bottega.neural._modules.recurrent import sequence_network

        return sequence_network(description)

    def step_outputs(self, X: Any) -> FloatArray:
        """Return the outputs at each step, of shape (n, steps, outputs).

        They are in the units of the training: logits of classes, numbers in standard units. Steps
        behind the end of a sequence are filled up.
        """
        from bottega.neural._network.work import tensors

        rows = self._check_new(X)
        if self.pattern == "last":
            raise InputError(
                "With pattern='last' there is one output after the last step; use 'every'."
            )
        module = self._module()
        p = next(module.parameters())
        found = module.step_outputs(*tensors(self._arrays(rows, self.inputs_), p.device, p.dtype))
        return found.detach().double().cpu().numpy()
