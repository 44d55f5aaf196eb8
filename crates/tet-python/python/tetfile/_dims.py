"""Names of axes for readers that need one for each: xarray, and Zarr as xarray reads it."""

from __future__ import annotations

from ._dataset import Dataset
from ._file import File


class Dims:
    """Names of axes. Those without get one for each extent of the file, named as netCDF4 does."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.known: dict[tuple[int, int], str] = {}

    def of(self, dataset: Dataset) -> tuple[str, ...]:
        """The names of the axes of a dataset of the file."""
        if _has_dims(dataset):
            return dataset.dims or ()
        if not self.known:
            # One numbering for all groups: those below see the axes of those above.
            bare = (found for found in map(self.file.dataset, self.file) if found._core.has_shape and not _has_dims(found))
            for found in bare:
                for key in _extents(found):
                    self.known.setdefault(key, f"phony_dim_{len(self.known)}")
        return tuple(self.known[key] for key in _extents(dataset))


def _has_dims(dataset: Dataset) -> bool:
    return dataset.dims is not None and len(set(dataset.dims)) == len(dataset.dims)


def _extents(dataset: Dataset) -> list[tuple[int, int]]:
    """Each extent, and how many axes before have the same."""
    return [(extent, dataset.shape[:axis].count(extent)) for axis, extent in enumerate(dataset.shape)]
