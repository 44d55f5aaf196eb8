"""The works: what every library computes, and the query documents for both programs."""

import json
from dataclasses import dataclass

import numpy as np

SHAPE = (128, 512, 1024)
TILE = (8, 256, 256)


@dataclass(frozen=True)
class Work:
    """A work on the files of one layout."""

    title: str
    name: str
    layout: str
    question: dict
    # Whether the answer is one value.
    single: bool = True

    @property
    def document(self):
        """The question as both programs take it."""
        return json.dumps({"dataset": "x", **self.question})


def ranges(*axes):
    """A selection of one range for each axis, all of it where there is none."""
    return [{"start": axis[0], "stop": axis[1]} if axis else {} for axis in axes]


def window(size, mode):
    return {"axis": "0", "size": size, "mode": mode}


WORKS = [
    Work("sum of all, contiguous", "sum", "slab", {"sum": []}),
    Work("std of all, contiguous", "std", "slab", {"std": []}),
    Work("sum of a contiguous quarter", "slab", "slab",
         {"sum": [], "selection": ranges((32, 64), (), ())}),
    Work("sum of all, tiled", "sum", "tiled", {"sum": []}),
    Work("sum of all, tiled, zstd", "sum", "zstd", {"sum": []}),
    Work("mean along [0]", "mean-0", "tiled", {"mean": [0]}, single=False),
    Work("mean along [1]", "mean-1", "tiled", {"mean": [1]}, single=False),
    Work("mean along [2]", "mean-2", "tiled", {"mean": [2]}, single=False),
    Work("one element", "element", "tiled",
         {"sum": [], "selection": ranges((64, 65), (256, 257), (512, 513))}),
    Work("sum of a column [:, :, 512]", "column", "tiled",
         {"sum": [], "selection": ranges((), (), (512, 513))}),
    Work("sum by position along [0]", "group", "tiled",
         {"sum": [], "group_by": ["0"]}, single=False),
    Work("mean of bins of 16 along [0]", "bins", "tiled",
         {"mean": [], "window": window(16, "bins")}, single=False),
    Work("mean of 9 rolling along [0]", "rolling", "tiled",
         {"mean": [], "window": window(9, "rolling")}, single=False),
    Work("sum of 500,000 chunks of 8", "sum", "tiny", {"sum": []}),
]

# Each library reads in its own way; what is done with what was read is NumPy's.
READS = {
    "slab": lambda x: x[32:64],
    "column": lambda x: x[:, :, 512],
    "element": lambda x: x[64, 256, 512],
}

FOLDS = {
    "sum": lambda x: x.sum(),
    "slab": lambda x: x.sum(),
    "column": lambda x: x.sum(),
    "element": lambda x: x,
    "std": lambda x: x.std(),
    "mean-0": lambda x: x.mean(axis=0),
    "mean-1": lambda x: x.mean(axis=1),
    "mean-2": lambda x: x.mean(axis=2),
    "group": lambda x: x.sum(axis=(1, 2)),
    "bins": lambda x: x.reshape(8, 16, *SHAPE[1:]).mean(axis=1),
    "rolling": lambda x: np.lib.stride_tricks.sliding_window_view(x, 9, axis=0).mean(axis=-1),
}


def answer(name, array):
    """The result of a work on an open array of any library."""
    read = READS.get(name, lambda x: x[...])
    return FOLDS[name](read(array))
