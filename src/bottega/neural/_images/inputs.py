"""Networks whose inputs are images."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.rows import Rows
from bottega.core.typing import Array
from bottega.neural._images.reading import PixelScale, flat_images, shape_of
from bottega.neural._network.shaped_network import ShapedNetwork

__all__ = ["ImageInputs"]


class ImageInputs(ShapedNetwork):
    """Reads images of any form as rows of pixels, in standard units."""

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        flat, found = flat_images(X)
        rows, y = super()._check_rows(flat, y)
        self.image_shape_ = shape_of(type(self).__name__, rows.shape[1], self.image_shape, found)
        return rows, y

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        flat, found = flat_images(X)
        if found is not None and found != self.image_shape_:
            raise InputError(
                f"X has images of {found} (channels, height, width) and the network was fitted on "
                f"{self.image_shape_}; bring them to this size."
            )
        return super()._check_new(flat)

    def _learn_inputs(self, rows: Rows) -> PixelScale:
        return PixelScale.of(rows.X, rows.weight)

    def _arrays(self, X: Any, learned: PixelScale) -> tuple[Array, ...]:
        return (np.asarray(learned.inward(X), dtype=np.float64),)
