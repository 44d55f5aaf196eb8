"""Array files opened in place: listed, sliced by name and label, reduced, checked, converted.

>>> with tetfile.open("climate.tet") as f:
...     temp = f["temp"]
...     print(temp.shape, temp.dims, temp[0, 0, 0])
...     print(temp.mean(dim="time").shape)
(12, 4, 8) ('time', 'lat', 'lon') 288.0
(4, 8)
"""

from ._create import Target, Writer, create
from ._dataset import Dataset
from ._diff import DatasetDifference, Difference, diff
from ._editing import append
from ._errors import (
    ChangedError,
    DamagedError,
    ElementTypeError,
    LimitError,
    NotFoundError,
    OutOfRangeError,
    TetError,
    UnsupportedError,
    UsageError,
)
from ._file import File, Group, open
from ._functions import convert, repair, verify
from ._parts import Part, WritePlan, plan
from ._plan import Spec
from ._results import Answer, Conversion, Edit, Finding, Plan, Repair, Report, Stats
from ._tetfile import __version__

__all__ = [
    "Answer",
    "ChangedError",
    "Conversion",
    "DamagedError",
    "Dataset",
    "DatasetDifference",
    "Difference",
    "Edit",
    "ElementTypeError",
    "File",
    "Finding",
    "Group",
    "LimitError",
    "NotFoundError",
    "OutOfRangeError",
    "Part",
    "Plan",
    "Repair",
    "Report",
    "Spec",
    "Stats",
    "Target",
    "TetError",
    "UnsupportedError",
    "UsageError",
    "WritePlan",
    "Writer",
    "__version__",
    "append",
    "convert",
    "create",
    "diff",
    "open",
    "plan",
    "repair",
    "verify",
]
