"""Changes of images in training, and which of them leave a label right."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bottega.core.params import Parameter

__all__ = ["AUGMENTATIONS", "Augmentation"]

#: Changes of images in training, and where the label of the changed image is still right.
AUGMENTATIONS: Mapping[str, str] = {
    "shift": "safe where the place in the image says nothing, as for most objects",
    "rotate": "by at most 12 degrees: safe for digits and letters",
    "scale": "by at most 12 %: safe unless size is what is asked for",
    "brightness": "safe unless brightness is what is asked for",
    "flip": "not safe for digits, letters, road signs or sides of a body: a b becomes a d",
    "turn": "by 180 degrees: not safe for digits, a 6 becomes a 9; safe seen from above",
}


@dataclass(frozen=True)
class Augmentation(Parameter):
    """Changes of images: a sequence of words."""

    def accepts(self, value: Any) -> bool:
        """Return True for a sequence of known changes."""
        return isinstance(value, list | tuple) and all(
            isinstance(each, str) and each in AUGMENTATIONS for each in value
        )

    def describe(self) -> str:
        """Return the changes."""
        return f"a sequence of {', '.join(map(repr, AUGMENTATIONS))}"

    def schema(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"type": "array", "items": {"type": "string", "enum": list(AUGMENTATIONS)}}

    def parse(self, text: str) -> Any:
        """Read words with commas between them."""
        return tuple(part.strip() for part in text.split(",") if part.strip())
