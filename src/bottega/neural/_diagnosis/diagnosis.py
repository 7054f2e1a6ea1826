"""What is wrong with a network, in a table and in sentences with remedies."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bottega.core.tables import Section, Summary

if TYPE_CHECKING:
    from bottega.neural._diagnosis.layers import LayerLook

__all__ = ["NetworkDiagnosis", "OneBatchCheck"]

_MANY = 0.5  # a share of units, or of rows, that is a fault
_UNEVEN = 1e3  # ratio of gradients of two layers that is a fault
_SHRUNK = 1e-3  # standard deviation of activations that carry nothing
_LEARNT = 0.05  # of the first loss, that may be left of one batch


@dataclass(frozen=True, repr=False)
class NetworkDiagnosis:
    """The layers of a network as rows pass through them, and what that says.

    Attributes
    ----------
    layers : tuple of LayerLook
        One per layer with weights.
    findings : tuple of str
        Faults with their remedies; none where nothing was found.
    """

    layers: tuple["LayerLook", ...]
    findings: tuple[str, ...]

    @classmethod
    def of(cls, layers: list["LayerLook"]) -> "NetworkDiagnosis":
        """Return what the layers say."""
        found = [sentence for layer in layers for sentence in _faults(layer)]
        hidden = [layer for layer in layers[:-1] if layer.gradient > 0]
        if len(layers) > 1 and layers[0].gradient == 0:
            found.append(
                "No gradient reaches the first layer: it does not learn. Use init='he', "
                "activation='leaky_relu', or fewer layers."
            )
        elif hidden and layers[-1].gradient > _UNEVEN * hidden[0].gradient:
            found.append(
                f"The gradient of the first layer is {hidden[0].gradient:.1e}, that of the last "
                f"{layers[-1].gradient:.1e}: it vanishes on its way. Use activation='relu', "
                "init='xavier' or 'he', or batch_norm=True."
            )
        elif hidden and hidden[0].gradient > _UNEVEN * layers[-1].gradient > 0:
            found.append(
                f"The gradient of the first layer is {hidden[0].gradient:.1e}, that of the last "
                f"{layers[-1].gradient:.1e}: it explodes on its way. Give clip=1.0, or a smaller "
                "init_scale."
            )
        return cls(tuple(layers), tuple(found))

    @property
    def healthy(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def summary(self) -> Summary:
        """Return the table of layers, with the findings below it."""
        names = ("name", "activation", "units", "mean", "sd", "dead", "saturated")
        columns: dict[str, Any] = {
            name: [getattr(layer, name) for layer in self.layers]
            for name in (*names, "gradient", "weight", "twins")
        }
        notes = self.findings or ("Nothing is wrong with these layers.",)
        return Summary("Layers of the network", (Section("", columns),), notes)

    def __repr__(self) -> str:
        return repr(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().to_html()


def _faults(layer: "LayerLook") -> list[str]:
    found = []
    if layer.dead >= _MANY:
        found.append(
            f"Layer {layer.name}: {layer.dead:.0%} of the units are dead, 0 for every row. Use a "
            "smaller learning_rate_init, or activation='leaky_relu'."
        )
    if layer.saturated >= _MANY:
        found.append(
            f"Layer {layer.name}: {layer.saturated:.0%} of the activations are saturated, where "
            "the slope is next to 0. Standardise the inputs, use init='xavier', or "
            "batch_norm=True."
        )
    if layer.activation and layer.sd < _SHRUNK:
        found.append(
            f"Layer {layer.name}: activations hardly differ between rows (standard deviation "
            f"{layer.sd:.1e}). Use init='xavier' or 'he'."
        )
    if layer.twins > 1:
        found.append(
            f"Layer {layer.name}: {layer.twins} units have the same weights as another, and so "
            "will they learn the same. Start from random weights."
        )
    return found


@dataclass(frozen=True, repr=False)
class OneBatchCheck:
    """Whether a network can learn a few rows by heart: if not, something is broken.

    Attributes
    ----------
    losses : tuple of float
        Mean loss of the rows after each step, without penalties and noise.
    n_rows : int
        Rows of the batch.
    """

    losses: tuple[float, ...]
    n_rows: int

    @property
    def passed(self) -> bool:
        """Whether less than a twentieth of the first loss is left."""
        return self.losses[-1] <= _LEARNT * self.losses[0]

    def summary(self) -> Summary:
        """Return the first and the last loss, and what they say."""
        if self.passed:
            note = "The network learns these rows by heart: model, loss and gradient work."
        else:
            note = (
                "The network does not learn these rows by heart. Look for equal rows with "
                "different responses, inputs that are not standardised, a learning_rate_init too "
                "small or too large, or too few units."
            )
        columns: dict[str, Any] = {
            "rows": [self.n_rows],
            "steps": [len(self.losses) - 1],
            "first loss": [self.losses[0]],
            "last loss": [self.losses[-1]],
        }
        return Summary("One batch by heart", (Section("", columns),), (note,))

    def __repr__(self) -> str:
        return repr(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().to_html()
