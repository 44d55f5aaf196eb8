"""The tests that xarray has for its own engines, with files that xarray writes and the engine ``tet`` opens."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import xarray
from xarray.tests import test_backends as suite
from xarray.tests.conftest import time_unit, use_dask  # noqa: F401
from xarray.tests.test_backends import default_zarr_format  # noqa: F401

# Their warnings are those of xarray's own engines, which write the files.
pytestmark = pytest.mark.filterwarnings("default")

# Tests that do not pass, by the reason: a test, or one case of it.
EXPECTED = {
    "texts are str; xarray's engines give bytes of what a file does not mark as UTF-8": """
        test_default_to_char_arrays test_roundtrip_bytes_with_fill_value test_roundtrip_character_array
        test_roundtrip_object_dtype test_zero_dimensional_variable test_to_zarr_append_compute_false_roundtrip""",
    "the encoding does not have how texts are stored": """
        TestNetCDF3.test_encoding_kwarg_fixed_width_string TestNetCDF4.test_encoding_kwarg_fixed_width_string
        TestNetCDF4Classic.test_encoding_kwarg_fixed_width_string
        TestNetCDF4WithDask.test_encoding_kwarg_fixed_width_string test_roundtrip_string_encoded_characters""",
    "the encoding does not have how chunks are compressed": """
        test_compression_encoding test_compressor_encoding
        test_encoding_kwarg_compression""",
    "the encoding has chunks as `chunksizes` and `preferred_chunks`, not by the names that to_zarr takes": """
        test_chunk_encoding test_chunk_encoding_with_dask test_shard_encoding[3]""",
    "values of an HDF5 enumeration are its numbers": """
        test_encoding_enum__multiple_variable_with_enum test_encoding_enum__no_fill_value""",
    "an option of the engine netcdf4": "test_roundtrip_complex",
    "an option of the engine zarr": """
        TestZarr.test_roundtrip_boolean_dtype test_roundtrip_boolean_dtype_legacy_int8 test_roundtrip_consolidated
        test_zarr_fill_value_in_encoding_on_read test_zarr_fill_value_setting""",
    "zarr itself does not do it in this version of the format": """
        test_dimension_names[2] test_hidden_zarr_keys[3] test_shard_encoding_with_dask[2]""",
    "zarr warns of a type when it writes": "test_warning_on_bad_chunks[3]",
}
REASONS = {name: reason for reason, names in EXPECTED.items() for name in names.split()}


@pytest.fixture(autouse=True)
def expected(request: pytest.FixtureRequest) -> None:
    """Marks a test of the table as one that fails: it is an error if it passes."""
    of = f"{request.cls.__name__}." if request.cls else ""
    names = (request.node.name, request.node.originalname)
    reason = next((REASONS[name] for name in (*names, *(of + name for name in names)) if name in REASONS), None)
    if reason is not None:
        request.node.add_marker(pytest.mark.xfail(reason=reason, strict=True))


class Opened:
    """Opens by the engine ``tet`` what the class writes by its own engine."""

    @contextlib.contextmanager
    def open(self, path: Any, **how: Any) -> Iterator[xarray.Dataset]:
        # How zarr looks for metadata.
        how.pop("consolidated", None)
        with xarray.open_dataset(path, engine="tet", **how) as found:
            yield found


class TestNetCDF4(Opened, suite.TestNetCDF4Data):
    pass


class TestNetCDF4WithDask(Opened, suite.TestNetCDF4ViaDaskData):
    pass


class TestNetCDF4Classic(Opened, suite.TestNetCDF4ClassicViaNetCDF4Data):
    pass


class TestNetCDF3(Opened, suite.TestNetCDF3ViaNetCDF4Data):
    pass


class TestZarr(Opened, suite.TestZarrDirectoryStore):
    pass


def test_the_table_has_no_names_that_are_no_tests() -> None:
    classes = [found for found in globals().values() if isinstance(found, type) and issubclass(found, Opened)]
    known = {name for found in classes for name in dir(found)}
    assert {name.split(".")[-1].split("[")[0] for name in REASONS} <= known
