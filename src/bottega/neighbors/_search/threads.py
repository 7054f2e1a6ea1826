"""When a search is spread over the cores."""

import threading
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

# Pairs of rows from which brute force is spread over the cores (measured).
_PAIRS_TO_SPREAD = 50_000_000


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def search_threads(pairs: int) -> Any:
    """Return a context that lets brute force spread over the cores where that pays.

    Work too small is slower on several threads than on one, and a search inside a worker thread
    has others beside it that want the cores.
    """
    alone = threading.current_thread() is threading.main_thread()
    spread = alone and pairs >= _PAIRS_TO_SPREAD
    return _controller().limit(limits=None if spread else 1, user_api="openmp")
