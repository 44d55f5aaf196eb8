"""Makes the .fits files of this folder with astropy 8.0; see README.md."""
from pathlib import Path

import numpy as np
from astropy.io import fits

HERE = Path(__file__).parent


def values(count):
    """Element i, row-major, is (i * 37 + 11) mod 101 - 50."""
    return (np.arange(count, dtype=np.int64) * 37 + 11) % 101 - 50


def image(name, code, version=None, **cards):
    made = fits.ImageHDU(values(12).reshape(3, 4).astype(code), name=name, ver=version)
    made.header.update({key.upper(): value for key, value in cards.items()})
    return made


def scaled(name, code, scale=1, zero=0, blank=None):
    made = fits.ImageHDU(values(12).reshape(3, 4).astype(code), name=name)
    for key, value in (("BSCALE", scale), ("BZERO", zero), ("BLANK", blank)):
        if value is not None:
            made.header[key] = value
    return made


primary = fits.PrimaryHDU()
primary.header["TELESCOP"] = ("a telescope", "with a comment")
primary.header["LONG"] = "a text that is longer than one card, " * 3
primary.header["HIERARCH ESO TEL ALT"] = 45.5
primary.header["QUOTED"] = "O'HARA"
primary.header["COUNT"] = 2**62 + 1
primary.header["DONE"] = True
primary.header["PAIR"] = 1.5 - 2j
primary.header["NOTHING"] = None
primary.header.add_comment("one line")
primary.header.add_comment("another line")
primary.header.add_history("made by a script")
units = [primary]
for code in "u1 i2 i4 i8 f4 f8 u2 u4 u8 i1".split():
    stored = values(12).reshape(3, 4) + (50 if code[0] == "u" else 0)
    units.append(fits.ImageHDU(stored.astype(code), name=f"P_{code}".upper()))
units += [image("SCI", "i2", 1, bunit="adu"), image("SCI", "i2", 2)]
units.append(scaled("SCALED", "i2", 0.1, 20.5, 0))
units.append(scaled("WIDE", "i4", 0.1, 20.5))
units.append(scaled("BLANKED", "i4", 1, 0, -39))
units.append(fits.BinTableHDU.from_columns([fits.Column("x", "E", array=np.arange(5.0))], name="ROWS"))
units.append(fits.CompImageHDU(values(12).reshape(3, 4).astype("i2"), name="SMALL"))
fits.HDUList(units).writeto(HERE / "units.fits", overwrite=True, checksum=True)
primary = fits.PrimaryHDU(values(24).reshape(2, 3, 4).astype("f4"))
primary.writeto(HERE / "cube.fits", overwrite=True)


def tiled(name, codec, code, tile, **more):
    """An image of 5 x 7 in tiles."""
    stored = values(35).reshape(5, 7) + (50 if code[0] == "u" or codec == "PLIO_1" else 0)
    if code[0] == "f":
        more = {"quantize_level": 0.0, **more}
    return fits.CompImageHDU(stored.astype(code), name=name, compression_type=codec, tile_shape=tile, **more)


def quantized(name, code, method):
    """An image of 6 x 40 in rows: noise, values that are no numbers, zeros, and a row of one value."""
    stored = np.random.default_rng(method + 7).standard_normal((6, 40)) * 10
    stored[1, 3:6], stored[2], stored[4, ::3] = np.nan, 3.25, 0
    more = {"quantize_level": 16.0, "quantize_method": method, "dither_seed": 9997}
    return fits.CompImageHDU(stored.astype(code), name=name, compression_type="RICE_1", **more)


def lossy(name, code, scale, smooth, **more):
    """An image of 19 x 26 in tiles of 12 x 13: a slope, and a star."""
    row, column = np.indices((19, 26))
    stored = 100 * row + 31 * column + 9000 * np.exp(-((row - 8) ** 2 + (column - 11) ** 2) / 9)
    if code[0] == "f":
        stored += np.random.default_rng(5).standard_normal((19, 26))
    more = {"compression_type": "HCOMPRESS_1", "hcomp_scale": scale, "hcomp_smooth": smooth, **more}
    return fits.CompImageHDU(stored.astype(code), name=name, tile_shape=(12, 13), **more)


units = [
    fits.PrimaryHDU(),
    tiled("RICE_I2", "RICE_1", "i2", (2, 3)),
    tiled("RICE_U4", "RICE_1", "u4", None),
    tiled("RICE_U1", "RICE_1", "u1", (5, 7)),
    tiled("GZIP_I8", "GZIP_1", "i8", (2, 3)),
    tiled("SHUFFLED_F4", "GZIP_2", "f4", (4, 9)),
    tiled("PLAIN_U2", "NOCOMPRESS", "u2", (1, 4)),
    tiled("PLIO_I2", "PLIO_1", "i2", (3, 7)),
    quantized("NEAREST", "f4", -1),
    quantized("DITHERED", "f4", 1),
    quantized("ZEROS", "f8", 2),
    tiled("HCOMPRESS_I2", "HCOMPRESS_1", "i2", (5, 7)),
    lossy("LOSSY", "i4", 90, 0),
    lossy("SMOOTHED", "i2", 90, 1),
    lossy("LOSSY_FLOATS", "f4", 3, 1, quantize_level=16.0, quantize_method=1, dither_seed=9),
]
for unit in units[1:]:
    unit.header["BUNIT"] = "adu"
fits.HDUList(units).writeto(HERE / "tiles.fits", overwrite=True)
with fits.open(HERE / "tiles.fits") as made:
    # What astropy makes of the integers.
    names = ("NEAREST", "DITHERED", "ZEROS", "LOSSY", "SMOOTHED", "LOSSY_FLOATS")
    truth = [fits.ImageHDU(np.array(made[name].data), name=name) for name in names]
    fits.HDUList([fits.PrimaryHDU(), *truth]).writeto(HERE / "tiles_decoded.fits", overwrite=True)
