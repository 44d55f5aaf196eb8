// Prints arrays of a hierarchy, given by references of kerchunk: node read.mjs URL VERSION NAME...
import { ReferenceStore } from "@zarrita/storage";
import * as zarr from "zarrita";

const [url, version, ...names] = process.argv.slice(2);
const root = zarr.root(await ReferenceStore.fromUrl(url));
const open = version === "2" ? zarr.open.v2 : zarr.open.v3;
const found = {};
for (const name of names) {
  const array = await open(root.resolve(name), { kind: "array" });
  const got = await zarr.get(array);
  if (typeof got !== "object") {
    // An array without axes is its element, and a BigInt if that has 64 bits.
    found[name] = { shape: [], element: String(got) };
    continue;
  }
  // Arrays of bool have a class of their own.
  const data = ArrayBuffer.isView(got.data) ? got.data : new Uint8Array(got.data.buffer);
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  found[name] = { shape: got.shape, bytes: bytes.toString("base64") };
}
console.log(JSON.stringify(found));
