"""Makes the .gguf files of this folder with gguf 0.19; see README.md."""
from pathlib import Path

import gguf
import numpy as np

HERE = Path(__file__).parent


def values(count):
    """Element i, row-major, is (i * 37 + 11) mod 101 - 50."""
    return (np.arange(count, dtype=np.int64) * 37 + 11) % 101 - 50


def model(name, endianess, alignment=None):
    writer = gguf.GGUFWriter(HERE / name, "test", endianess=endianess)
    if alignment:
        writer.add_custom_alignment(alignment)
    writer.add_string("general.name", "a small model")
    writer.add_uint64("count", 2**63 + 1)
    writer.add_float32("scale", 0.1)
    writer.add_bool("is.small", True)
    writer.add_array("tokens", ["<s>", "a\"b", "\u00e9"])
    writer.add_array("scores", [0.5, -1.0, 2.25])
    writer.add_array("long", list(range(2000)))
    for code in "f4 f2 f8 i1 i2 i4 i8".split():
        writer.add_tensor(f"plain.{code}", values(12).reshape(3, 4).astype(code))
    rows = values(64).reshape(2, 32).astype(np.float32)
    for kind in (gguf.GGMLQuantizationType.Q4_0, gguf.GGMLQuantizationType.Q8_0):
        packed = gguf.quants.quantize(rows, kind)
        writer.add_tensor(f"blocks.{kind.name}", packed, raw_dtype=kind)
    bits = gguf.quants.quantize(rows, gguf.GGMLQuantizationType.BF16)
    writer.add_tensor("plain.bf16", bits, raw_dtype=gguf.GGMLQuantizationType.BF16)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


model("little.gguf", gguf.GGUFEndian.LITTLE)
model("big.gguf", gguf.GGUFEndian.BIG, alignment=64)
