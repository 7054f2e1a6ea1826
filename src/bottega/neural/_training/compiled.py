"""A module made faster by PyTorch's compiler."""

import torch

from bottega.core.errors import ParameterError

__all__ = ["CompiledForward"]


class CompiledForward:
    """What a module computes, compiled at the first call; it shares the module's parameters."""

    def __init__(self, module: torch.nn.Module) -> None:
        self._compiled = torch.compile(module)

    def __call__(self, *inputs: torch.Tensor) -> torch.Tensor:
        """Return the outputs, or say that the compiler does not work here."""
        try:
            found: torch.Tensor = self._compiled(*inputs)
        except Exception as error:
            if not type(error).__module__.startswith(("torch._dynamo", "torch._inductor")):
                raise
            raise ParameterError(
                f"compile=True: PyTorch cannot compile this module here "
                f"({str(error).splitlines()[0]}); install a C++ compiler, or give compile=False."
            ) from error
        return found
