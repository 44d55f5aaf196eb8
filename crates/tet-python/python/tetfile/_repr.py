"""Files and datasets as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._places import shown

if TYPE_CHECKING:
    from ._dataset import Dataset
    from ._file import File, Group

# Lines of a list.
_ROWS_MAX = 60


def dataset(of: Dataset) -> str:
    """One line."""
    try:
        return f"<tetfile.Dataset {_line(of)}>"
    except ValueError as error:
        return f"<tetfile.Dataset: {error}>"


def _line(of: Dataset) -> str:
    whole = of.file.dataset(of._core.key)
    is_whole = of._core.slices == whole._core.slices
    text = f"{of.name}: {typed(of)} {axes(of)}"
    if not is_whole:
        text += f", part of {whole.shape}"
    elif of._core.has_shape and of.chunks is not None:
        text += f", chunks {of.chunks}"
    return text


def typed(of: Dataset) -> str:
    """The type of the elements; ``?`` where the name alone is known."""
    return of.dtype_name or "?"


def axes(of: Dataset) -> str:
    """The extents, with the names of the axes; ``?`` where they are not known."""
    if not of._core.has_shape:
        return "?"
    if not of.dims:
        return str(of.shape)
    return "(" + ", ".join(f"{dim}: {extent}" for dim, extent in zip(of.dims, of.shape, strict=True)) + ")"


def group(of: Group) -> str:
    """A line for each dataset."""
    kind = type(of).__name__
    if of.file.closed:
        return f"<tetfile.{kind} {shown(of.file.path)!r}, closed>"
    lines = [f"<tetfile.{kind} {title(of)}: {of.file.format}, {count(len(of), 'dataset')}>"]
    for number, name in enumerate(of):
        if number == _ROWS_MAX:
            lines.append(f"  ... and {len(of) - number} more")
            break
        found = of.dataset(name)
        lines.append(f"  {name}: {typed(found)} {axes(found)}")
    return "\n".join(lines)


def title(of: Group) -> str:
    """The path of a file, and that of a group in it."""
    return repr(shown(of.file.path)) + ("" if of is of.file else f" {of.path!r}")


def count(number: int, what: str) -> str:
    """A number of things."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def tree(of: File) -> str:
    """Groups and datasets, each group indented."""
    lines = [shown(of.path)]
    before: list[str] = []
    for name in of:
        *groups, last = name.split("/")
        shared = 0
        while shared < min(len(groups), len(before)) and groups[shared] == before[shared]:
            shared += 1
        for depth in range(shared, len(groups)):
            lines.append("  " * (depth + 1) + groups[depth] + "/")
        found = of.dataset(name)
        lines.append("  " * (len(groups) + 1) + f"{last}  {typed(found)} {axes(found)}")
        before = groups
    return "\n".join(lines)
