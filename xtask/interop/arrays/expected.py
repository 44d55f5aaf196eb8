"""Datasets that may be refused: (family, file, dataset, message, reason). The first four are patterns.

A refusal that no line describes fails. A line does not ask for a refusal: equal values are fine.
"""

import fnmatch
import re

REFUSALS = [
    ("hdf5", "filter_lossy.h5", "sz", "sz|32017", "SZ is not supported"),
    ("hdf5", "filter_lossy.h5", "sperr", "sperr|32028", "SPERR is not supported"),
    ("hdf5", "filter_nbit.h5", "float20*", "float", "a float of 20 bits has no type"),
    ("hdf5", "numbers_unusual.h5", "long_double", "float80", "a float of 80 bits has no type"),
    ("hdf5", "virtual.h5", "all", "virtual", "a view of other datasets"),
    ("netcdf", "*", "*", "quantiz", "quantized by an unknown method"),
    ("wild", "*", "*", "lzo|ucl|305", "LZO and UCL are not supported"),
    ("wild", "float.h5", "longdouble", "float80", "a float of 80 bits has no type"),
    ("wild", "*", "*", "bitfield", "bits without a meaning as numbers"),
    ("wild", "*", "*", "elements that are arrays|array type", "elements that are arrays"),
]


def reason(family, file, dataset, message):
    """Why a refusal is expected, or None."""
    for of, files, datasets, words, why in REFUSALS:
        is_place = of == family and fnmatch.fnmatch(file, files) and fnmatch.fnmatch(dataset, datasets)
        if is_place and re.search(words, message, re.IGNORECASE):
            return why
    return None
