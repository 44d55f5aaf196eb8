"""FITS files with true values: python fits_files.py FOLDER SEED.

Raw values are those of astropy with `do_not_scale_image_data`, but for the unsigned integers of FITS, which have
their unsigned type; decoded values are those of astropy by default.
"""

import pathlib
import sys
import warnings

import numpy as np
from astropy.io import fits

from truth import Truth, generator, random, smooth

STORED = ["u1", "i2", "i4", "i8", "f4", "f8"]
TURNED = ["i1", "u2", "u4", "u8"]
SHAPES = [(1,), (7,), (5, 3), (4, 1, 6), (2, 3, 4, 5), (0, 3), (3000, 411)]
CASES = {}


def case(name):
    """Registers a function that makes the units of a file."""

    def register(make):
        CASES[name] = make
        return make

    return register


def image(values, name, **cards):
    made = fits.ImageHDU(values, name=name)
    for key, value in cards.items():
        made.header[key] = value
    return made


for number, shape in enumerate(SHAPES):

    @case(f"types_{number}")
    def types(rng, shape=shape):
        yield fits.PrimaryHDU()
        for code in [*STORED, *TURNED]:
            yield image(random(rng, code, shape), f"V_{code.upper()}")


for code in [*STORED, *TURNED]:

    @case(f"primary_{code}")
    def primary(rng, code=code):
        made = fits.PrimaryHDU(random(rng, code, (9, 13)))
        made.header["OBJECT"], made.header["EXPTIME"] = "M 31", 12.5
        made.header["BUNIT"] = "electron / s"
        yield made


SCALES = [(0.1, 0), (1, 100), (0.001, 273.15), (-2.5e-7, 1e5), (2, 0), (1, 32767.5), (3, 32768), (1.1e30, -7.7e-30)]


@case("scaled")
def scaled(rng):
    yield fits.PrimaryHDU()
    for code in STORED:
        for number, (scale, zero) in enumerate(SCALES):
            values = random(rng, code, (11, 17))
            cards = {"BSCALE": scale, "BZERO": zero}
            if code[0] in "iu" and number % 2:
                cards["BLANK"] = int(values.flat[4])
            yield image(values, f"S_{code.upper()}_{number}", **cards)


@case("blank")
def blank(rng):
    yield fits.PrimaryHDU()
    for code in ("u1", "i2", "i4", "i8"):
        for value in (7, 50, 101):
            yield image(smooth(rng, code, (8, 30)), f"B_{code.upper()}_{value}", BLANK=value)
        # No pixel has the type of this one.
        yield image(smooth(rng, code, (8, 30)), f"O_{code.upper()}", BLANK=-(2**62))


@case("sums")
def sums(rng):
    yield fits.PrimaryHDU(random(rng, "i2", (50, 60)))
    for code in [*STORED, *TURNED]:
        yield image(random(rng, code, (31, 7)), f"C_{code.upper()}")


@case("names")
def names(rng):
    yield fits.PrimaryHDU(random(rng, "i4", (3, 4)))
    for version in (1, 2, 7):
        made = image(random(rng, "f4", (3, 4)), "SCI")
        made.ver = version
        yield made
    yield fits.ImageHDU(random(rng, "i2", (5,)))
    yield image(random(rng, "i2", (5,)), "with a space")


@case("cards")
def cards(rng):
    made = image(random(rng, "i2", (4, 4)), "CARDS")
    for number in range(400):
        made.header[f"KEY{number}"] = [int(rng.integers(-99, 99)), float(rng.standard_normal()), f"it's {number}"][number % 3]
    made.header["LONG"] = "word " * 100 + "end"
    made.header["HIERARCH ESO INS NAME"] = "a long keyword"
    yield from (fits.PrimaryHDU(), made)


@case("tables")
def tables(rng):
    yield fits.PrimaryHDU()
    columns = [fits.Column("x", "E", array=np.arange(9.0)), fits.Column("s", "8A", array=["star"] * 9)]
    yield fits.BinTableHDU.from_columns(columns, name="ROWS")
    yield fits.TableHDU.from_columns([fits.Column("x", "F8.3", array=np.arange(9.0))], name="TEXT")
    yield fits.BinTableHDU.from_columns([fits.Column("v", "PJ()", array=np.array([np.arange(3), np.arange(5)], object))])
    yield image(random(rng, "f8", (6, 5)), "AFTER")


def tiled(values, name, codec, tile=None, **more):
    """An image in tiles; floats keep their values unless `quantize_level` is stated."""
    if values.dtype.kind == "f":
        more = {"quantize_level": 0.0, **more}
    return fits.CompImageHDU(values, name=name, compression_type=codec, tile_shape=tile, **more)


# Shapes, and tiles that do not divide them; without tiles they are rows.
TILES = [((7,), None), ((300,), (64,)), ((40, 33), None), ((40, 33), (7, 10)), ((5, 12, 9), (2, 5, 4)), ((3, 4), (50, 60))]
CODECS = {"RICE_1": "u1 i2 i4 i1 u2 u4", "GZIP_1": "u1 i2 i4 i8 f4 f8 i1 u2 u4 u8", "PLIO_1": "u1 i2 i4"}
CODECS["GZIP_2"] = CODECS["NOCOMPRESS"] = CODECS["GZIP_1"]

for codec, codes in CODECS.items():

    @case(f"tiles_{codec.lower()}")
    def tiles(rng, codec=codec, codes=codes):
        yield fits.PrimaryHDU()
        for code in codes.split():
            for number, (shape, tile) in enumerate(TILES):
                values = smooth(rng, code, shape) if codec == "PLIO_1" or number % 2 else random(rng, code, shape)
                yield tiled(values, f"T_{code.upper()}_{number}", codec, tile)
            yield tiled(np.full((30, 21), 7, code), f"S_{code.upper()}", codec, (8, 8))
            yield tiled(np.zeros((30, 21), code), f"Z_{code.upper()}", codec, (8, 8))
        made = tiled(smooth(rng, "i2", (20, 30)), "SCALED", codec)
        made.header["OBJECT"], made.header["BUNIT"] = "M 31", "adu"
        yield made


METHODS = {"N": -1, "D1": 1, "D2": 2}


@case("tiles_quantized")
def quantized(rng):
    yield fits.PrimaryHDU()
    for code in ("f4", "f8"):
        for codec in ("RICE_1", "GZIP_1", "GZIP_2"):
            for method, number in METHODS.items():
                for seed in (1, 77, 9999, 10000):
                    values = (rng.standard_normal((41, 37)) * 10 + 1000).astype(code)
                    values[3, 4:9] = 0
                    more = {"quantize_level": 16.0, "quantize_method": number, "dither_seed": seed}
                    name = f"{code}_{codec}_{method}_{seed}".upper()
                    yield tiled(values, name, codec, (12, 11) if seed % 2 else None, **more)
                values = (rng.standard_normal((41, 37)) * 10 + 1000).astype(code)
                values[5, 5:9], values[40, :] = np.nan, np.nan
                more = {"quantize_level": -0.01, "quantize_method": number, "dither_seed": 5}
                yield tiled(values, f"{code}_{codec}_{method}_NAN".upper(), codec, **more)
                # Tiles of one value are not quantized, but zipped.
                values[:20] = 3.25
                yield tiled(values, f"{code}_{codec}_{method}_SAME".upper(), codec, **more)
        # More pixels than there are random numbers.
        values = (rng.standard_normal((150, 140)) * 3).astype(code)
        more = {"quantize_level": 4.0, "quantize_method": 1, "dither_seed": 9998}
        yield tiled(values, f"{code}_LONG".upper(), "RICE_1", (150, 140), **more)


# Tiles have two axes of at least four pixels each, also those at the edges.
FLAT = [((4, 4), None), ((16, 21), (16, 21)), ((40, 33), (20, 11)), ((41, 40), (7, 9)), ((3, 14, 9), (1, 5, 9))]
FLAT += [((70, 131), (70, 131)), ((37, 5), (16, 5)), ((6, 300), (6, 64))]


def sky(rng, code, shape, peak):
    """Noise, and a few stars."""
    values = rng.normal(peak / 50, peak / 400, shape)
    for _ in range(6):
        center = [rng.uniform(0, extent) for extent in shape]
        away = sum((place - at) ** 2 for place, at in zip(np.indices(shape), center))
        values += peak * rng.uniform(0.1, 0.8) * np.exp(-away / rng.uniform(1, 9))
    if code[0] == "f":
        return values.astype(code)
    # What is lost of a pixel does not move it beyond its type, where astropy takes the low bits.
    limits, rest = np.iinfo(code), 50 if np.dtype(code).itemsize == 1 else 1000
    return np.rint(np.clip(values, limits.min + rest, limits.max - rest)).astype(code)


@case("tiles_hcompress_1")
def hcompressed(rng):
    yield fits.PrimaryHDU()
    for code, peak in {"u1": 150, "i2": 20000, "i4": 10**9, "i1": 60, "u2": 30000, "u4": 10**9}.items():
        for number, (shape, tile) in enumerate(FLAT):
            tile = tile or shape
            values = smooth(rng, code, shape) if number % 2 else random(rng, code, shape)
            yield tiled(values, f"T_{code.upper()}_{number}", "HCOMPRESS_1", tile)
            for scale in (2, 5, 16):
                for smoothed in (0, 1):
                    more = {"hcomp_scale": scale, "hcomp_smooth": smoothed}
                    stars = sky(rng, code, shape, peak)
                    yield tiled(stars, f"L_{code.upper()}_{number}_{scale}_{smoothed}", "HCOMPRESS_1", tile, **more)
        yield tiled(np.full((30, 21), 7, code), f"S_{code.upper()}", "HCOMPRESS_1", (8, 7))
        yield tiled(np.zeros((30, 21), code), f"Z_{code.upper()}", "HCOMPRESS_1", (8, 7), hcomp_scale=9)


@case("tiles_hcompress_1_floats")
def hcompressed_floats(rng):
    yield fits.PrimaryHDU()
    for code in ("f4", "f8"):
        for number, (shape, tile) in enumerate(FLAT):
            for method, way in METHODS.items():
                # The second dithering has its least integers near the least of 32 bits, beyond which astropy wraps.
                for scale, smoothed in ((0, 0), (0, 1), (4, 0), (4, 1), (3 if method == "D2" else 33, 1)):
                    values = sky(rng, code, shape, 1000) / np.dtype(code).type(7)
                    more = {"quantize_level": 16.0, "quantize_method": way, "dither_seed": 77 * number + 9}
                    more |= {"hcomp_scale": scale, "hcomp_smooth": smoothed}
                    name = f"{code}_{number}_{method}_{scale}_{smoothed}".upper()
                    yield tiled(values, name, "HCOMPRESS_1", tile or shape, **more)


@case("tiles_scaled")
def tiles_scaled(rng):
    yield fits.PrimaryHDU()
    for code in ("u1", "i2", "i4"):
        for number, (scale, zero) in enumerate(SCALES):
            made = tiled(smooth(rng, code, (11, 17)), f"S_{code.upper()}_{number}", "RICE_1")
            made.header["BSCALE"], made.header["BZERO"] = scale, zero
            if number % 2:
                made.header["BLANK"] = 50
            yield made


def record(path, folder):
    """Writes the truth of a file."""
    truth = Truth(folder, path.name, "fits")
    raw, cooked = fits.open(path, do_not_scale_image_data=True), fits.open(path)
    with raw, cooked:
        for number, (one, other) in enumerate(zip(raw, cooked)):
            if number == 0 and one.header["NAXIS"] == 0:
                continue
            truth.dataset(name_of(one, number), **described(one, other))
    truth.write()


def name_of(unit, number):
    name = unit.header.get("EXTNAME", unit.name if isinstance(unit, fits.CompImageHDU) else None)
    version = unit.header.get("EXTVER", 1)
    if name is None:
        return f"HDU{number}" if number else "PRIMARY"
    return name if version == 1 else f"{name},{version}"


def described(raw, cooked):
    is_tiled = isinstance(raw, fits.CompImageHDU)
    if not (raw.is_image or is_tiled):
        return {"kind": "other", "shape": [], "dtype": "table"}
    cards = {it.keyword: it.value for it in raw.header.cards if isinstance(it.value, (str, int, float))}
    form = ("SIMPLE", "XTENSION", "BITPIX", "NAXIS", "EXTEND", "PCOUNT", "GCOUNT", "CHECKSUM", "DATASUM", "COMMENT", "HISTORY")
    attrs = {key: value for key, value in cards.items() if not key.startswith(form) and not isinstance(value, bool)}
    zero = raw.header.get("BZERO", 0)
    blank, decoded = raw.header.get("BLANK"), cooked.data
    stored = np.asarray(raw.data)
    if decoded.dtype.kind in "iu" and zero != 0:
        stored, decoded = np.asarray(decoded), None
        attrs = {key: value for key, value in attrs.items() if key not in ("BSCALE", "BZERO")}
    elif blank is not None and not (stored == blank).any() and raw.header.get("BSCALE", 1) == 1 and zero == 0:
        # No pixel is blank; astropy changes the type alone.
        bounds = np.iinfo(stored.dtype.newbyteorder("="))
        decoded = np.asarray(decoded) if bounds.min <= blank <= bounds.max else None
    elif decoded.dtype == stored.dtype and decoded.tobytes() == stored.tobytes():
        decoded = None
    else:
        decoded = np.asarray(decoded)
        if blank is not None:
            decoded = np.where(stored == blank, decoded.dtype.type(np.nan), decoded)
    dtype = stored.dtype.newbyteorder("=").name
    return {"kind": "numbers", "shape": stored.shape, "dtype": dtype, "values": stored, "decoded": decoded, "attrs": attrs}


def main():
    """Writes every case and its truth."""
    folder, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    warnings.simplefilter("ignore")
    (folder / "files").mkdir(parents=True, exist_ok=True)
    for name, make in CASES.items():
        path = folder / "files" / f"{name}.fits"
        fits.HDUList(list(make(generator(seed, name)))).writeto(path, checksum=name != "types_0")
        record(path, folder / "truth")
    print(len(CASES), "files")


if __name__ == "__main__":
    main()
