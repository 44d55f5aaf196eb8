"""Files and datasets as HTML, for notebooks: a table, and a picture of a dataset. Nothing of it raises."""

from __future__ import annotations

import base64
from collections.abc import Callable
from html import escape
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _index, _repr, _tetfile
from ._places import shown

if TYPE_CHECKING:
    from ._dataset import Dataset
    from ._file import Group

# Rows of a table, characters of a value.
_ROWS_MAX = 60
_TEXT_MAX = 120
# Rows and columns of a picture, and the pixels that its longer side takes.
_CELLS_MAX = 64
_PIXELS = 256
# Chunks that are touched for a picture, their bytes, and those of the file.
_CHUNKS_MAX = 16
_DECODED_MAX = 32 << 20
_READ_MAX = 4 << 20
_STYLE = "border-collapse:collapse;color:inherit;text-align:left;font-size:90%"
_CELL = "text-align:left;padding:2px 8px"


def dataset(of: Dataset) -> str:
    """A table of what it is, and a picture of a plane."""
    return _guarded(_dataset, of)


def group(of: Group) -> str:
    """A table with a row for each dataset."""
    return _guarded(_group, of)


def _guarded(work: Callable[[Any], str], of: Any) -> str:
    """What the work gives, or what is in its way: a notebook shows nothing of an object that raises."""
    try:
        return work(of)
    except Exception as error:
        return f"<p>{escape(type(of).__name__)}: {escape(str(error))}</p>"


def _dataset(of: Dataset) -> str:
    rows = [("name", of.name), ("type", _repr.typed(of)), ("shape", _repr.axes(of)), *_sizes(of)]
    rows += [("fault", of.fault)] if of.fault else []
    rows += [(str(name), _short(value)) for name, value in list(of.attrs.items())[:_ROWS_MAX]]
    table = "".join(f"<tr>{_head(name)}{_cell(text)}</tr>" for name, text in rows)
    return f'<table style="{_STYLE}"><tbody>{table}</tbody></table>{_guarded(_picture, of)}'


def _sizes(of: Dataset) -> list[tuple[str, str]]:
    rows = [("chunks", chunks)] if (chunks := _chunks(of)) else []
    size = _size(of)
    return [*rows, ("size", size)] if size else rows


def _group(of: Group) -> str:
    if of.file.closed:
        return f"<p>{escape(shown(of.file.path))}, closed</p>"
    names = list(of)
    title = f"<p><b>{escape(_repr.title(of))}</b>: {escape(of.file.format)}, {_repr.count(len(names), 'dataset')}</p>"
    head = "".join(map(_head, ("name", "type", "shape", "chunks", "size")))
    rows = "".join(f"<tr>{_guarded(lambda name: _row(of, name), name)}</tr>" for name in names[:_ROWS_MAX])
    more = f"<p>and {len(names) - _ROWS_MAX} more</p>" if len(names) > _ROWS_MAX else ""
    return f'{title}<table style="{_STYLE}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}'


def _row(of: Group, name: str) -> str:
    found = of.dataset(name)
    texts = (name, _repr.typed(found), _repr.axes(found), _chunks(found), found.fault or _size(found))
    return "".join(map(_cell, texts))


def _head(text: str) -> str:
    return f'<th style="{_CELL}">{escape(text)}</th>'


def _cell(text: str) -> str:
    return f'<td style="{_CELL}">{escape(text)}</td>'


def _short(value: Any) -> str:
    text = np.array2string(value, threshold=8) if isinstance(value, np.ndarray) else str(value)
    return text if len(text) <= _TEXT_MAX else f"{text[:_TEXT_MAX]}..."


def _chunks(of: Dataset) -> str:
    """The extents of a chunk, where there are chunks and they are known."""
    return str(of.chunks or "") if of._core.has_shape else ""


def _size(of: Dataset) -> str:
    """Bytes of all elements, where they are numbers."""
    if not of._core.is_number:
        return ""
    number = float(of.nbytes)
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if number < 1024 or unit == "TiB":
            break
        number /= 1024
    return f"{number:.0f} {unit}" if number >= 100 or number == int(number) else f"{number:.1f} {unit}"


def _picture(of: Dataset) -> str:
    """A plane of the last two axes, or a row of the only one, as a picture; nothing where much is to be read for it."""
    key = _plane(of)
    if key is None:
        return ""
    values = np.atleast_2d(np.asarray(of[key]).astype(float))
    known = values[np.isfinite(values)]
    if not known.size:
        return ""
    low, high = float(known.min()), float(known.max())
    height, width = values.shape
    scale = max(1, _PIXELS // max(height, width))
    style = f"width:{width * scale}px;height:{height * scale}px;image-rendering:pixelated;margin:6px 0"
    picture = base64.b64encode(_tetfile.picture(values.ravel().tolist(), height, width)).decode()
    caption = f"{low:.6g} to {high:.6g}, {_key_text(of, key)}"
    image = f'<img style="{style}" alt="{escape(caption)}" src="data:image/png;base64,{picture}">'
    return f"{image}<div>{escape(caption)}</div>"


def _plane(of: Dataset) -> tuple[int | slice, ...] | None:
    """The key of the elements that are shown, of the first part of a plane that is read at once; ``None`` if there is
    none."""
    core = of._core
    if not core.is_number or of.ndim == 0 or of.size == 0 or core.dtype.kind not in "fiub":
        return None
    axes = range(max(0, of.ndim - 2), of.ndim)
    extents = {axis: min(of.shape[axis], core.chunks[axis] * _CHUNKS_MAX) for axis in axes}
    while True:
        key: list[int | slice] = [extent // 2 for extent in of.shape]
        for axis, extent in extents.items():
            key[axis] = slice(0, extent, -(-extent // _CELLS_MAX))
        items = [_index.positions(item, of.shape[at], at) for at, item in enumerate(key)]
        chunk_count, decoded_len, read_len = _tetfile.touched(_tetfile.select(core, items))
        if chunk_count <= _CHUNKS_MAX and decoded_len <= _DECODED_MAX and read_len <= _READ_MAX:
            return tuple(key)
        longest = max(axes, key=lambda axis: extents[axis])
        if extents[longest] == 1:
            return None
        extents[longest] //= 2


def _key_text(of: Dataset, key: tuple[int | slice, ...]) -> str:
    """What a picture shows, in the words of a key."""
    texts = [str(item) if isinstance(item, int) else f"{item.start}:{item.stop}:{item.step}" for item in key]
    return f"[{', '.join(texts)}]"
