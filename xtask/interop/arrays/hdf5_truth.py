"""What an HDF5 file contains, according to h5py and libhdf5.

Chunk places are checked before they are recorded: the bytes there must be those that libhdf5 reads
for the same chunk. Where they are not, the dataset has `places_wrong`.
"""

import h5py
import hdf5plugin  # noqa: F401, registers the filters
import numpy as np
from h5py import h5d, h5s, h5t

from truth import Truth, attribute, texts

# Written by netCDF4 and by dimension scales; no attribute of a user.
HIDDEN = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Dimid"}
HIDDEN |= {"_Netcdf4Coordinates", "_NCProperties", "_nc3_strict"}
PLACES_MAX = 20_000
# Chunks that are looked up one by one.
BY_ONE_MAX = 1000


def record(path, truth_folder, override=None, closed=None):
    """Writes the truth of a file: `override` has changes by name, `closed` the file without flags."""
    truth = Truth(truth_folder, path.name, "hdf5")
    override = override or {}
    with h5py.File(closed or path, "r", locking=False) as file, path.open("rb") as stored:
        for names, dataset in walk(file):
            entry = {"kind": "other", "shape": [], "dtype": "unreadable"}
            try:
                entry = described(dataset) if dataset else entry
            except (OSError, TypeError, ValueError, NotImplementedError) as error:
                entry["why"] = str(error)
            more = {"aliases": names[1:], **entry}
            more.update(override.get(names[0], {}))
            if more["kind"] == "numbers" and more.get("chunks") is None:
                more.update(places(dataset, stored))
            parts = more.pop("members", [])
            truth.dataset(names[0], more.pop("kind"), more.pop("shape"), more.pop("dtype"), **more)
            for name, part in parts:
                truth.dataset(f"{names[0]}.{name}", is_part=True, **part)
    truth.write()


def walk(file):
    """Every dataset once, with all its names: breadth first along hard links, then soft ones."""
    found, soft = {}, []
    # A path does not pass a group twice.
    order = [("", file, (key(file),))]
    for prefix, group, passed in order:
        for name in group:
            path, link = prefix + name, group.get(name, getlink=True)
            if isinstance(link, h5py.SoftLink):
                soft.append(path)
            if not isinstance(link, h5py.HardLink):
                continue
            thing = group.get(name)
            if thing is None:
                # libhdf5 cannot read it.
                found[path] = ([path], None)
            if isinstance(thing, h5py.Dataset):
                found.setdefault(key(thing), ([], thing))[0].append(path)
            elif isinstance(thing, h5py.Group) and key(thing) not in passed:
                order.append((path + "/", thing, (*passed, key(thing))))
    for path in soft:
        try:
            thing = file.get(path)
        except (OSError, KeyError, ValueError, RuntimeError):
            continue
        if isinstance(thing, h5py.Dataset) and key(thing) in found:
            found[key(thing)][0].append(path)
    return list(found.values())


def key(thing):
    return h5py.h5o.get_info(thing.id).addr


def described(dataset):
    """Kind, type, values and attributes of a dataset."""
    file_type = dataset.id.get_type()
    entry = {"kind": "other", "shape": list(dataset.shape or ()), "dtype": str(file_type.get_class())}
    entry["attrs"] = attributes(dataset)
    entry["dims"] = dimensions(dataset)
    if dataset.shape is None:
        return {**entry, "dtype": "null", "why": "a null dataspace has no elements"}
    if file_type.get_class() == h5t.STRING:
        return {**entry, "kind": "text", "dtype": "text", "texts": texts(dataset[()])}
    dtype = dataset.dtype
    if file_type.get_class() == h5t.COMPOUND and dtype.kind != "c":
        return {**entry, "dtype": "compound", "members": list(members(dataset[()]))}
    if file_type.get_class() not in (h5t.INTEGER, h5t.FLOAT, h5t.ENUM, h5t.BITFIELD, h5t.ARRAY) and (
        dtype.kind != "c"
    ):
        return entry
    base = dtype.base
    if base.kind not in "biufc" or base.itemsize > 16 or str(base).strip("<>=") in ("f16", "c32"):
        return entry
    values = dataset[()]
    entry.update(kind="numbers", dtype=base.newbyteorder("=").name, shape=list(np.shape(values)))
    if file_type.get_class() == h5t.BITFIELD:
        entry["class"] = "bitfield"
    if file_type.get_class() == h5t.ARRAY:
        entry["class"] = "array"
    return {**entry, "values": np.asarray(values)}


def members(values):
    """Names and entries of the members of structures that are numbers or texts."""
    for name in values.dtype.names:
        member = values[name]
        base = member.dtype
        if base.names == ("r", "i"):
            continue
        if base.names:
            yield from ((f"{name}.{inner}", part) for inner, part in members(member))
        elif h5py.check_string_dtype(base) or base.kind == "S":
            yield name, {"kind": "text", "dtype": "text", "shape": list(member.shape), "texts": texts(member)}
        elif base.kind in "biufc" and base.itemsize <= 16 and str(base).strip("<>=") not in ("f16", "c32"):
            yield name, {
                "kind": "numbers",
                "dtype": base.newbyteorder("=").name,
                "shape": list(member.shape),
                "values": np.asarray(member),
            }


def attributes(thing):
    """The plain attributes of an object."""
    found = {}
    for name in thing.attrs:
        if name in HIDDEN:
            continue
        try:
            value = attribute(thing.attrs[name])
        except (OSError, TypeError, ValueError):
            continue
        if value is not None:
            found[name] = value
    return found


def dimensions(dataset):
    """Names of the axes: the first scale's, or the label; None without any."""
    if not dataset.shape or "DIMENSION_LIST" not in dataset.attrs and not any(
        axis.label for axis in dataset.dims
    ):
        return None
    names = []
    for axis in dataset.dims:
        scales = list(axis.values())
        names.append(scales[0].name.rsplit("/", 1)[1] if scales else axis.label or None)
    return names


def stored_chunks(identity, count):
    """What is known of each chunk. One pass where there are many: the library looks each up from the first on."""
    if count <= BY_ONE_MAX:
        return [identity.get_chunk_info(number) for number in range(count)]
    found = []
    identity.chunk_iter(found.append)
    return found


def places(dataset, stored):
    """Where the chunks are, where that is right."""
    identity = dataset.id
    layout = identity.get_create_plist().get_layout()
    if layout != h5d.CHUNKED:
        place = identity.get_offset()
        return {"offset": place} if place is not None else {}
    count = identity.get_num_chunks(h5s.ALL if hasattr(h5s, "ALL") else None)
    if count > PLACES_MAX:
        return {"chunk_shape": list(dataset.chunks)}
    found, is_wrong, size = [], False, 0
    for chunk in stored_chunks(identity, count):
        size += chunk.size
        if any(at >= extent for at, extent in zip(chunk.chunk_offset, dataset.shape)):
            continue
        coord = [at // step for at, step in zip(chunk.chunk_offset, dataset.chunks)]
        found.append([coord, chunk.byte_offset, chunk.size, chunk.filter_mask])
        stored.seek(chunk.byte_offset)
        try:
            mask, payload = identity.read_direct_chunk(chunk.chunk_offset)
        except (OSError, RuntimeError):
            is_wrong = True
            continue
        is_wrong |= stored.read(chunk.size) != payload or mask != chunk.filter_mask
    is_wrong |= size != identity.get_storage_size()
    # Where the unlimited axis is not the first, chunks outside of the shape are those with wrong coordinates.
    is_wrong |= len(found) < count and dataset.maxshape[0] is not None and None in dataset.maxshape
    entry = {"chunk_shape": list(dataset.chunks), "chunks": found}
    return {**entry, "places_wrong": True} if is_wrong else entry
