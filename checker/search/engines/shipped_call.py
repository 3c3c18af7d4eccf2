"""First call on an executor, before our packages can be imported there.

Pickled by value, so nothing here may refer to another module of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any


def unpack(archive: str | None, places: list[str], packed: bytes) -> Any:
    """A function of ours, its modules found in the archive that the executor was sent.

    Other modules are looked for in `places` too, but there last.
    """
    import sys  # noqa: PLC0415 - pickled by value: every name must be found on the executor

    from pyspark import SparkFiles  # noqa: PLC0415
    from pyspark.serializers import CloudPickleSerializer  # noqa: PLC0415

    if archive is not None and (path := SparkFiles.get(archive)) not in sys.path:
        sys.path.insert(0, path)
    sys.path += [place for place in places if place not in sys.path]
    return CloudPickleSerializer().loads(packed)  # type: ignore[no-untyped-call]


class ShippedCall:
    """A function of ours in its packed form: of a partition's items, or its number and these."""

    def __init__(self, archive: str | None, places: list[str], packed: bytes) -> None:
        self.archive = archive
        self.places = places
        self.packed = packed

    def __call__(self, *given: Any) -> Any:
        """Find the function and call it."""
        return unpack(self.archive, self.places, self.packed)(*given)


SHARE_SCHEMA = "share long, found binary"
"""The columns of a data frame's stage: the number of a share, and its packed results."""


def over_shares(call: Callable[..., Any], given: Sequence[bytes]) -> Callable[..., Any]:
    """`call` as a function of Arrow's batches, whose rows are numbers of shares of `given`."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa  # noqa: PLC0415 - pickled by value: every name must be found there
        from pyspark.serializers import CPickleSerializer  # noqa: PLC0415

        packing: Any = CPickleSerializer()
        # Spark keeps a worker only if its task has read all its input.
        shares = [share for batch in batches for share in batch.column(0).to_pylist()]
        for share in shares:
            found = packing.dumps(list(call(iter(packing.loads(given[share])))))
            columns = [pa.array([share], pa.int64()), pa.array([found], pa.binary())]
            yield pa.RecordBatch.from_arrays(columns, names=["share", "found"])

    return run


def itself(value: Any) -> Any:
    """The value."""
    return value


def values(pairs: Iterator[tuple[int, Any]]) -> Iterator[Any]:
    """The second of each pair."""
    return (value for _, value in pairs)


class Probe:
    """Probe of an executor: host, Python, processor, versions of these libraries."""

    def __init__(self, libraries: tuple[str, ...]) -> None:
        self.libraries = libraries

    def __call__(self, items: Iterator[Any]) -> Iterator[Any]:
        """Yield one answer, whatever the items."""
        list(items)  # Spark keeps a worker only if its task has read all its input.
        import importlib.metadata  # noqa: PLC0415
        import platform  # noqa: PLC0415
        import sys  # noqa: PLC0415

        versions: list[str | None] = []
        for name in self.libraries:
            try:
                versions.append(importlib.metadata.version(name))
            except importlib.metadata.PackageNotFoundError:
                versions.append(None)
        yield platform.node(), list(sys.version_info[:2]), platform.machine(), versions
