"""Training: the loop, and each of its parts in a file of its own.

The modules here and in `_modules` import PyTorch; estimators import them inside calls, after
`bottega.core.devices.torch_on` has looked for it.
"""
