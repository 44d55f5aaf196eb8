"""Random documents about an array, each beside what it means."""

import dataclasses

import numpy as np

import reductions

METHODS = ("zscore", "minmax", "l1", "l2", "center", "scale", "log1p", "sqrt", "softmax")


@dataclasses.dataclass
class Spec:
    """What a document means, by numbers."""

    slices: list
    op: str = None
    folded: list = dataclasses.field(default_factory=list)
    params: dict = dataclasses.field(default_factory=dict)
    skips: bool = False
    filter: dict = None
    group: tuple = None
    window: dict = None
    label_filter: tuple = None
    method: str = None
    method_axes: list = None
    form: str = ""

    @property
    def kept(self):
        """The axes that are not dropped."""
        return [axis for axis, part in enumerate(self.slices) if not part[3]]


class Writer:
    """Makes one document."""

    def __init__(self, rng, array):
        self.rng = rng
        self.array = array
        self.document = {"dataset": "a"}
        self.spec = None

    def chance(self, share):
        """True in so many of all cases."""
        return bool(self.rng.random() < share)

    def pick(self, items):
        """One of them."""
        return items[int(self.rng.integers(len(items)))]

    def below(self, bound):
        """A whole number from 0."""
        return int(self.rng.integers(bound))

    def write(self):
        """A document and its meaning."""
        self.select()
        self.array_result() if self.chance(0.17) else self.reduction()
        return self.document, self.spec

    # Selections.

    def select(self):
        """Ranges, points, labels, in one of three spellings."""
        shape = self.array.values.shape
        if self.chance(0.4):
            self.spec = Spec([(0, extent, 1, False) for extent in shape])
            return
        parts = [self.axis_selection(axis, extent) for axis, extent in enumerate(shape)]
        self.spec = Spec([part[0] for part in parts])
        texts = [part[2] for part in parts]
        named = self.array.dims and self.chance(0.5)
        if all(texts) and self.chance(0.4):
            # With the name of an axis, "=" is followed by labels, and "#" by positions.
            signs = ["=" if "'" in text else "#" for text in texts]
            rows = [dim + sign + text for dim, sign, text in zip(self.array.dims, signs, texts)]
            plain = all(dim.isalpha() for dim in self.array.dims)
            self.document["selection"] = ", ".join(rows if named and plain else texts)
        elif named:
            dims = self.array.dims
            self.document["selection"] = {dim: part[1] for dim, part in zip(dims, parts)}
        else:
            self.document["selection"] = [part[1] for part in parts]

    def axis_selection(self, axis, extent):
        """What one axis is asked for: the slice, the entry, the text if there is one."""
        labels = self.labels_of(axis)
        kind = self.rng.random()
        if extent and kind < 0.12:
            at = self.below(extent)
            asked = at - extent if self.chance(0.5) else at
            return (at, at + 1, 1, True), {"index": asked}, str(asked)
        if extent and labels and kind < 0.3:
            return self.label_selection(labels, extent)
        if kind < 0.45:
            return (0, extent, 1, False), {}, ":"
        start, stop = sorted(int(at) for at in self.rng.integers(0, extent + 1, 2))
        if start == stop and not self.chance(0.1):
            start, stop = 0, extent
        step = self.pick([1, 1, 2, 3, max(extent, 1)])
        entry, text = {}, ""
        if start or self.chance(0.2):
            entry["start"] = start - extent if start < extent and self.chance(0.3) else start
            text += str(entry["start"])
        text += ":"
        if stop < extent or self.chance(0.2):
            entry["stop"] = stop - extent if stop < extent and self.chance(0.3) else stop
            text += str(entry["stop"])
        if step > 1 or self.chance(0.1):
            entry["step"] = step
            text += f":{step}"
        return (start, stop, step, False), entry, text

    def label_selection(self, labels, extent):
        """By label: a point, a half-open range, a range with its end; all of a label's positions are neighbors."""
        runs = [label for label in labels if self.is_run(labels, label)]
        once = [label for label in runs if labels.count(label) == 1]
        if once and self.chance(0.3):
            at = labels.index(label := self.pick(once))
            return (at, at + 1, 1, True), {"label": label}, f"'{label}'"
        first, last = labels[self.below(extent)], labels[self.below(extent)]
        at, until = labels.index(first), labels.index(last)
        if not runs or self.chance(0.3):
            entry = {"start_label": first, "stop_label": last}
            return (at, max(at, until), 1, False), entry, ""
        first, last = self.pick(runs), self.pick(runs)
        at, until = labels.index(first), labels.index(last) + labels.count(last)
        entry = {"start_label": first, "through_label": last}
        return (at, max(at, until), 1, False), entry, f"'{first}':'{last}'"

    @staticmethod
    def is_run(labels, label):
        """Whether the positions of a label are next to each other."""
        at = labels.index(label)
        return all(it == label for it in labels[at:at + labels.count(label)])

    # Axes.

    def labels_of(self, axis):
        """The labels of an axis, if the file has some."""
        name = self.array.dims[axis] if self.array.dims else str(axis)
        return self.array.coords.get(name)

    def axis_name(self, axis):
        """One of the ways to say an axis."""
        rank, dims = self.array.values.ndim, self.array.dims
        if dims and self.chance(0.5):
            return dims[axis]
        if self.chance(0.2) and str(axis) not in dims:
            return str(axis)
        return axis - rank if self.chance(0.3) else axis

    def axes_value(self, axes):
        """One of the ways to say a list of axes."""
        names = [self.axis_name(axis) for axis in axes]
        return names[0] if len(names) == 1 and self.chance(0.6) else names

    def subset(self, axes, least=1):
        """Some of the axes, in any order."""
        count = int(self.rng.integers(least, len(axes) + 1))
        return [int(axis) for axis in self.rng.permutation(axes)[:count]]

    def count(self, axis):
        """How many positions of an axis are selected."""
        start, stop, step, _ = self.spec.slices[axis]
        return -(-(stop - start) // step)

    # Reductions.

    def reduction(self):
        """An operation with its axes, and what else may stand beside it."""
        kept = self.spec.kept
        form = self.rng.random()
        if len(kept) == 2 and min(self.count(axis) for axis in kept) > 0 and self.chance(0.12):
            self.matrix()
        elif kept and form < 0.2:
            self.window()
        elif kept and form < 0.42:
            self.group()
        else:
            self.plain()
        if self.spec.op not in reductions.MATRICES:
            if self.chance(0.3):
                self.add_filter()
            self.label_filter()

    def plain(self):
        """Over all axes, or over some."""
        kept = self.spec.kept
        ops = reductions.STREAMED + reductions.ORDERED * 3 + ("arg_min", "arg_max") * 2 + \
            ("histogram",) * 3
        self.spec.form = "all"
        axes = []
        self.spec.folded = list(kept)
        if kept and self.chance(0.6):
            axes = self.subset(kept)
            self.spec.folded = axes
            self.spec.form = "all" if len(axes) == len(kept) else "axes"
        self.operation(self.pick(ops), axes)

    def group(self):
        """By the positions of some axes, or by their labels."""
        kept = self.spec.kept
        labeled = [axis for axis in kept if self.labels_of(axis)]
        if labeled and self.chance(0.6):
            axes = self.subset(labeled)[:2]
            self.spec.group = ("labels", axes)
            names = [self.axis_name(axis) for axis in axes]
            self.document["group_by"] = {"by": "labels", "axes": names}
        else:
            axes = self.subset(kept)
            self.spec.group = ("axes", axes)
            self.document["group_by"] = [self.axis_name(axis) for axis in axes]
        self.spec.form = "group_" + self.spec.group[0]
        others = [axis for axis in kept if axis not in axes]
        named = self.subset(others) if others and self.chance(0.4) else []
        self.spec.folded = named or others
        ops = reductions.STREAMED + reductions.ORDERED + ("arg_min", "arg_max", "histogram")
        self.operation(self.pick(ops), named)

    def window(self):
        """Bins or rolling windows along one axis."""
        kept = self.spec.kept
        axis = self.pick(kept)
        count = self.count(axis)
        size = int(self.rng.integers(1, max(count, 1) + 2))
        mode = self.pick(["bins", "rolling"])
        window = {"axis": axis, "size": size, "mode": mode}
        pads = ["none", "none", "0"]
        if self.array.values.dtype.kind == "f":
            pads.append("nan")
        if self.array.fill is not None:
            pads.append("fill")
        pad = self.pick(pads)
        if pad != "none" or self.chance(0.2):
            window["pad"] = pad
        if mode == "rolling" and self.chance(0.4):
            window["step"] = int(self.rng.integers(1, 4))
        if self.chance(0.4):
            window["align"] = self.pick(["start", "end"])
            if mode == "rolling" and pad == "none":
                window["align"] = "start"
        self.spec.window = window
        self.spec.form = mode + ("" if pad == "none" else "_padded")
        others = [other for other in kept if other != axis]
        named = self.subset(others) if others and self.chance(0.4) else []
        self.spec.folded = named
        if self.chance(0.3):
            most = size + 2 if named else size
            window["min_count"] = int(self.rng.integers(1, most + 1))
        self.document["window"] = {**window, "axis": self.axis_name(axis)}
        places = ("arg_min", "arg_max") if pad == "none" else ()
        self.operation(self.pick(reductions.STREAMED + places), named)

    def matrix(self):
        """Covariance or correlation of the two axes that are left."""
        axis = self.pick(self.spec.kept)
        op = self.pick(reductions.MATRICES)
        self.spec.op, self.spec.folded, self.spec.form = op, [axis], "matrix"
        value = {"axis": self.axis_name(axis)}
        if op == "covariance" and self.count(axis) > 1 and self.chance(0.5):
            self.spec.params["ddof"] = value["ddof"] = 1
        self.document[op] = value if len(value) > 1 or self.chance(0.7) else value["axis"]

    def operation(self, op, axes):
        """The reduction's own key."""
        self.spec.op = op
        params = self.parameters(op)
        value = {}
        if params:
            value = {key: item for key, item in params.items() if item is not None}
            if axes or self.chance(0.3):
                value["axis" if len(axes) == 1 else "axes"] = \
                    self.axis_name(axes[0]) if len(axes) == 1 else self.axes_value(axes)
        elif axes:
            value = self.axes_value(axes)
            if self.chance(0.2):
                value = {"axes": value}
        else:
            value = self.pick([[], True, []])
        self.document[op] = value
        names = reductions.COUNTS[1:4] + reductions.TRUTHS
        if self.array.values.dtype.kind == "f" and op not in names and self.chance(0.35):
            propagate = ["skip"] if op.startswith("nan_") else ["propagate"]
            self.document["nan"] = self.pick(["skip", "skip", *propagate])
            self.spec.skips = self.document["nan"] == "skip"

    def parameters(self, op):
        """The numbers of an operation."""
        params = {}
        if op in ("var", "std", "nan_var", "nan_std") and self.chance(0.5):
            params["ddof"] = int(self.rng.integers(0, 3))
        if op == "quantile":
            qs = [0.0, 1.0, 0.5, 0.25, 0.95, round(float(self.rng.random()), 3)]
            params["q"] = self.pick(qs)
            if self.chance(0.4):
                params["q"] = [self.pick(qs) for _ in range(int(self.rng.integers(1, 4)))]
        if op == "histogram":
            params["bins"] = int(self.rng.integers(1, 13))
            if self.chance(0.5):
                low = self.number()
                low = float(np.clip(low, -1e3, 1e3))
                params["min"], params["max"] = low, low + self.pick([1, 10.0, 0.5, 77])
        self.spec.params = dict(params)
        if op == "null_count":
            if self.array.fill is None or self.chance(0.4):
                params["fill"] = self.number()
                self.spec.params["fill"] = params["fill"]
            else:
                self.spec.params["fill"] = self.array.fill
        return params

    # Filters.

    def number(self):
        """A number to compare with: of the array, near it, or far from it."""
        values = self.array.values
        finite = values[np.isfinite(values.astype(np.float64))]
        kind = self.rng.random()
        if finite.size and kind < 0.7:
            return finite.flat[self.below(finite.size)].item()
        if kind < 0.85:
            return self.pick([0, 0.0, 0.1, 2.5, -0.1, 1, 7])
        return self.pick([1e300, -1e300, 2**60 + 1, -(2**40), 1e-310, 300.5, 70000])

    def add_filter(self):
        """One to three tests that must hold."""
        tests = {}
        for compare in self.rng.permutation(["eq", "ne", "lt", "le", "gt", "ge"])[
                : int(self.rng.choice([1, 1, 2, 3]))]:
            tests[str(compare)] = self.number()
        if self.chance(0.15):
            tests[self.pick(["is_null", "is_not_null"])] = True
            if self.chance(0.5):
                tests = {key: it for key, it in tests.items() if it is True}
        self.spec.filter = self.document["filter"] = tests
        self.spec.form += "+filter"

    def label_filter(self):
        """Positions with one label."""
        taken = [self.spec.window["axis"]] if self.spec.window else []
        axes = [axis for axis in self.spec.kept if self.labels_of(axis) and axis not in taken]
        if not axes or not self.chance(0.2):
            return
        axis = self.pick(axes)
        label = self.pick(self.labels_of(axis))
        self.spec.label_filter = (axis, label)
        self.document["label_filter"] = {"axis": self.axis_name(axis), "eq": label}
        self.spec.form += "+labels"

    # Array results.

    def array_result(self):
        """The values, or a transform of them."""
        self.spec.form = "values"
        if self.chance(0.7):
            self.transform()
        if self.chance(0.3):
            integers = self.array.values.dtype.kind != "f" and self.spec.method is None
            if not integers or self.array.fill is not None:
                self.add_filter()
        self.label_filter()

    def transform(self):
        """A method over all of the selection, or along some axes."""
        method = self.pick(METHODS)
        self.spec.method, self.spec.form = method, "transform"
        value = {"method": method}
        if self.spec.kept and self.chance(0.6):
            axes = self.subset(self.spec.kept)
            self.spec.method_axes = axes
            if len(axes) == 1:
                value["axis"] = self.axis_name(axes[0])
            else:
                value["axes"] = [self.axis_name(axis) for axis in axes]
        self.document["transform"] = value
        if self.array.values.dtype.kind == "f" and self.chance(0.3):
            self.document["nan"], self.spec.skips = "skip", True
