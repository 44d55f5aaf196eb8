"""Tables, documents of JSON and archives of NumPy that `tet` writes of a selection, beside the frame that xarray makes of it."""

import csv
import io
import json

import numpy as np

# Tables of more rows are not compared: Python takes seconds to read one.
ROWS = 20_000


def turned_longitudes(wanted):
    for dim in wanted.dims:
        if f"{dim}_turns" in wanted.coords:
            wanted = wanted.assign_coords({dim: wanted[dim] + 360 * wanted[f"{dim}_turns"]})
    return wanted


def frame(case):
    """The selection as a table of xarray: a row for each element, labels as they are decoded, longitudes as they were asked for."""
    return turned_longitudes(case.wanted).to_dataframe(case.name).reset_index()


def is_label(text, label):
    """Whether a text, a number or a date is the label."""
    if hasattr(label, "calendar"):
        # A date without a time of day is midnight.
        return str(text).ljust(16)[:16].replace(" " * 6, "T00:00") == label.strftime("%Y-%m-%dT%H:%M")
    if isinstance(label, str):
        return str(text) == label
    return type(label)(text) == label


def are_labels(texts, labels):
    return len(texts) == len(labels) and all(map(is_label, texts, labels))


def axis_labels(case):
    """The labels of every axis that stays; positions in the selection along an axis without any."""
    turned = turned_longitudes(case.wanted)
    return [list(turned[dim].values) for dim in turned.dims]


def tidy_fault(text, case, name, delimiter=","):
    """How a table of a row for each element differs from the frame; nothing if it does not."""
    header, *rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    dims = case.wanted.dims
    table = frame(case) if dims else {}
    if header != [*dims, name]:
        return f"columns {header}"
    columns = list(zip(*rows, strict=True)) if rows else [[]] * len(header)
    for at, dim in enumerate(dims):
        if not are_labels(columns[at], list(table[dim])):
            return f"labels of {dim}: {columns[at][:9]}"
    return "" if [*map(int, columns[-1])] == case.wanted.values.ravel().tolist() else f"elements {columns[-1][:9]}"


def wide_fault(text, case):
    """The same of a table with a column for each label of the last axis."""
    header, *rows = csv.reader(io.StringIO(text))
    dims, count = case.wanted.dims, case.wanted.ndim - 1
    if count < 1 or not case.wanted.size:
        return "" if count > 0 else tidy_fault(text, case, case.name)
    *before, last = axis_labels(case)
    ends = [it.removeprefix(f"{dims[-1]}=") for it in header[count:]]
    if header[:count] != list(dims[:-1]) or not are_labels(ends, last):
        return f"columns {header}"
    every = np.stack([it.ravel() for it in np.meshgrid(*[np.arange(len(it)) for it in before], indexing="ij")])
    for at, labels in enumerate(before):
        if not are_labels([row[at] for row in rows], [labels[of] for of in every[at]]):
            return f"labels of {dims[at]}: {[row[at] for row in rows][:9]}"
    return bare_fault([row[count:] for row in rows], case)


def bare_fault(rows, case):
    values = case.wanted.values
    rows = np.array(rows, "i4")
    return "" if np.array_equal(rows.ravel(), values.ravel()) else f"elements {rows.ravel()[:9]}"


def document_fault(text, case):
    """How the object that `cat --format json` prints differs."""
    document, wanted = json.loads(text), case.wanted
    if document["shape"] != list(wanted.shape) or document["dims"] != list(wanted.dims):
        return f"{document['shape']} {document['dims']}"
    if not np.array_equal(np.array(document["values"], "i4").reshape(wanted.shape), wanted.values):
        return "elements"
    return labels_fault(document["coords"], case)


def answer_fault(text, case):
    """How the answer of `query --json` differs."""
    document, wanted = json.loads(text), case.wanted
    result = document["result"]
    if result["shape"] != list(wanted.shape) or result["dims"] != list(wanted.dims) or result["count"] != wanted.size:
        return f"{result['shape']} {result['dims']} {result['count']}"
    if not np.array_equal(np.array(result["values"], "i4").ravel(), wanted.values.ravel()):
        return "elements"
    return labels_fault(result.get("labels", [None] * wanted.ndim), case) or sizes_fault(document, case)


def sizes_fault(document, case):
    """How the sizes of a plan differ from those of the selection."""
    wanted, selection = case.wanted, document["selection"]
    shape = [it for axis, it in enumerate(selection["shape"]) if axis not in selection["dropped_axes"]]
    known = (shape, document["plan"]["elements"], document.get("selected_len", 4 * wanted.size))
    return "" if known == ([*wanted.shape], wanted.size, 4 * wanted.size) else f"shape, elements and bytes {known}"


def labels_fault(known, case):
    if not case.wanted.size:
        return ""
    for dim, labels, wanted in zip(case.wanted.dims, known, axis_labels(case), strict=True):
        if labels is None and dim == "bare" or labels is not None and are_labels(labels, wanted):
            continue
        return f"labels of {dim}: {labels}, not {wanted}"
    return ""


def archive_fault(path, case, stored):
    """How an archive of NumPy differs: elements, and the numbers of the axes."""
    with np.load(path) as found:
        if not np.array_equal(found[case.name], case.wanted.values):
            return "elements"
        for dim, labels in case.labels(stored).items():
            if np.asarray(labels).dtype.kind not in "UO" and not np.array_equal(found[dim], labels):
                return f"labels of {dim}: {found.get(dim)}, not {labels}"
    return ""


def in_toml(value):
    """A value of a query document in TOML; texts of JSON are texts of TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {in_toml(each)}" for key, each in value.items()) + "}"
    return json.dumps(value)


def question(rng, folder, case, more):
    """A query document with the selection as text or as entries, and the words of a command that asks it."""
    selection = case.text if case.document is None or rng.random() < 0.5 else case.document
    document = {"dataset": case.name, "selection": selection} | more
    is_json = rng.random() < 0.5
    text = json.dumps(document) if is_json else "\n".join(f"{key} = {in_toml(value)}" for key, value in document.items())
    if rng.random() < 0.5:
        return document, text
    path = folder / ("question.json" if is_json else "question.toml")
    path.write_text(text)
    return document, path.name

