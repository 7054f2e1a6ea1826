"""Properties that are kept, in threads."""

from threading import Barrier, Thread

from bottega.core.lazy import cached_property


def test_threads_compute_the_property_of_different_objects_side_by_side():
    together = Barrier(2, timeout=20)

    class Fit:
        @cached_property
        def surface(self):
            together.wait()  # only returns if the other object is being computed as well
            return object()

    fits = [Fit(), Fit()]
    threads = [Thread(target=lambda fit=fit: fit.surface) for fit in fits]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not together.broken
    assert all(fit.surface is fit.surface for fit in fits)
