"""References of kerchunk: where the stored bytes of a file are, for readers of Zarr."""

from __future__ import annotations

import errno
import json
import os
import warnings
from pathlib import Path
from typing import Any

from . import _tetfile
from ._errors import UnsupportedError, UsageError
from ._file import File

# References in a file of the Parquet form, as kerchunk has it.
_RECORDS = 10_000


def document(file: File, path: str | os.PathLike[str] | None, format: str, asked: dict[str, Any]) -> dict[str, Any]:
    """References of version 1, which are also written to a path.

    Raises:
        UnsupportedError: A dataset cannot be read in place, or has clipped chunks.
        FileExistsError: The path exists, and is not to be replaced.
    """
    if format not in ("json", "parquet"):
        raise ValueError(f"format={format!r} is not one of json, parquet")
    if asked["edges"] == "sidecar" and (path is None or format != "json"):
        raise UsageError("edges='sidecar' writes a file beside a JSON document: give its path", path=file.path)
    if format == "parquet" and asked["zarr_format"] != 2:
        raise UnsupportedError("fsspec reads references in Parquet with metadata of Zarr 2 alone", path=file.path)
    target = Path(path) if path is not None and format == "parquet" else None
    if target is not None and target.exists() and not asked["overwrite"]:
        raise FileExistsError(errno.EEXIST, "File exists", str(target))
    try:
        output = path if target is None else None
        found: dict[str, Any] = json.loads(_tetfile.references(file._core, file.path, output, asked))
    except UnsupportedError as error:
        error.path = file.path
        error.add_note("exclude=[...] leaves datasets out, a larger inline copies them, edges='inline' fills chunks at edges")
        raise
    if target is not None:
        _write_parquet(found, target)
    return found


def _write_parquet(references: dict[str, Any], target: Path) -> None:
    try:
        import fastparquet  # type: ignore[import-not-found, import-untyped, unused-ignore]  # noqa: F401
        from kerchunk.df import refs_to_dataframe  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        raise ImportError(
            "references in Parquet need kerchunk and fastparquet: pip install kerchunk fastparquet"
        ) from error
    groups = [key.removesuffix("/.zgroup") for key in references["refs"] if key.endswith("/.zgroup")]
    arrays = [key for key in references["refs"] if key.endswith("/.zarray")]
    if any(array.startswith(f"{group}/") for group in groups for array in arrays):
        raise UnsupportedError(
            "fsspec cannot read references to groups in Parquet: write format='json', or include datasets of no group"
        )
    if groups:
        warnings.warn(f"references in Parquet have no groups: attributes of {', '.join(groups)} are left out", stacklevel=4)
    # What makes the folder removes one that is there.
    if target.exists() and not (target / ".zmetadata").is_file():
        raise FileExistsError(errno.EEXIST, "File exists and is no folder of references", str(target))
    # It consolidates metadata itself.
    left_out = {".zmetadata", *(f"{group}/{name}" for group in groups for name in (".zgroup", ".zattrs"))}
    refs = {key: value for key, value in references["refs"].items() if key not in left_out}
    refs_to_dataframe(references | {"refs": refs}, str(target.resolve()), record_size=_RECORDS)
