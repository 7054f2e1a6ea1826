"""Changed copies of images in training: other images with the same label, if it is safe."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812

from bottega.neural._modules.random_layers import RandomLayer

__all__ = ["AUGMENTATIONS", "ChangedImages"]

AUGMENTATIONS = ("shift", "rotate", "scale", "brightness", "flip", "turn")
_DEGREES, _SCALE, _BRIGHTNESS = 12.0, 0.12, 0.2


class ChangedImages(RandomLayer):
    """Each image of a batch is changed at random, anew in every epoch; none in prediction.

    Parameters
    ----------
    kinds : sequence of str
        ``"shift"`` by at most one pixel in eight, ``"rotate"`` by at most 12 degrees, ``"scale"``
        by at most 12 %, ``"brightness"`` by a factor between 0.8 and 1.2, ``"flip"`` left and
        right, ``"turn"`` by 180 degrees. Places that come from outside the image are filled with
        the image's border.
    """

    def __init__(self, kinds: Sequence[str]) -> None:
        super().__init__()
        self.kinds = tuple(kinds)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return changed copies of images (n, c, h, w)."""
        if not self.training or not self.kinds:
            return x
        x = self._moved(x)
        if "flip" in self.kinds:
            x = torch.where(self._coin(x), x.flip(-1), x)
        if "turn" in self.kinds:
            x = torch.where(self._coin(x), x.flip(-1, -2), x)
        if "brightness" in self.kinds:
            x = x * (1 + _BRIGHTNESS * self._even(x, 1)[:, :, None, None])
        return x

    def _even(self, x: torch.Tensor, columns: int) -> torch.Tensor:
        """Return draws between -1 and 1, some for each image."""
        shape = (len(x), columns)
        drawn = torch.empty(shape, device=x.device, dtype=x.dtype)
        return drawn.uniform_(-1, 1, generator=self.generator)

    def _coin(self, x: torch.Tensor) -> torch.Tensor:
        return self._even(x, 1)[:, :, None, None] > 0

    def _moved(self, x: torch.Tensor) -> torch.Tensor:
        """Return images turned, scaled and shifted at once, by bilinear interpolation."""
        if not {"shift", "rotate", "scale"} & set(self.kinds):
            return x
        n, _, height, width = x.shape
        angle = torch.zeros(n, device=x.device, dtype=x.dtype)
        factor, move = torch.ones_like(angle), torch.zeros((n, 2), device=x.device, dtype=x.dtype)
        if "rotate" in self.kinds:
            angle = torch.deg2rad(_DEGREES * self._even(x, 1)[:, 0])
        if "scale" in self.kinds:
            factor = 1 + _SCALE * self._even(x, 1)[:, 0]
        if "shift" in self.kinds:  # coordinates run from -1 to 1
            move = 0.25 * self._even(x, 2)
        cos, sin, ratio = angle.cos() * factor, angle.sin() * factor, height / width
        rows = torch.stack([cos, -sin * ratio, move[:, 0], sin / ratio, cos, move[:, 1]], 1)
        grid = F.affine_grid(rows.view(n, 2, 3), list(x.shape), align_corners=False)
        return F.grid_sample(x, grid, padding_mode="border", align_corners=False)
