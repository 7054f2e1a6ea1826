"""Parts of rows elsewhere: read once for one pass, kept for several."""

import gc
import weakref

import pytest

from bottega.core.chunks import CheckedChunks
from bottega.core.errors import InputError
from bottega.core.parts import RowSource
from bottega.core.row_parts import RowParts, share_chunks


class Log:
    """What was read and kept, in the order of the calls."""

    def __init__(self):
        self.calls = []


class Parts:
    """Parts that this process passes over at once."""

    def __init__(self, parts, log):
        self.parts, self.log = parts, log

    def map(self, function, each=None):
        more = [()] * len(self.parts) if each is None else [(one,) for one in each]
        return [function(part, *one) for part, one in zip(self.parts, more, strict=True)]

    def reduce(self, function, each=None):
        return sum(self.map(function, each))

    def keep(self, function):
        self.log.calls.append("keep")
        return Parts([list(function(part)) for part in self.parts], self.log)


class Engine:
    def __init__(self, log):
        self.log = log

    def share_out(self, parts):
        return Parts(parts, self.log)


class Rows(RowSource):
    """Two parts of numbers, which tell when they are read."""

    def __init__(self, numbers, log, in_files):
        self.numbers, self.log, self.in_files = numbers, log, in_files

    def __iter__(self):
        self.log.calls.append("read")
        yield from self.numbers

    def responses(self):
        self.log.calls.append("responses")
        yield from self.numbers

    def parts(self):
        middle = len(self.numbers) // 2
        some = self.numbers[:middle], self.numbers[middle:]
        return [Rows(numbers, self.log, self.in_files) for numbers in some]


@pytest.fixture
def log():
    return Log()


def shared(log, in_files):
    return share_chunks(Engine(log), Rows([1, 2, 3, 4], log, in_files)).then(_doubled)


def _doubled(rows):
    return (2 * row for row in rows)


def test_files_are_kept_from_the_second_pass_on(log):
    rows = shared(log, in_files=True)
    assert rows.reduce(sum) == 20
    assert log.calls == ["read", "read"]
    assert rows.map(sum) == [6, 14]
    assert log.calls == ["read", "read", "keep", "read", "read"]
    assert rows.map(lambda part, more: sum(part) + more, [100, 200]) == [106, 214]
    assert len(log.calls) == 5


def test_what_is_not_in_files_is_kept_at_once(log):
    rows = shared(log, in_files=False)
    assert [rows.reduce(sum), rows.reduce(sum)] == [20, 20]
    assert log.calls == ["keep", "read", "read"]
    log.calls.clear()
    sent = share_chunks(Engine(log), [1, 2, 3])  # they do not know their parts
    assert sent.map(list) == [[1], [2], [3]]
    assert log.calls == ["keep"]


def test_rows_that_will_be_passed_over_again_are_kept(log):
    rows = shared(log, in_files=True)
    rows.keep()
    assert [rows.reduce(sum), rows.then(_doubled).reduce(sum)] == [20, 40]
    assert log.calls.count("read") == 2


def test_a_glance_is_no_pass(log):
    def of_responses(part):
        return sum(part.responses() if isinstance(part, Rows) else part)

    rows = share_chunks(Engine(log), Rows([1, 2, 3, 4], log, in_files=True))
    assert rows.glance(of_responses) == [3, 7]
    assert rows.then(_doubled).reduce(sum) == 20
    assert log.calls == ["responses", "responses", "read", "read"]
    log.calls.clear()
    made = share_chunks(Engine(log), Rows([1, 2, 3, 4], log, in_files=False))
    assert made.glance(of_responses) == [3, 7]
    assert made.then(_doubled).reduce(sum) == 20
    assert log.calls.count("read") == 2  # what is kept is not made again


def test_a_part_that_cannot_be_read(log):
    class Broken(Rows):
        def parts(self):
            return [self]

        def __iter__(self):
            yield 1
            raise OSError("the disk is gone")

    rows = share_chunks(Engine(log), Broken([1], log, in_files=True))
    with pytest.raises(InputError, match="A part of the rows cannot be read: the disk is gone"):
        rows.reduce(sum)


def test_kept_rows_go_with_the_checked_chunks(log):
    """A cluster frees what it keeps when the last reference goes, not when the garbage does."""
    parts = share_chunks(Engine(log), [[[1.0]], [[2.0]]])
    checked = CheckedChunks([], 1, 0, held=parts)
    held = weakref.ref(checked._held)
    assert isinstance(held(), RowParts)
    gc.disable()
    try:
        del checked
        assert held() is None
    finally:
        gc.enable()
