"""Images in the forms that people have them in, as rows of pixels."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import is_frame
from bottega.core.params import Integer, Parameter
from bottega.core.sparse import is_sparse
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.neural._network.tables import FARTHEST, center_and_scale

__all__ = ["ImageShape", "PixelScale", "flat_images", "shape_of"]


@dataclass(frozen=True)
class ImageShape(Parameter):
    """Height and width of images, or channels, height and width."""

    def accepts(self, value: Any) -> bool:
        """Return True for two or three whole numbers above zero."""
        return (
            isinstance(value, list | tuple)
            and len(value) in (2, 3)
            and all(Integer(1).accepts(k) for k in value)
        )

    def describe(self) -> str:
        """Return the forms in words."""
        return "(height, width) or (channels, height, width)"

    def schema(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"type": "array", "items": {"type": "integer", "minimum": 1}}

    def parse(self, text: str) -> Any:
        """Read numbers with commas between them."""
        return tuple(int(part) for part in text.strip("()[] ").split(",") if part.strip())


def flat_images(X: Any) -> tuple[Any, tuple[int, int, int] | None]:
    """Return images as rows of pixels, and their (channels, height, width).

    Arrays (n, h, w) and (n, c, h, w), and lists of images, are made flat; a table stays as it is,
    and has no shape.

    Examples
    --------
    >>> rows, shape = flat_images(np.zeros((5, 8, 6)))
    >>> rows.shape, shape
    ((5, 48), (1, 8, 6))
    """
    if is_frame(X) or is_sparse(X) or np.isscalar(X) or X is None:
        return X, None
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1:
        X = list(X)
    if isinstance(X, list | tuple):
        shapes = {np.shape(each) for each in X if isinstance(each, np.ndarray)}
        if len(shapes) > 1:
            some = " and ".join(map(str, sorted(shapes)[:2]))
            raise InputError(
                f"X holds images of different sizes, such as {some}; bring all images to one "
                "height and width first."
            )
    if not isinstance(X, np.ndarray):
        try:
            array = np.asarray(X)
        except ValueError:
            return X, None  # ragged: told where it is read
        if array.ndim < 3:
            return X, None
        X = array
    if X.ndim > 4:
        raise InputError(
            f"X has shape {X.shape}; images come as (n, height, width) or (n, channels, height, "
            "width)."
        )
    if X.ndim < 3:
        return X, None
    if 0 in X.shape:
        raise InputError(f"X has shape {X.shape}; give at least one image, of at least one pixel.")
    shape = (1, *X.shape[1:]) if X.ndim == 3 else X.shape[1:]
    return X.reshape(len(X), -1), tuple(int(k) for k in shape)  # type: ignore[return-value]


def shape_of(owner: str, p: int, given: Any, found: Any) -> tuple[int, int, int]:
    """Return (channels, height, width) of images of p pixels.

    By the parameter that was `given`, else as they were `found`; a row of a table is an image of
    one line.
    """
    if given is None and found is not None and found[0] > 4 and found[2] in (1, 3, 4):
        raise InputError(
            f"X has images of {found}, which looks like (height, width, channels); channels come "
            "first: give np.moveaxis(X, -1, 1), or image_shape if it is meant so."
        )
    if given is None:
        return (1, 1, p) if found is None else found
    shape = tuple(int(k) for k in (given if len(given) == 3 else (1, *given)))
    if found is not None and found != shape:
        raise ParameterError(
            f"{owner}: image_shape={tuple(given)} and X has images of {found} (channels, height, "
            "width); leave image_shape out."
        )
    if int(np.prod(shape)) != p:
        raise ParameterError(
            f"{owner}: image_shape={tuple(given)} has {int(np.prod(shape))} pixels and the rows of "
            f"X have {p}; give the shape of the images."
        )
    return shape  # type: ignore[return-value]


@stored
@dataclass(frozen=True)
class PixelScale:
    """What brings pixels into standard units: one mean and one deviation for all of an image."""

    center: float
    scale: float

    @classmethod
    def of(cls, X: FloatArray, weight: FloatArray | None) -> "PixelScale":
        """Learn from rows of pixels."""
        each = None if weight is None else np.repeat(weight, X.shape[1])
        center, scale, _ = center_and_scale(X.reshape(-1, 1), each)
        return cls(float(center[0]), float(scale[0]))

    def inward(self, X: FloatArray) -> FloatArray:
        """Return pixels in standard units; beyond a million of them as a million."""
        return np.clip((X - self.center) / self.scale, -FARTHEST, FARTHEST)

    def outward(self, Z: FloatArray) -> FloatArray:
        """Return pixels in their own units."""
        return np.asarray(Z * self.scale + self.center)
