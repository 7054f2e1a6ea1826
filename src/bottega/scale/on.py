"""Where fits run: a block inside which other processes, or a cluster, do the work."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bottega.core.engine import working_on
from bottega.core.errors import EngineError, ParameterError, require
from bottega.core.parallel import threads_of

__all__ = ["on"]

_PATIENCE = "10s"  # that a scheduler has to answer


@contextmanager
def on(where: Any, *, workers: int | None = None, security: Any = None) -> Iterator[None]:
    """Run fits, comparisons, folds and forests inside the block somewhere else.

    Parameters
    ----------
    where : str, distributed.Client or cluster of Dask
        The address of a Dask scheduler (``"tcp://host:8786"``, ``"tls://host:8786"``), a client of
        one, or a cluster; ``"processes"`` for processes of this machine; ``"memory"`` for this
        process, which is what happens outside any block.
    workers : int, optional
        Number of processes, for ``"processes"``; one per core by default.
    security : distributed.Security, optional
        Certificates for the address of a scheduler that wants them; passed on as it is. A client
        and a cluster have their own.

    Notes
    -----
    ``fit`` and ``fit_chunks`` of a source give each part of the rows to a worker. It reads a file
    in the first pass without keeping it, and keeps the rows if there is a second, unless all rows
    are one part (a long CSV file, a database); statistics are merged as a tree. Predictions of
    files (`predict_to`) are made in this process. Of rows in memory `compare`, `nested_cv`,
    cross-validated paths, forests, bagging and permutation importance send their folds and trees.
    The numbers are those of one process, up to the order of sums. Every task has one core; what a
    lost worker held is computed again. The cluster is the user's: it is neither started nor closed
    here, and must have the same version of bottega and be able to read the same files.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega import scale
    >>> from bottega.linear import Ridge
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> with scale.on("memory"):
    ...     model = Ridge(alpha=1.0).fit(scale.source(X, X[:, 0]))
    >>> model.coef_.round(2).tolist()
    [0.99, 0.0, 0.0]
    """
    if isinstance(where, str) and where == "memory":
        with working_on(None):
            yield
        return
    require("cloudpickle", "scale")
    if isinstance(where, str) and where == "processes":
        from bottega.scale._engines.processes import ProcessEngine

        engine: Any = ProcessEngine(threads_of(workers))
        client = None
    else:
        from bottega.scale._engines.cluster import DaskEngine

        client, own = _client_of(where, security)
        engine = DaskEngine(client)
        client = client if own else None
    try:
        with working_on(engine):
            yield
    finally:
        engine.close()
        if client is not None:
            client.close()


def _client_of(where: Any, security: Any) -> tuple[Any, bool]:
    """Return a client of a scheduler, and whether it was made here."""
    distributed = require("distributed", "scale")
    if isinstance(where, distributed.Client):
        if where.asynchronous or where.status != "running":
            raise EngineError(
                f"The client is {where.status}{', and asynchronous' * where.asynchronous}; give "
                "one that is connected and synchronous, or the address of the scheduler."
            )
        return where, False
    address = getattr(where, "scheduler_address", where)
    security = getattr(where, "security", None) if security is None else security
    if not isinstance(address, str) or not address:
        raise ParameterError(
            "Give the address of a Dask scheduler, a client, 'processes' or 'memory', not "
            f"{where!r}."
        )
    if "://" not in address and ":" not in address:
        raise ParameterError(
            f"{address!r} is no place to work: give the address of a Dask scheduler, such as "
            "'tcp://host:8786', 'processes' or 'memory'."
        )
    if address.startswith("tls://") and not _has_certificates(security):
        raise EngineError(
            f"The scheduler at {address!r} wants certificates: give security=distributed.Security("
            "tls_ca_file=..., tls_client_cert=..., tls_client_key=...), or name them in Dask's "
            "configuration."
        )
    options = {} if security is None else {"security": security}
    try:
        found = distributed.Client(address, timeout=_PATIENCE, set_as_default=False, **options)
    except (OSError, TimeoutError, ValueError) as error:
        raise EngineError(
            f"No Dask scheduler answers at {address!r}: {error}. Start one (dask scheduler, dask "
            "worker), or check the address."
        ) from error
    return found, True


def _has_certificates(security: Any) -> bool:
    """Return True if there are certificates, given here or in Dask's configuration."""
    given = require("distributed", "scale").Security() if security is None else security
    if not hasattr(given, "get_connection_args"):
        return True  # in another form, which Dask knows or refuses
    return given.get_connection_args("client").get("ssl_context") is not None
