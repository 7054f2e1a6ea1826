"""Independent tasks side by side in threads, without fighting for cores.

The kernels and BLAS release the GIL, so threads do the work of processes without copying the data
or importing everything again. Each thread's linear algebra keeps to its share of the cores. Work
inside a task that asks for threads of its own runs in that task's thread: the cores are taken.
Inside `bottega.scale.on` the threads only wait for other processes, to which tasks that share
nothing but what they read are sent (`bottega.core.engine`).
"""

import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar, copy_context
from functools import partial
from itertools import chain, islice
from queue import Empty, Full, Queue, SimpleQueue
from typing import Any, TypeVar

from bottega.core import interruption, progress
from bottega.core.engine import current_engine, sent
from bottega.core.errors import ParameterError
from bottega.core.threads import libraries_in, linear_algebra_in

__all__ = [
    "answers_in_turn",
    "at_most",
    "available_cores",
    "in_threads",
    "made_ahead",
    "one_core",
    "run_tasks",
    "spare_threads",
    "threads_of",
]

Key = TypeVar("Key")
Answer = TypeVar("Answer")

_AHEAD = 2  # tasks per worker of an engine that are on their way at once; items that are made ahead
_WHILE = 0.1  # seconds after which a thread looks whether it is still wanted
_LOOK = 0.5  # seconds after which a waiting thread looks whether it was interrupted

_thread = threading.local()
_allowed: ContextVar[int | None] = ContextVar("allowed", default=None)


def _mark_busy() -> None:
    _thread.busy = True


@contextmanager
def one_core() -> Iterator[None]:
    """Run what is inside as a task: its cores are taken, so that it starts no threads."""
    before = getattr(_thread, "busy", False)
    _mark_busy()
    try:
        yield
    finally:
        _thread.busy = before


def available_cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def threads_of(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` means: None or -1 all cores, -2 all but one, and so on."""
    cores = available_cores()
    if n_jobs is None:
        return cores
    if n_jobs == 0:
        raise ParameterError("n_jobs=0 is not allowed; use a number of threads, or -1 for all.")
    return n_jobs if n_jobs > 0 else max(cores + 1 + n_jobs, 1)


def spare_threads(n_jobs: int | None = None) -> int:
    """Return how many threads there are for work that starts here: inside a task only its own."""
    if getattr(_thread, "busy", False):
        return 1
    return threads_of(_allowed.get() if n_jobs is None else n_jobs)


@contextmanager
def at_most(n_jobs: int | None) -> Iterator[None]:
    """Keep what runs inside, linear algebra too, to a number of threads; None changes nothing."""
    if n_jobs is None:
        yield
        return
    threads = threads_of(n_jobs)
    outside = _allowed.set(threads)
    try:
        with linear_algebra_in(threads):
            yield
    finally:
        _allowed.reset(outside)


def run_tasks(
    tasks: Sequence[tuple[Key, Callable[[], Answer]]],
    *,
    n_jobs: int | None = None,
    stage: str = "",
    deadline: float | None = None,
    leave: bool = False,
    waiting: bool = False,
    detail: Callable[[Key, Answer], Any] | None = None,
) -> tuple[dict[Key, Answer], bool]:
    """Run the tasks, in order of their start, and return their answers and whether all ran.

    Ctrl-C, and the deadline (a time of ``time.perf_counter``), stop handing out tasks, wait for
    those that run, and return what is done: the second part of the answer is then False. With
    `leave` nothing is waited for: a task that runs then goes on in its thread, which does not keep
    the process alive, and its answer is lost. An exception of a task is raised here, when no other
    task runs any more. Progress is reported with what `detail` makes of a task's key and answer.
    Tasks that send their work to an engine (`bottega.core.engine.sent`) are `waiting`: there are
    then as many threads as keep its workers busy.
    """
    if getattr(_thread, "busy", False):  # the cores are taken: in this thread, one by one
        return {key: task() for key, task in tasks}, True
    wanted = spare_threads(n_jobs)
    engine = current_engine() if waiting else None
    if engine is not None:
        wanted = _AHEAD * engine.workers
    threads = min(wanted, max(len(tasks), 1))
    share = min(wanted, available_cores()) // threads  # of linear algebra in each thread
    answers: dict[Key, Answer] = {}
    complete = True
    with libraries_in(max(1, share)), interruption.remembered():
        crew = _Crew(tasks)
        try:
            crew.start(threads)
            for _ in tasks:
                key, answer = crew.next_answer(deadline)
                answers[key] = answer
                told = None if detail is None else detail(key, answer)
                progress.report(stage, len(answers), len(tasks), str(key), told)
        except (Empty, KeyboardInterrupt):
            complete = False
            crew.dismiss()
            if engine is not None:
                engine.cancel()
            interruption.forget()
            if not leave:
                answers.update(crew.last_answers())
        except BaseException:
            crew.dismiss()
            crew.last_answers()  # who catches the exception may use the same arrays again
            raise
    return answers, complete


def _run(context: Context, task: Callable[[], Answer]) -> Answer:
    return context.run(task)


class _Crew:
    """Threads that take tasks one by one, and put their answers into a queue.

    They are daemons: whoever does not want to wait for the task that runs need not.
    """

    def __init__(self, tasks: Sequence[tuple[Any, Callable[[], Any]]]) -> None:
        # Each task carries the context of its caller, so that its progress reaches who listens.
        self._todo: deque[tuple[Any, Callable[[], Any]]] = deque(
            (key, partial(_run, copy_context(), task)) for key, task in tasks
        )
        self._found: SimpleQueue[tuple[Any, Any, BaseException | None]] = SimpleQueue()
        self._threads: list[threading.Thread] = []

    def start(self, threads: int) -> None:
        """Let so many threads begin."""
        for _ in range(threads):
            thread = threading.Thread(target=self._work, daemon=True)
            thread.start()
            self._threads.append(thread)

    def _work(self) -> None:
        _mark_busy()
        while True:
            try:
                key, task = self._todo.popleft()
            except IndexError:
                return
            try:
                self._found.put((key, task(), None))
            except BaseException as error:
                self._found.put((key, None, error))

    def next_answer(self, deadline: float | None) -> tuple[Any, Any]:
        """Wait for the next answer, or raise what the task raised; `Empty` at the deadline."""
        while True:
            interruption.raise_if_pressed()
            left = math.inf if deadline is None else deadline - time.perf_counter()
            try:
                # A signal may reach another thread, which does not wake this one.
                key, answer, error = self._found.get(timeout=max(min(left, _LOOK), 0.0))
            except Empty:
                if left <= _LOOK:
                    raise
                continue
            if error is not None:
                raise error
            return key, answer

    def dismiss(self) -> None:
        """Hand out no further task."""
        self._todo.clear()

    def last_answers(self) -> dict[Any, Any]:
        """Wait for the tasks that run, and return the answers of those that did not fail."""
        for thread in self._threads:
            thread.join()
        answers = {}
        while not self._found.empty():
            key, answer, error = self._found.get()
            if error is None:
                answers[key] = answer
        return answers


def answers_in_turn(
    function: Callable[..., Answer], items: Iterable[Any]
) -> Generator[Answer, None, None]:
    """Yield ``function(item)`` of each item, in order, while later items are worked on.

    The items are made here, one after the other and only a few ahead, so that there may be more of
    them than memory holds.

    Examples
    --------
    >>> list(answers_in_turn(abs, iter([-1, 2, -3])))
    [1, 2, 3]
    """
    threads, maker = spare_threads(), iter(items)
    some = list(islice(maker, 2))
    if threads < 2 or len(some) < 2:  # one item has all the cores
        yield from map(function, chain(some, maker))
        return
    waiting: deque[Future[Answer]] = deque()
    with libraries_in(1), ThreadPoolExecutor(threads, initializer=_mark_busy) as crew:
        try:
            for item in chain(some, maker):
                waiting.append(crew.submit(copy_context().run, function, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for each in waiting:
                each.cancel()


def made_ahead(items: Iterable[Answer]) -> Iterator[Answer]:
    """Yield items that another thread makes, a few ahead of the one that is used.

    Examples
    --------
    >>> list(made_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    if spare_threads() < 2:
        yield from items
        return
    made: Queue[tuple[Any, BaseException | None]] = Queue(_AHEAD)
    wanted = threading.Event()
    wanted.set()

    def put(item: Any, error: BaseException | None) -> None:
        while wanted.is_set():
            with suppress(Full):
                made.put((item, error), timeout=_WHILE)
                return

    def make() -> None:
        _mark_busy()
        maker = iter(items)
        try:
            while wanted.is_set():
                put(next(maker), None)
        except BaseException as error:
            put(None, error)

    try:
        threading.Thread(target=copy_context().run, args=(make,), daemon=True).start()
        while True:
            item, error = made.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield item
    finally:
        # Nothing waits for the thread, which soon ends by itself: Ctrl-C would be lost here, as is
        # all that is raised while a generator that nobody needs any more is closed.
        wanted.clear()
        with suppress(Empty):
            made.get_nowait()


def in_threads(
    function: Callable[[Any], Answer],
    items: Iterable[Any],
    *,
    stage: str = "",
    elsewhere: bool = False,
) -> list[Answer]:
    """Return ``function(item)`` for each item, in order; all of them, or the exception.

    Ctrl-C does not wait for what runs: its answers are not wanted. A function that changes nothing
    may run `elsewhere`, in the processes of an engine.

    Examples
    --------
    >>> in_threads(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    tasks: list[tuple[int, Callable[[], Answer]]] = [
        (i, partial(function, item)) for i, item in enumerate(items)
    ]
    if elsewhere and not getattr(_thread, "busy", False):
        tasks = [(i, partial(sent, task)) for i, task in tasks]
    answers, complete = run_tasks(tasks, stage=stage, leave=True, waiting=elsewhere)
    if not complete:
        raise KeyboardInterrupt
    return [answers[i] for i in range(len(tasks))]
