"""Files and datasets as text and as tables of HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._dataset import Dataset
    from ._file import File, Group

# Rows of a table, lines of a list.
_ROWS_MAX = 60
# Cells of a picture, and elements that are read for it.
_CELLS_MAX = 24
_PICTURE_MAX = 1 << 20


def dataset(of: Dataset) -> str:
    """One line."""
    try:
        return f"<tetfile.Dataset {_line(of)}>"
    except ValueError as error:
        return f"<tetfile.Dataset: {error}>"


def _line(of: Dataset) -> str:
    whole = of.file.dataset(of._core.key)
    is_whole = of._core.slices == whole._core.slices
    text = f"{of.name}: {of.dtype_name} {_axes(of)}"
    if not is_whole:
        text += f", part of {whole.shape}"
    elif of.chunks is not None:
        text += f", chunks {of.chunks}"
    return text


def _axes(of: Dataset) -> str:
    if not of.dims:
        return str(of.shape)
    return "(" + ", ".join(f"{dim}: {extent}" for dim, extent in zip(of.dims, of.shape, strict=True)) + ")"


def group(of: Group) -> str:
    """A line for each dataset."""
    kind = type(of).__name__
    if of.file.closed:
        return f"<tetfile.{kind} {of.file.path!r}, closed>"
    lines = [f"<tetfile.{kind} {_title(of)}: {of.file.format}, {_count(len(of), 'dataset')}>"]
    for number, name in enumerate(of):
        if number == _ROWS_MAX:
            lines.append(f"  ... and {len(of) - number} more")
            break
        found = of.dataset(name)
        lines.append(f"  {name}: {found.dtype_name} {_axes(found)}")
    return "\n".join(lines)


def _title(of: Group) -> str:
    return repr(of.file.path) + ("" if of is of.file else f" {of.path!r}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def tree(of: File) -> str:
    """Groups and datasets, each group indented."""
    lines = [of.path]
    before: list[str] = []
    for name in of:
        *groups, last = name.split("/")
        shared = 0
        while shared < min(len(groups), len(before)) and groups[shared] == before[shared]:
            shared += 1
        for depth in range(shared, len(groups)):
            lines.append("  " * (depth + 1) + groups[depth] + "/")
        found = of.dataset(name)
        lines.append("  " * (len(groups) + 1) + f"{last}  {found.dtype_name} {_axes(found)}")
        before = groups
    return "\n".join(lines)


def dataset_html(of: Dataset) -> str:
    """A table of what it is, and a picture of its first plane."""
    rows = [("name", of.name), ("dtype", of.dtype_name), ("shape", _axes(of))]
    if of.chunks is not None:
        rows.append(("chunks", str(of.chunks)))
    rows += [(str(name), str(value)) for name, value in list(of.attrs.items())[:_ROWS_MAX]]
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows)
    return f"<table>{cells}</table>{_picture(of)}"


def group_html(of: Group) -> str:
    """A table with a row for each dataset."""
    if of.file.closed:
        return f"<p>{escape(of.file.path)}, closed</p>"
    rows = []
    for name in list(of)[:_ROWS_MAX]:
        found = of.dataset(name)
        columns = (name, found.dtype_name, _axes(found), str(found.chunks or ""))
        rows.append("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in columns) + "</tr>")
    head = "".join(f"<th>{text}</th>" for text in ("name", "dtype", "shape", "chunks"))
    title = f"<p>{escape(_title(of))}: {escape(of.file.format)}, {_count(len(of), 'dataset')}</p>"
    return f"{title}<table><tr>{head}</tr>{''.join(rows)}</table>"


def _picture(of: Dataset) -> str:
    """The first plane as squares from blue to red, where it is read at once."""
    plane = _plane(of)
    if plane is None:
        return ""
    low, high = np.nanmin(plane), np.nanmax(plane)
    scaled = (plane - low) / (high - low) if high > low else np.zeros_like(plane)
    squares = []
    for row, values in enumerate(scaled):
        for column, value in enumerate(values):
            color = f"hsl({240 - 240 * value:.0f},70%,55%)" if np.isfinite(value) else "#ccc"
            squares.append(f'<rect x="{column * 8}" y="{row * 8}" width="8" height="8" fill="{color}"/>')
    height, width = (extent * 8 for extent in scaled.shape)
    return f'<svg width="{width}" height="{height}">{"".join(squares)}</svg>'


def _plane(of: Dataset) -> Any:
    """The first plane of the last two axes, thinned out; ``None`` where there is none, or where much is to be read."""
    if of.ndim < 2 or of.size == 0 or not of._core.is_number or of._core.dtype.kind not in "fiu":
        return None
    steps = [-(-extent // _CELLS_MAX) for extent in of.shape[-2:]]
    chunk = int(np.prod(of._core.chunks[-2:], dtype=object))
    if max(chunk, int(np.prod(of.shape[-2:], dtype=object))) > _PICTURE_MAX:
        return None
    key = (*(0,) * (of.ndim - 2), slice(None, None, steps[0]), slice(None, None, steps[1]))
    plane = np.asarray(of[key], dtype=float)
    return plane if np.isfinite(plane).any() else None
