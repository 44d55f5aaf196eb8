"""Questions about whole files."""

from __future__ import annotations

import json
import operator
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _labels, _ranges, _tetfile
from ._errors import UnsupportedError, UsageError
from ._places import exists, is_url, know_urls, new_place, shown
from ._reductions import Progress
from ._results import Answer, Conversion, Edit, Finding, Plan, Repair, Report, Stats

__all__ = ["convert", "repair", "verify"]


# How many of the things that an output lacks a warning names.
_LOSSES_MAX = 8


def verify(
    path: Any,
    *,
    filesystem: Any = None,
    level: Literal["structure", "checksums", "deep"] = "deep",
    strict: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Report:
    """Checks a file. What is wrong with it is no exception: it is in the report.

    Args:
        path: A file or a folder of any format that is checked, as :func:`open` takes them, or a :class:`File`.
        filesystem: What has it, as for :func:`open`.
        level: ``"structure"`` reads no elements, ``"checksums"`` compares them with the checksums of the file, ``"deep"``
            decodes them too.
        strict: Whether warnings count as errors.
        memory: The most bytes of decoders.
        threads: Threads that read, all processors unless it is given.
        progress: Called with the bytes that are done and the bytes in all, or a bar of tqdm.

    Raises:
        OSError: The system refuses to read it.
        UnsupportedError: The format is not checked.

    >>> report = tetfile.verify("broken.tet")
    >>> report.ok, report.integrity, report.findings[0].dataset
    (False, 'mismatch', 'temp')
    """
    found = _tetfile.verify(_ranges.place(getattr(path, "_source", path), filesystem), level, strict, memory, threads, progress)
    findings = [Finding(**finding) for finding in found.pop("findings")]
    return Report(findings=findings, **found)


def repair(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    dry_run: bool = False,
    overwrite: bool = False,
    copy: str | os.PathLike[str] | None = None,
    trust_copy: bool = False,
    salvage: bool = False,
    fill: int | None = None,
    memory: int | str | None = None,
    progress: Progress = None,
) -> Repair:
    """Repairs a damaged file whose format has checksums, as ``tet repair --all`` does.

    Single flipped bits are restored where a checksum proves them: of ``.tet``, ``.zt``, ``.tgm``, ``.npz`` and ``.pt`` files, of
    chunks of HDF5 and Zarr that have one, and of FITS. The repaired file is complete and checked before it takes its place; of a
    folder each damaged object is replaced. A file without errors is not changed. For what cannot be repaired there is
    ``convert(..., salvage=True)``.

    Args:
        path: The file.
        output: Where the repaired file goes; in place of the damaged one unless it is given.
        dry_run: Whether nothing is written: what would be done is returned.
        overwrite: Whether an output that exists is replaced.
        copy: A copy of a ``.tet`` file, from which chunks are taken that match the checksums of this one.
        trust_copy: Whether chunks of the copy are taken where the file has no checksums.
        salvage: Whether elements of a ``.tet`` file may be lost: lost floats become NaN. Takes an ``output``.
        fill: The value of integers that are lost.
        memory: The most bytes of chunks.
        progress: Called with the bytes that are done and the bytes in all, or a bar of tqdm.

    Raises:
        UnsupportedError: Files of this format are not repaired.
        OSError: The system refuses to read or to write.

    >>> done = tetfile.repair("broken.tet", "repaired.tet")
    >>> done.whole, done.edits[0].action
    (True, 'flip bit 0 back')
    >>> tetfile.verify("repaired.tet").ok
    True
    """
    if salvage and output is None and not dry_run:
        raise UsageError("salvage loses elements: pass an output, so that the damaged file stays")
    asked = {
        "output": None if output is None else os.fspath(output),
        "overwrite": overwrite,
        "dry_run": dry_run,
        "copy": None if copy is None else os.fspath(copy),
        "trust_copy": trust_copy,
        "salvage": salvage,
        "fill": fill,
    }
    found = _tetfile.repair(path, asked, memory, progress)
    edits = [Edit(**edit) for edit in found.pop("edits")]
    remaining = [Finding(**finding) for finding in found.pop("remaining")]
    return Repair(edits=edits, remaining=remaining, **found)


def convert(
    input: Any,
    output: str | os.PathLike[str],
    *,
    filesystem: Any = None,
    concat: str | None = None,
    stack: str | None = None,
    merge: bool = False,
    prefer: Literal["first"] | None = None,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    rename: Mapping[str, str] | None = None,
    overwrite: bool = False,
    dtype: npt.DTypeLike | Mapping[str, npt.DTypeLike] | None = None,
    chunks: Literal["kept", "auto"] | Sequence[int] | Mapping[str, int] = "kept",
    codec: Literal["raw", "zstd", "gzip"] | None = None,
    compression_level: int | None = None,
    stats: bool = True,
    raw_values: bool = False,
    decoded: bool = False,
    digests: Literal["auto", "always", "never"] = "auto",
    strict: bool = False,
    salvage: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> Conversion:
    """Writes the datasets of a file, or of several, to a new file, whose suffix tells the format.

    Every value that is written stays what it is, unless ``dtype`` asks for shorter floats. Packed and masked values go to formats
    whose readers decode them (``.nc``, ``.h5``, ``.zarr``, ``.tet``, ``.zt``, ``.tgm``) as they are stored, with their attributes,
    and to all others decoded: packed ones are scaled, masked ones are NaN. What the format of the output has no
    place for, as most have none for texts, is left out with a warning, and listed in :attr:`Conversion.losses`.

    The output appears complete or not at all.

    Args:
        input: A file or a folder of any format that is read, as :func:`open` takes them, or a :class:`File`; or a list of them,
            with ``concat``, ``stack`` or ``merge``.
        output: Such as ``x.tet``, ``x.nc``, ``x.h5``, ``x.zarr``, ``x.npz``, ``x.safetensors``.
        filesystem: What has the input, as for :func:`open`.
        concat: The axis along which the datasets of the other files follow those of the first; datasets without it are
            the same in all files.
        stack: The new first axis of datasets that all files have, labeled by the names of the files; of one Tensogram file, of
            its objects of one name.
        merge: Whether the datasets of all files are written; one that several have, as a coordinate, is the same in all.
        prefer: With ``merge``: ``"first"`` takes the datasets and attributes of the first file where those of others differ.
        include: Only these datasets: a name, or several.
        exclude: All but these datasets.
        rename: New names of datasets by their old ones: ``{"lat": "latitude", "model.*": "*"}``, where a ``*`` stands for
            any text on both sides. Attributes that name a dataset, and the axis of a coordinate, follow; all other arguments
            have the old names.
        overwrite: Whether an output that exists is replaced.
        dtype: The type that numbers become, of these datasets (``{"temp": "float32"}``), or of all: one of floats for
            datasets of floats, one of integers for those of integers, but not for the coordinates of an axis. Floats
            become the nearest of a shorter type.
        chunks: The chunks that the input has, chunks that fit the array, one extent for each axis, or extents by the names of
            axes (``{"time": 100}``), where other axes keep the extents that chunks have, and so do the coordinates of an axis.
            Extents are refused for an output without chunks.
        codec: How chunks are compressed, where the format has a choice; what the format usually does unless it is given.
        compression_level: The level of the codec.
        stats: Whether a ``.tet`` file gets statistics of its chunks, where they are at most 0.2 % of the payloads.
        raw_values: Whether packed and masked values are written as they are stored to every format.
        decoded: Whether they are decoded in every format; the output has no attributes then that decode them again.
        digests: Which chunks are compared with the checksums of the input, as for :func:`open`.
        strict: Whether it is an error that something is left out; nothing is written then.
        salvage: Whether all that can be read of a damaged file is written, with a warning for all that is lost: elements that
            cannot be read become missing values (``_FillValue`` where the dataset has one, else NaN); datasets that cannot be
            read or stored, and damaged ones without a missing value (integers, texts), are left out.
        memory: The most bytes in flight.
        threads: Threads that read and compress, all processors unless it is given.
        progress: Called with the bytes that are done and the bytes in all, or a bar of tqdm.

    Raises:
        FileExistsError: The output exists, and ``overwrite`` is not set.
        OSError: The system refuses to read or to write.
        DamagedError: The file is damaged.
        UnsupportedError: Datasets are of a type that is not read, or with ``strict`` something would be left out.
        UsageError: The output has no such codec, ``dtype`` does not have the value of an element, or files do not fit together.

    >>> done = tetfile.convert("climate.nc", "small.h5", include=["temp"], codec="gzip")
    >>> tetfile.open("small.h5")["temp"].shape
    (12, 4, 8)
    >>> done = tetfile.convert(["climate.nc", "small.h5"], "both.tet", stack="run", include=["temp"])
    >>> tetfile.open("both.tet")["temp"].sel(run="small").shape
    (12, 4, 8)
    """
    if codec is None and compression_level is not None:
        raise UsageError("compression_level is the level of a codec: give codec too")
    if raw_values and decoded:
        raise UsageError("raw_values and decoded contradict each other: give one of them")
    inputs = [*input] if isinstance(input, (list, tuple)) else [input]
    sources = [_ranges.place(getattr(each, "_source", each), filesystem) for each in inputs]
    dtypes = dtype.items() if isinstance(dtype, Mapping) else [] if dtype is None else [(None, dtype)]
    asked = {
        "include": names_of(include),
        "exclude": names_of(exclude),
        "overwrite": overwrite,
        "dtypes": [(name, _name_of(each)) for name, each in dtypes],
        "chunks": [(None, _chunk_rule(chunks))],
        "codec": codec,
        "level": compression_level,
        "stats": stats,
        "raw_values": bool(raw_values),
        "decoded": bool(decoded),
        "digests": digests,
        "salvage": bool(salvage),
        "renames": [(str(old), str(new)) for old, new in (rename or {}).items()],
        "concat": concat,
        "stack": stack,
        "merge": merge,
        "prefer": prefer,
    }
    know_urls(output)

    def write(output: str | os.PathLike[str]) -> dict[str, Any]:
        return _tetfile.convert(sources, output, asked, memory, threads, progress)

    done = _strictly(write, output, overwrite) if strict else write(output)
    if losses := done["losses"]:
        text = listed(losses, "Conversion.losses")
        warnings.warn(f"{shown(os.fspath(output))} lacks what the input has: {text}", stacklevel=2)
    return Conversion(**done)


def listed(losses: Sequence[str], where: str) -> str:
    """The first things that are left out, and where all of them are."""
    more = f"; and {len(losses) - _LOSSES_MAX} more, in {where}" if len(losses) > _LOSSES_MAX else ""
    return "; ".join(losses[:_LOSSES_MAX]) + more


def names_of(names: str | Iterable[str]) -> list[str]:
    """Names of datasets: one, or several."""
    return [names] if isinstance(names, str) else list(names)


def _name_of(dtype: Any) -> str:
    """The name of a type of elements; one that NumPy does not know is that of the file."""
    try:
        return str(np.dtype(dtype).name)
    except TypeError:
        return str(dtype)


def _chunk_rule(chunks: Any) -> Any:
    """A word, an extent for each axis, or pairs of axes and extents."""
    if isinstance(chunks, Mapping):
        return [(str(axis), operator.index(extent)) for axis, extent in chunks.items()] or "kept"
    if isinstance(chunks, str):
        return chunks
    if not isinstance(chunks, Iterable):
        raise TypeError(f"chunks are one extent for each axis, or extents by axes as {{'time': 100}}, not {chunks!r}")
    return [operator.index(extent) for extent in chunks]


def _strictly(write: Callable[[str], dict[str, Any]], output: str | os.PathLike[str], overwrite: bool) -> dict[str, Any]:
    """Writes beside the output, which takes its place if nothing is left out."""
    where = new_place(output)
    if is_url(where) or os.path.isdir(where):
        raise UsageError(f"strict writes new files and folders of this machine: {shown(where)} is none")
    if not overwrite and exists(where):
        raise FileExistsError(17, "File exists: pass overwrite=True to replace it", where)
    name = os.path.basename(where)
    with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=os.path.dirname(where)) as folder:
        between = os.path.join(folder, name)
        done = write(between)
        if done["losses"]:
            raise UnsupportedError("; ".join(done["losses"]), path=where)
        os.rename(between, where)
    return done


def _json(document: str | Mapping[str, Any]) -> str:
    return document if isinstance(document, str) else json.dumps(document)


def query(file: _tetfile.OpenFile, document: str | Mapping[str, Any], progress: Progress) -> Answer:
    """The answer of a document."""
    found = _tetfile.query(file, _json(document), progress)
    for note in found.pop("notes"):
        warnings.warn(f"{found['dataset']}: {note}", stacklevel=3)
    names = found.pop("dims")
    part = found.pop("part")
    along = found.pop("along", None) or [("axis", axis) for axis in found.pop("kept", [])]
    dims = tuple(_dim(axis, names) for axis in along)
    labels = {dim: _label(axis, part) for dim, axis in zip(dims, along, strict=True)}
    labels = {dim: label for dim, label in labels.items() if label is not None}
    values = found.pop("values", None)
    return Answer(
        op=found.pop("op"),
        dataset=found.pop("dataset"),
        values=values[()] if isinstance(values, np.ndarray) else values,
        dims=dims,
        labels=labels,
        nulls=found.pop("nulls", None),
        count=found.pop("count", None),
        nan_count=found.pop("nan_count", None),
        integrity=found.pop("integrity", None),
        details=found,
    )


def _dim(axis: tuple[Any, ...], names: Sequence[str]) -> str:
    kind = axis[0]
    if kind in ("quantiles", "bins"):
        return str(kind)
    number = axis[1]
    return names[number] if number < len(names) else f"axis_{number}"


def _label(axis: tuple[Any, ...], part: _tetfile.Selected) -> Any:
    """The labels of an axis of a result."""
    kind = axis[0]
    if kind in ("axis", "picks", "variables"):
        known = _labels.along(part, axis[1])
        return known if known is None or kind != "picks" else known[axis[2]]
    if kind == "windows":
        _, _, first, step, size = axis
        return {"first": first, "step": step, "size": size}
    return None if kind == "bins" else axis[-1]


def explain(file: _tetfile.OpenFile, document: str | Mapping[str, Any]) -> Plan:
    """What a document would read."""
    return Plan(**_tetfile.explain(file, _json(document)))


def stats(core: _tetfile.Selected, quartiles: bool, progress: Progress) -> Stats:
    """The summary of a dataset."""
    found, integrity = _tetfile.summary(core, quartiles, progress)
    by_op = {each["op"]: _scalar(each) for each in found}
    quarters = by_op.get("quantile")
    return Stats(
        count=found[0]["count"],
        nan_count=found[0]["nan_count"] or 0,
        inf_count=int(by_op.get("inf_count") or 0),
        min=by_op["min"],
        max=by_op["max"],
        mean=by_op["mean"],
        std=by_op["std"],
        quartiles=None if quarters is None else tuple(quarters),
        integrity=integrity,
    )


def _scalar(found: dict[str, Any]) -> Any:
    nulls = found["nulls"]
    return None if nulls is not None and nulls.all() else found["values"][()]
