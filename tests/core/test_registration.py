"""What registers or documents itself: stored parts, twins' docstrings, discovery, progress."""

from concurrent.futures import ThreadPoolExecutor

from bottega.core import progress
from bottega.core.documents import documented_like
from bottega.core.parallel import in_threads
from bottega.core.stored import stored, stored_types


def test_parts_are_stored_by_their_full_name():
    @stored
    class Part:
        pass

    assert f"{__name__}.{Part.__qualname__}" in stored_types()
    assert "bottega.core.path.Path" in stored_types()


class _First:
    """One.

    Parameters
    ----------
    a : int
        The first.
    b : {"x", "y"}
        The second,
        on two lines.

    Attributes
    ----------
    a_ : int
        Learnt.
    classes_ : ndarray
        Only here.

    Notes
    -----
    Long.
    """

    def __init__(self, a, b): ...


def test_a_twin_is_documented_by_what_it_shares_and_what_is_its_own():
    @documented_like(_First, without=("classes_",))
    class Second:
        """Two.

        Parameters
        ----------
        c : float
            Its own.

        Attributes
        ----------
        c_ : float
            Learnt too.

        Examples
        --------
        Nothing.
        """

        def __init__(self, b, c): ...

    assert Second.__doc__.split("\n") == [
        "Two.",
        "",
        "Parameters",
        "----------",
        'b : {"x", "y"}',
        "    The second,",
        "    on two lines.",
        "c : float",
        "    Its own.",
        "",
        "Attributes",
        "----------",
        "a_ : int",
        "    Learnt.",
        "c_ : float",
        "    Learnt too.",
        "",
        "Examples",
        "--------",
        "Nothing.",
    ]


def test_two_jobs_in_one_process_do_not_hear_each_other():
    def job(name):
        heard = []
        with progress.listen(heard.append):
            in_threads(lambda i: progress.report(name, i, 3), [1, 2, 3])
        return {event.stage for event in heard if event.stage}

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(job, ["left", "right"])) == [{"left"}, {"right"}]
