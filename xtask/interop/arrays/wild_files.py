"""Files that others wrote, with true values: python wild_files.py FOLDER SEED [SOURCE ...].

NetCDF samples come from the package `iris-sample-data`. Each SOURCE is a folder of more files, such
as what the Debian package `python-tables-data` has. The seed changes nothing.
"""

import pathlib
import shutil
import sys
import warnings

import h5py
import iris_sample_data

import hdf5_truth
import netcdf_files

SIZE_MAX = 64 << 20


def main():
    """Copies every file that can be read, and writes its truth."""
    folder, sources = pathlib.Path(sys.argv[1]), [pathlib.Path(it) for it in sys.argv[3:]]
    warnings.simplefilter("ignore")
    (folder / "files").mkdir(parents=True, exist_ok=True)
    samples = pathlib.Path(iris_sample_data.__file__).parent
    paths = [path for source in (samples, *sources) for path in sorted(source.rglob("*")) if path.is_file()]
    count = 0
    for path in paths:
        with path.open("rb") as file:
            start = file.read(8)
        is_hdf5 = h5py.is_hdf5(path)
        if path.stat().st_size > SIZE_MAX or not (is_hdf5 or start.startswith(b"CDF")):
            continue
        name = path.name if not (folder / "files" / path.name).exists() else f"{path.parent.name}_{path.name}"
        copy = folder / "files" / name
        shutil.copy(path, copy)
        try:
            if path.suffix == ".nc":
                netcdf_files.record(copy, folder / "truth")
            else:
                hdf5_truth.record(copy, folder / "truth")
            count += 1
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            print(f"left out: {name}: {type(error).__name__}: {error}")
            copy.unlink()
    print(count, "files")


if __name__ == "__main__":
    main()
