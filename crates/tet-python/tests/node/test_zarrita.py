"""zarrita.js reads the stored bytes of every container in place, by references of kerchunk to files on a server."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import tetfile

sys.path.insert(0, str(Path(__file__).parent.parent))
from containers import CONTAINERS, write  # noqa: E402
from test_references import refused  # noqa: E402

# Where npm installed the packages.
FOLDER = Path(os.environ["TET_NODE"])
# Types that it does not know.
UNKNOWN = ("float16", "complex")


class Ranges(SimpleHTTPRequestHandler):
    """Files of the current folder, by ranges too."""

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        content = Path(self.translate_path(self.path)).read_bytes()
        asked = self.headers.get("Range")
        if asked is None:
            self.send_response(200)
        else:
            start, end = (int(number) for number in asked.removeprefix("bytes=").split("-"))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{end}/{len(content)}")
            content = content[start : end + 1]
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server of the folder."""
    monkeypatch.chdir(tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), Ranges) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarrita_reads_what_was_written(name: str, zarr_format: Literal[2, 3], tmp_path: Path, url: str) -> None:
    path, arrays = write(tmp_path, name)
    with tetfile.open(path) as f:
        left = refused(f)
        f.to_references("all.json", exclude=left, inline=0, zarr_format=zarr_format, url=f"{url}/{path.name}")
        # It has no arrays without elements.
        names = [key for key in f if key not in left and arrays[key].size and not key.startswith(UNKNOWN)]
    command = ["node", FOLDER / "read.mjs", f"{url}/all.json", str(zarr_format), *names]
    printed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert printed.returncode == 0, printed.stderr
    found = json.loads(printed.stdout)
    assert len(found) == len(names) >= 10
    for key, one in found.items():
        array = arrays[key].astype(arrays[key].dtype.newbyteorder("="))
        assert one["shape"] == list(array.shape), key
        if "element" in one:
            element = {"true": "1", "false": "0"}.get(one["element"], one["element"])
            assert np.array(element).astype(float) == array, key
        else:
            assert base64.b64decode(one["bytes"]) == array.tobytes(), key
