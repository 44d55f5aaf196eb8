"""HDF5 files with true values: python hdf5_files.py FOLDER SEED.

Files are in FOLDER/files, their truth in FOLDER/truth. A case is a function that writes one file;
the truth is read back by h5py, but for what h5py cannot read, which the case returns by dataset name.
"""

import os
import pathlib
import shutil
import sys
import warnings

import h5py
import numpy as np
from h5py import h5d, h5f, h5p, h5s, h5t

import hdf5_filters  # noqa: F401, registers its cases
import hdf5_truth
from hdf5_cases import CASES, NUMBERS, VERSIONS, case, create, library, low_level, some_chunks, written
from truth import generator, random, smooth

# Types, layouts and groups in every version of the format.


def types(file, rng):
    for name in NUMBERS:
        for order in "<>":
            dtype = np.dtype(order + name)
            label = f"{'little' if order == '<' else 'big'}/{name}"
            file.create_dataset(f"{label}/flat", data=random(rng, dtype, (3, 5, 7)))
            file.create_dataset(
                f"{label}/chunked", data=random(rng, dtype, (10, 7)), chunks=(4, 3), compression=4,
                shuffle=True,
            )
    for name in ("c8", "c16"):
        for order in "<>":
            file[f"complex/{name}{'lb'[order == '>']}"] = random(rng, order + name, (4, 3))
    file["bool"] = random(rng, "?", (9,))
    colors = h5py.enum_dtype({"red": 0, "green": 1, "blue": -7}, basetype=">i2")
    file.create_dataset("enum", data=np.array([0, 1, -7, 1], ">i2"), dtype=colors)


def layouts(file, rng):
    file["flat"] = random(rng, "f4", (30, 40))
    low_level(file, "compact", random(rng, "i4", (50,)), set_up=[lambda p: p.set_layout(h5d.COMPACT)])
    early = [lambda p: p.set_alloc_time(h5d.ALLOC_TIME_EARLY)]
    low_level(file, "early", random(rng, "i2", (9, 9)), (4, 4), set_up=early)
    file.create_dataset("one_chunk", data=random(rng, "f8", (8, 8)), chunks=(8, 8))
    file.create_dataset("fixed", data=random(rng, "u2", (25, 31)), chunks=(4, 5))
    file.create_dataset("more", data=random(rng, "f4", (25, 31)), chunks=(4, 5), maxshape=(50, 40))
    file.create_dataset("grows", data=random(rng, "i4", (25, 31)), chunks=(4, 5), maxshape=(None, 31))
    file.create_dataset("both", data=random(rng, "i8", (25, 31)), chunks=(4, 5), maxshape=(None, None))
    file.create_dataset("packed", data=smooth(rng, "f4", (40, 40)), chunks=(7, 9), compression=6)
    file.create_dataset("empty", shape=(0, 5), dtype="f4", chunks=(1, 5), maxshape=(None, 5))


def groups(file, rng):
    group = file
    for depth in range(12):
        group = group.create_group(f"level{depth}")
        group.attrs["depth"] = np.int32(depth)
        group["x"] = random(rng, "i4", (depth + 1,))
    many = file.create_group("many")
    for number in range(60):
        many[f"d{number:03}"] = np.full((2,), number, "u1")
    for number in range(40):
        many.attrs[f"a{number}"] = float(number)
        many["d000"].attrs[f"a{number}"] = f"text {number}"
    file["hard"] = file["level0/x"]
    file["soft"] = h5py.SoftLink("/level0/level1/x")
    file["dangling"] = h5py.SoftLink("/no/such")
    file["level0/level1/up"] = file["level0"]
    file["around"] = h5py.SoftLink("/around")
    file["elsewhere"] = h5py.ExternalLink("no_such_file.h5", "/x")


for each in VERSIONS:
    case(f"types_{each}", version=each)(types)
    case(f"layouts_{each}", version=each)(layouts)
    case(f"groups_{each}", version=each)(groups)


# Chunk indexes.


def grid(file, rng, shape, chunks, maxshape, filtered, share):
    for name, dtype in (("a", "i4"), ("b", "u1")):
        more = {"compression": 1, "shuffle": True} if filtered else {}
        dataset = file.create_dataset(
            name, shape=shape, chunks=chunks, maxshape=maxshape, dtype=dtype, fillvalue=77, **more
        )
        if share == 1:
            dataset[...] = smooth(rng, dtype, shape)
        else:
            some_chunks(dataset, rng, share)


GRIDS = {
    "single": ((20, 30), (20, 30), None),
    "fixed": ((50, 37), (4, 5), None),
    "fixed_paged": ((300, 61), (5, 2), None),
    "fixed_maximum": ((30, 22), (4, 5), (70, 90)),
    "fixed_maximum_paged": ((90, 60), (2, 3), (200, 90)),
    "extensible": ((50, 37), (4, 5), (None, 37)),
    "extensible_long": ((9000,), (2,), (None,)),
    "extensible_paged": ((70_000,), (1,), (None,)),
    "extensible_maximum": ((30, 22), (4, 5), (None, 90)),
    "extensible_second": ((30, 44), (4, 5), (60, None)),
    "extensible_third": ((9, 10, 44), (4, 3, 5), (9, 20, None)),
    "tree2": ((50, 37), (4, 5), (None, None)),
    "tree2_deep": ((200, 150), (2, 2), (None, None)),
}
for label, (extents, steps, most) in GRIDS.items():
    for filtered in (False, True):
        for written_share in (1, 0.4):
            if label in ("extensible_paged", "tree2_deep", "single") and written_share != 1:
                continue
            end = ("_filtered" if filtered else "") + ("_absent" if written_share != 1 else "")
            arguments = (extents, steps, most, filtered, written_share)
            case(f"index_{label}{end}", *arguments)(grid)
for label, version in (("tree1", "earliest"), ("tree1_108", "v108")):
    case(f"index_{label}", (200, 150), (2, 3), (None, None), False, 1, version=version)(grid)
    case(f"index_{label}_filtered", (200, 150), (2, 3), (None, 200), True, 0.4, version=version)(grid)


@case("index_pages")
def pages(file, rng):
    """Arrays of so many chunks that their data blocks have pages, few of which are written."""
    for name, most in (("fixed", (600_000,)), ("extensible", (None,))):
        for filtered in (False, True):
            more = {"compression": 1} if filtered else {}
            dataset = file.create_dataset(f"{name}_filtered" if filtered else name, shape=(600_000,), chunks=(1,),
                                          maxshape=most, dtype="u1", fillvalue=7, **more)
            for at in sorted(rng.integers(0, 600_000, 300).tolist()):
                dataset[at] = at % 251
            dataset[150_000:152_000] = smooth(rng, "u1", (2000,))


@case("index_implicit_maximum")
def implicit(file, rng):
    space = h5s.create_simple((13, 9), (40, 20))
    early = [lambda p: p.set_alloc_time(h5d.ALLOC_TIME_EARLY)]
    low_level(file, "a", random(rng, "f4", (13, 9)), (4, 5), space, set_up=early)


@case("fill_values")
def fills(file, rng):
    for dtype, fill in (("<i2", -999), (">i4", 70_000), ("<f4", np.nan), (">f8", 1e20), ("u1", 255), ("?", True),
                        ("<f2", 0.5), ("<c8", 1 - 2j)):
        name = np.dtype(dtype).name
        file.create_dataset(f"{name}_flat", shape=(5, 3), dtype=dtype, fillvalue=fill)
        file.create_dataset(f"{name}_chunked", shape=(50, 3), chunks=(7, 3), dtype=dtype, fillvalue=fill)
        some_chunks(file[f"{name}_chunked"], rng)
    for name, when in (("alloc", h5d.FILL_TIME_ALLOC), ("ifset", h5d.FILL_TIME_IFSET)):
        low_level(file, name, np.empty((0,), "i4"), (4,), h5s.create_simple((20,)),
                  set_up=[lambda p, when=when: p.set_fill_time(when)])
    file.create_dataset("default", shape=(40, 40), chunks=(8, 8), dtype="f4")


case("fill_values_old", version="earliest")(fills)


@written("resized")
def resized(path, rng, version="latest"):
    shapes = {"shrunk": (13, 9), "narrow": (30, 3), "grown": (55, 44), "emptied": (0, 22)}
    with create(path, version) as file:
        for name in shapes:
            for both in (False, True):
                most = (None, None) if both else (None, 60)
                file.create_dataset(name + "_both" * both, data=smooth(rng, "i4", (30, 22)), chunks=(4, 5),
                                    maxshape=most, fillvalue=-1, compression=1)
    with h5py.File(path, "a", libver=version) as file:
        for name, shape in shapes.items():
            file[name].resize(shape)
            file[f"{name}_both"].resize(shape)
        file["grown"][50:, 40:] = 5
        file["shrunk"].resize((20, 20))


@written("resized_old")
def resized_old(path, rng):
    resized(path, rng, "earliest")


# Files as a whole.

for size in (512, 4096):
    case(f"userblock_{size}", userblock_size=size)(layouts)
    case(f"userblock_{size}_old", userblock_size=size, version="earliest")(layouts)


def by_properties(path, change, version, fill, rng):
    """A file whose creation properties h5py.File does not offer."""
    plist, access = h5p.create(h5p.FILE_CREATE), h5p.create(h5p.FILE_ACCESS)
    low = {"earliest": h5f.LIBVER_EARLIEST, "v110": h5f.LIBVER_V110}.get(version, h5f.LIBVER_V200)
    access.set_libver_bounds(low, max(low, h5f.LIBVER_V18))
    change(plist)
    with h5py.File(h5f.create(str(path).encode(), h5f.ACC_TRUNC, fcpl=plist, fapl=access)) as file:
        fill(file, rng)


def few(file, rng, count=40):
    group = file.create_group("g")
    for number in range(count):
        group[f"d{number}"] = random(rng, "f4", (4, 5))
    file.create_dataset("chunked", data=smooth(rng, "i2", (40, 30)), chunks=(4, 4))
    file.create_dataset("packed", data=smooth(rng, "i2", (40, 30)), chunks=(4, 4), compression=4)
    file.create_dataset("long", data=smooth(rng, "i2", (40, 30)), chunks=(4, 4), maxshape=(None, 30))
    for number in range(count // 2):
        file["long"].attrs[f"same{number}"] = "the same text in every attribute"


for sizes in ((2, 2), (4, 4), (4, 8), (8, 4), (2, 4)):
    for version in ("earliest", "latest"):

        @written(f"sizes_{sizes[0]}_{sizes[1]}_{version}")
        def sized(path, rng, sizes=sizes, version=version):
            # libhdf5 2.0.0 cannot read its own fractal heaps where lengths have 2 bytes.
            count = 6 if (sizes[1], version) == (2, "latest") else 40
            by_properties(path, lambda p: p.set_sizes(*sizes), version, lambda *it: few(*it, count), rng)


def shared_messages(plist):
    lib = library()
    lib.H5Pset_shared_mesg_nindexes(plist.id, 2)
    lib.H5Pset_shared_mesg_index(plist.id, 0, 0b01011, 20)
    lib.H5Pset_shared_mesg_index(plist.id, 1, 0b10100, 20)


FILES = {
    "node_sizes": (lambda p: (library().H5Pset_istore_k(p.id, 4), library().H5Pset_sym_k(p.id, 3, 2)), "earliest"),
    "shared_messages": (shared_messages, "latest"),
    "shared_messages_old": (shared_messages, "earliest"),
    "paged_space": (lambda p: p.set_file_space_strategy(h5f.FSPACE_STRATEGY_PAGE, True, 1), "latest"),
    "kept_space": (lambda p: p.set_file_space_strategy(h5f.FSPACE_STRATEGY_FSM_AGGR, True, 1), "v110"),
}
for label, (change, version) in FILES.items():

    @written(label)
    def with_properties(path, rng, change=change, version=version):
        by_properties(path, change, version, few, rng)


@written("swmr_open")
def swmr_open(path, rng):
    """A file that a SWMR writer has not closed."""
    work = path.with_suffix(".work")
    with create(work, "latest") as file:
        file.create_dataset("a", shape=(0, 7), chunks=(3, 7), maxshape=(None, 7), dtype="f4")
        file["b"] = random(rng, "i4", (9,))
        file.swmr_mode = True
        file["a"].resize((50, 7))
        file["a"][...] = random(rng, "f4", (50, 7))
        file.flush()
        shutil.copy(work, path)
    return work


def left_open(path, rng, version):
    """A file that was flushed and not closed."""
    work = path.with_suffix(".work")
    with create(work, version) as file:
        layouts(file, rng)
        file.flush()
        shutil.copy(work, path)
    return work


written("left_open")(lambda path, rng: left_open(path, rng, "v110"))
written("left_open_old")(lambda path, rng: left_open(path, rng, "earliest"))


@written("external_link")
def external_link(path, rng):
    other = path.with_name("external_target.bin")
    with create(other, "latest") as file:
        file["there"] = random(rng, "i4", (5,))
    with create(path, "latest") as file:
        file["here"] = random(rng, "i4", (5,))
        file["linked"] = h5py.ExternalLink(other.name, "/there")


@written("external_storage")
def external_storage(path, rng):
    # Names of external files begin at the folder of the process when they are written.
    os.chdir(path.parent)
    with create(path, "latest") as file:
        parts = [(f"{path.stem}_{number}.raw", 16 * number, 120) for number in range(2)]
        file.create_dataset("a", data=smooth(rng, ">i4", (60,)), external=parts)
        file["b"] = random(rng, "i4", (5,))


def ten_thousand(file, rng):
    values = smooth(rng, "i4", (10_000, 3))
    for number in range(10_000):
        file[f"g{number % 10}/d{number:05}"] = values[number]


case("many_earliest", version="earliest")(ten_thousand)
case("many_latest")(ten_thousand)


def flat_many(file, rng):
    for number in range(3000):
        file[f"dataset number {number}"] = np.array(number, "i2")


case("many_flat_earliest", version="earliest")(flat_many)
case("many_flat_ordered", track_order=True)(flat_many)


@case("ordered", track_order=True)
def ordered(file, rng):
    for name in ("z", "a", "m"):
        group = file.create_group(name, track_order=True)
        for inner in range(12, 0, -1):
            group[f"{inner}"] = random(rng, "i2", (inner,))
            group.attrs[f"k{inner}"] = inner


@case("ranks")
def ranks(file, rng):
    for rank in range(9):
        file[f"rank{rank}"] = random(rng, "i4", (2,) * rank)
        if rank:
            file.create_dataset(f"chunked{rank}", data=random(rng, "i2", (3,) * rank), chunks=(2,) * rank)
    file["rank32"] = random(rng, "i4", (1,) * 30 + (2, 3))
    file["scalar_text"] = "one text"
    file["null"] = h5py.Empty("f4")
    for shape in ((0,), (0, 3), (3, 0, 2)):
        file["zero" + "_".join(map(str, shape))] = np.empty(shape, "f8")


case("ranks_old", version="earliest")(lambda file, rng: ranks(file, rng))


@case("numbers_unusual")
def unusual(file, rng):
    """Numbers that NumPy has no name for, with what they are to be read as."""
    bits = rng.integers(0, 1 << 16, (40, 6)).astype("<u2")
    brain = h5t.IEEE_F32LE.copy()
    brain.set_fields(15, 7, 8, 0, 7)
    brain.set_size(2)
    brain.set_ebias(127)
    changed = {}
    for name, chunks in (("bfloat16", None), ("bfloat16_chunked", (7, 6))):
        made = low_level(file, name, np.empty((0,), "f4"), chunks, h5s.create_simple(bits.shape), brain)
        made.write(h5s.ALL, h5s.ALL, bits, brain)
        changed[name] = {"kind": "numbers", "dtype": "bfloat16", "values": bits, "shape": list(bits.shape)}
    for name, known in (("bitfield8", h5t.STD_B8LE), ("bitfield16", h5t.STD_B16BE)):
        size = known.get_size()
        values = rng.integers(0, 200, (9,)).astype(f"u{size}")
        made = low_level(file, name, np.empty((0,), "u1"), None, h5s.create_simple((9,)), known)
        made.write(h5s.ALL, h5s.ALL, values.astype(">u2") if size == 2 else values, known)
    for name, known in (("native8", h5t.COMPLEX_IEEE_F32LE), ("native16", h5t.COMPLEX_IEEE_F64BE)):
        dtype = "c8" if name == "native8" else ">c16"
        values = random(rng, dtype, (5, 4))
        made = low_level(file, name, np.empty((0,), "c8"), None, h5s.create_simple((5, 4)), known)
        made.write(h5s.ALL, h5s.ALL, values, known)
        size = np.dtype(dtype).itemsize * 8
        changed[name] = {"kind": "numbers", "dtype": f"complex{size}", "values": values, "shape": [5, 4]}
    file.create_dataset("long_double", data=rng.standard_normal(4).astype(np.longdouble))
    made = file.create_dataset("arrays", shape=(4,), dtype=np.dtype(("<f4", (2, 3))))
    made[...] = np.arange(24, dtype="<f4").reshape(4, 2, 3)
    file["type"] = np.dtype(">i4")
    file.create_dataset("committed", data=random(rng, ">i4", (5, 5)), dtype=file["type"])
    return changed


@case("not_numbers")
def not_numbers(file, rng):
    file["fixed_null"] = np.array([b"ab", b"", b"abcd"], "S4")
    padded = h5t.C_S1.copy()
    padded.set_size(5)
    padded.set_strpad(h5t.STR_SPACEPAD)
    low_level(file, "fixed_space", np.array([b"ab   ", b"abcde"], "S5"), file_type=padded)
    file.create_dataset("any_length", data=["eins", "zw\u00f6lf", ""], dtype=h5py.string_dtype())
    file.create_dataset("ascii", data=[b"one", b"two"], dtype=h5py.string_dtype("ascii"))
    record = np.dtype([("x", "<f4"), ("t", ">i8"), ("name", "S6"), ("v", "<u2", (3,))])
    rows = np.zeros((50,), record)
    rows["x"], rows["t"], rows["name"] = rng.standard_normal(50), np.arange(50), b"row"
    file["rows"] = rows
    file.create_dataset("rows_chunked", data=rows, chunks=(7,), compression=3, shuffle=True)
    word = "w\u00f6rter"
    words = np.array([f"{word[: number % 7]} {number}" for number in range(300)], object)
    grid = words[:198].reshape(18, 11)
    file.create_dataset("words", data=words, dtype=h5py.string_dtype(), chunks=(64,), compression=4)
    file.create_dataset("grid", data=grid, dtype=h5py.string_dtype(), chunks=(5, 4), shuffle=True, compression=1)
    utf8 = np.array([word.encode() for word in words], h5py.string_dtype(length=12))
    file.create_dataset("utf8", data=utf8, chunks=(40,), compression=4, shuffle=True)
    file.create_dataset("odd_bytes", data=np.array([b"\xff\xe2\x82a", b"\xc3"], "S4"))
    file.create_dataset("one_text", data="x,\"y\"\nz", dtype=h5py.string_dtype())
    inner = np.dtype([("a", ">i2"), ("text", "S3")])
    nested = np.zeros((6, 4), [("in", inner), ("f", "<f8"), ("s", h5py.string_dtype())])
    nested["in"]["a"], nested["f"] = rng.integers(-99, 99, (6, 4)), rng.standard_normal((6, 4))
    nested["in"]["text"], nested["s"] = b"ab", words[:24].reshape(6, 4)
    file["nested"] = nested
    file.create_dataset("nested_chunked", data=nested, chunks=(4, 3), compression=1)
    lists = file.create_dataset("lists", (3,), h5py.vlen_dtype("i4"))
    for number in range(3):
        lists[number] = np.arange(number)
    file.create_dataset("opaque", data=np.array([b"abc", b"xyz"], "V3"))
    file.create_dataset("object_reference", data=[file["rows"].ref], dtype=h5py.ref_dtype)
    region = file["rows"].regionref[2:5]
    file.create_dataset("region_reference", data=[region], dtype=h5py.regionref_dtype)
    file["numbers"] = random(rng, "i4", (4,))


case("not_numbers_old", version="earliest")(not_numbers)


@written("virtual")
def virtual(path, rng):
    with create(path, "latest") as file:
        layout = h5py.VirtualLayout((4, 10), "i4", maxshape=(4, 10))
        for number in range(3):
            file[f"part{number}"] = random(rng, "i4", (10,))
            layout[number] = h5py.VirtualSource(path.name, f"part{number}", (10,))
        file.create_virtual_dataset("all", layout, fillvalue=-5)


def scales(file, rng):
    file["lat"], file["lon"] = np.linspace(-90, 90, 7), np.linspace(0, 350, 9).astype("f4")
    file["temp"] = random(rng, "f4", (3, 7, 9))
    for name in ("lat", "lon"):
        file[name].make_scale(name)
        file[name].attrs["units"] = "degrees"
    file["temp"].dims[0].label = "time"
    file["temp"].dims[1].attach_scale(file["lat"])
    file["temp"].dims[2].attach_scale(file["lon"])
    file["plain"] = random(rng, "i4", (3, 2))
    file["temp"].attrs["valid"] = np.array([1.5, 2.5], "f4")
    file["temp"].attrs["count"] = np.uint64(2**63 + 5)
    file.attrs["title"] = "scales"


case("scales")(scales)
case("scales_old", version="earliest")(scales)


@case("attributes")
def attributes(file, rng):
    file["a"] = random(rng, "i4", (3,))
    dataset = file["a"]
    for number in range(300):
        dataset.attrs[f"n{number}"] = number
    dataset.attrs["large"] = np.arange(40_000)
    dataset.attrs["text"] = "gr\u00fc\u00df dich"
    dataset.attrs["fixed"] = np.bytes_(b"fixed text")
    dataset.attrs["texts"] = ["a", "bc", ""]
    dataset.attrs["empty"] = h5py.Empty("f4")
    dataset.attrs["bool"] = True
    dataset.attrs["reference"] = dataset.ref


@case("big_chunks")
def big_chunks(file, rng):
    file.create_dataset("raw", data=smooth(rng, "f4", (800, 900)), chunks=(700, 800))
    file.create_dataset("packed", data=smooth(rng, "f8", (800, 900)), chunks=(500, 900), compression=1, shuffle=True)
    file.create_dataset("larger", shape=(5, 5), maxshape=(None, None), chunks=(300, 1000), dtype="i4",
                        compression=1)
    file["larger"][...] = smooth(rng, "i4", (5, 5))


@case("names")
def names(file, rng):
    for name in ("gr\u00fc\u00dfe", "\u6e29\u5ea6/\u5024", "a b", "x[0]", "#1", "dot.ted", "line\nbreak", "\U0001f600",
                 'quote"', "comma,", "-dash", "=is", "\u202eback"):
        file[name] = random(rng, "i2", (3,))


@case("aliases")
def aliases(file, rng):
    file["a/b/c"] = random(rng, "i2", (6,))
    file["z"] = file["a/b/c"]
    file["second"] = file["a/b"]
    file["a/self"] = file["a"]
    file["a/root"] = file["/"]
    file["s"] = h5py.SoftLink("a/b")


def main():
    """Writes every case and its truth."""
    folder, seed = pathlib.Path(sys.argv[1]).absolute(), int(sys.argv[2])
    warnings.simplefilter("ignore")
    (folder / "files").mkdir(parents=True, exist_ok=True)
    for name, write in CASES.items():
        path = folder / "files" / f"{name}.h5"
        print(name, flush=True)
        found = write(path, generator(seed, name))
        closed = found if isinstance(found, pathlib.Path) else None
        hdf5_truth.record(path, folder / "truth", None if closed else found, closed)
        if closed:
            closed.unlink()
    print(len(CASES), "files")


if __name__ == "__main__":
    main()
