"""Messages of the `tensogram` package, drawn by lot: every type, codec, mask and place of a frame."""

import numpy as np
import tensogram

# Bits of an element, and of a number that has an order of bytes.
DTYPES = {
    "float16": (16, 16),
    "bfloat16": (16, 16),
    "float32": (32, 32),
    "float64": (64, 64),
    "complex64": (64, 32),
    "complex128": (128, 64),
    "int8": (8, 8),
    "int16": (16, 16),
    "int32": (32, 32),
    "int64": (64, 64),
    "uint8": (8, 8),
    "uint16": (16, 16),
    "uint32": (32, 32),
    "uint64": (64, 64),
    "bitmask": (1, 8),
}
# NaN, infinity and -infinity, as masks restore them.
SPECIAL = {
    "float16": (16, [0x7E00, 0x7C00, 0xFC00]),
    "bfloat16": (16, [0x7FC0, 0x7F80, 0xFF80]),
    "float32": (32, [0x7FC00000, 0x7F800000, 0xFF800000]),
    "float64": (64, [0x7FF8 << 48, 0x7FF0 << 48, 0xFFF0 << 48]),
    "complex64": (32, [0x7FC00000, 0x7F800000, 0xFF800000]),
    "complex128": (64, [0x7FF8 << 48, 0x7FF0 << 48, 0xFFF0 << 48]),
}
METHODS = ["none", "rle", "roaring", "lz4", "zstd"]
NUMBERS = [0, -1, 2**53 + 1, 2**63 - 1, 0.1, 1.5, -2.5e300]
SAID = [*NUMBERS, "", "caf\u00e9", True, None, [1, [2.5]], {"b": {"a": 1}}]


def pick(rng, choices):
    """One of some choices, as it is."""
    return choices[int(rng.integers(len(choices)))]


def message(rng, is_old):
    """A message: its bytes, its sheet, and the elements of its objects."""
    allowed = {"allow_nan": True, "allow_inf": True}
    for key in ["nan_mask_method", "pos_inf_mask_method", "neg_inf_mask_method"]:
        allowed[key] = pick(rng, METHODS)
    if rng.random() < 0.7:
        allowed["small_mask_threshold_bytes"] = 0
    options = {"hash": pick(rng, ["xxh3", "xxh3", None])}
    objects = [drawn(rng) for _ in range(pick(rng, [0, 1, 1, 2, 3, 5]))]
    base = [said(rng) for _ in objects]
    extra = said(rng)
    pairs = [(descriptor, given) for descriptor, given, _ in objects]
    whole = {"base": base, "_extra_": extra} if extra else {"base": base}
    if rng.random() < 0.5:
        if not is_old and rng.random() < 0.5:
            options["aggregate_hash"] = pick(rng, ["header", "footer", "both", "none"])
        stored = tensogram.encode(whole, pairs, **options, **allowed)
    else:
        encoder = tensogram.StreamingEncoder(whole, **options, **allowed)
        for descriptor, given in pairs:
            encoder.write_object(descriptor, given)
        is_long = not is_old and rng.random() < 0.5
        stored = encoder.finish_backfilled() if is_long else encoder.finish()
    found = tensogram.decode(stored).objects
    contents = []
    for (descriptor, _, wanted), (_, values) in zip(objects, found):
        content = np.ascontiguousarray(values).tobytes()
        assert wanted is None or content == wanted, f"the package spoils {descriptor}"
        contents.append(content)
    lines = [
        {"dtype": it["dtype"], "shape": it["shape"], "len": len(content)}
        for (it, _, _), content in zip(objects, contents)
    ]
    return stored, {"base": base, "extra": extra, "objects": lines}, b"".join(contents)


def said(rng):
    """What is said of something."""
    return {f"key{number}": pick(rng, SAID) for number in range(int(rng.integers(0, 4)))}


def drawn(rng):
    """An object: descriptor, what is given to the package, and the elements if they are kept."""
    if rng.random() < 0.2:
        return packed(rng)
    dtype = str(pick(rng, list(DTYPES)))
    shape = [int(extent) for extent in rng.integers(0, 7, size=rng.integers(0, 5))]
    if rng.random() < 0.3:
        shape = [int(rng.integers(500, 60_000))]
    descriptor = {"type": "ntensor", "dtype": dtype, "shape": shape}
    bits, unit = DTYPES[dtype]
    length = -(-int(np.prod(shape, dtype=np.int64)) * bits // 8)
    content = elements(rng, dtype, length)
    given = content
    if rng.random() < 0.4:
        descriptor["byte_order"] = "big"
        given = np.frombuffer(content, f"<u{unit // 8}").byteswap().tobytes()
    if dtype == "bitmask":
        descriptor["compression"] = pick(rng, ["none", "zstd", "lz4", "rle", "roaring"])
        return descriptor, np.frombuffer(given, np.uint8), content
    compress(rng, descriptor, bits, length)
    return descriptor, given, content


def elements(rng, dtype, length):
    """Finite elements of some kind or other, and specials among them."""
    spread = pick(rng, [2, 5, 200])
    content = rng.integers(0, spread, size=length).astype(np.uint8)
    if rng.random() < 0.3:
        content = np.sort(content)
    if dtype not in SPECIAL:
        return content.tobytes()
    bits, special = SPECIAL[dtype]
    numbers = content.view(f"<u{bits // 8}")
    # No exponent is all ones.
    numbers &= numbers.dtype.type(~(special[1] & -special[1]) % (1 << bits))
    if rng.random() < 0.5:
        per_element = 2 if dtype.startswith("complex") else 1
        numbers = numbers.reshape(-1, per_element)
        for value in special:
            numbers[rng.random(len(numbers)) < pick(rng, [0, 0.001, 0.3])] = value
    return content.tobytes()


def compress(rng, descriptor, bits, length):
    """Filter and compression of whole elements."""
    if rng.random() < 0.4:
        # Nobody reads what is shuffled by another size than that of the elements any worse.
        sizes = [size for size in [1, 2, 3, 4, 8, 16, bits // 8] if length % size == 0]
        descriptor["filter"] = "shuffle"
        descriptor["shuffle_element_size"] = pick(rng, sizes)
    # Not blosc2: the package crashes now and then when it decodes what it wrote.
    words = ["none", "zstd", "lz4", "szip"]
    word = pick(rng, words if bits <= 32 or "filter" in descriptor else words[:3])
    if word == "szip" and length == 0:
        return
    if word == "szip":
        descriptor["szip_rsi"] = pick(rng, [1, 2, 16, 128, 4096])
        descriptor["szip_block_size"] = pick(rng, [8, 16, 32, 64])
        descriptor["szip_flags"] = pick(rng, [0, 8])
    if word == "zstd":
        descriptor["zstd_level"] = pick(rng, [-5, 1, 3, 19])
    descriptor["compression"] = word


def packed(rng):
    """Doubles as packed numbers."""
    count = pick(rng, [1, 2, 37, 1000, 30_000])
    values = rng.normal(280, 20, size=count) * pick(rng, [1, 1e-40, 1e12])
    if rng.random() < 0.2:
        values[:] = values[0]
    bits = pick(rng, [0, 1, 7, 8, 12, 16, 17, 24, 31, 32, 53, 63, 64])
    parameters = {"sp_bits_per_value": bits}
    if bits == 0:
        parameters = tensogram.compute_packing_params(values, bits, 0)
    descriptor = {"type": "ntensor", "dtype": "float64", "shape": [count], **parameters}
    descriptor["encoding"] = "simple_packing"
    words = ["none", "zstd", "lz4"]
    words += ["szip"] if bits in (8, 16, 24, 32) else []
    word = pick(rng, words)
    descriptor["compression"] = word
    if word == "szip":
        descriptor.update(szip_rsi=128, szip_block_size=16, szip_flags=pick(rng, [0, 8]))
    return descriptor, values, None
