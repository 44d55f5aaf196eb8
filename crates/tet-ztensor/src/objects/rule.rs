//! The rules of versions 1 and 2 of the format, by id.
//!
//! `ZT2-C` the container, `ZT2-M` the manifest, `ZT2-T` its objects, `ZT2-B` blobs, `ZT2-H` shards,
//! `ZT2-S` sparse tensors, `ZT2-L` limits, `ZT2-N` notes.

tet_format::foreign_rules! { pub,
    "ZT2-C1" TRUNCATED "magic" Error Structure Decimal:
        "a file must hold its magic and its footer",
        "the file is cut short: fetch or copy it again";
    "ZT2-C2" MAGIC "magic" Error Structure Hexadecimal:
        "the first 8 bytes must be the magic of version 1 or 2",
        "";
    "ZT2-C3" MAGIC_END "footer" Error Structure Hexadecimal:
        "the last 8 bytes must be the magic",
        "the file is cut short or was appended to: fetch or copy it again";
    "ZT2-C4" VERSION "footer" Error Structure Decimal:
        "the version in the footer must be 2",
        "a newer program may read this file";
    "ZT2-C5" MANIFEST_BOUNDS "footer" Error Structure Decimal:
        "the manifest must lie between the magic and the footer",
        "the file is cut short: fetch or copy it again";
    "ZT2-C6" MANIFEST_ALIGNED "footer" Error Structure Decimal:
        "the manifest must start at a multiple of 4096, past the magic",
        "";
    "ZT2-C7" MANIFEST_HASH "manifest" Error Structure Hexadecimal:
        "the manifest must match its hash in the footer",
        "the file is damaged: fetch or copy it again";
    "ZT2-L1" LIMIT_MANIFEST "manifest" Error Structure Decimal:
        "the manifest must be no longer than the reader's limit",
        "";
    "ZT2-L2" LIMIT_ENTRIES "manifest" Error Structure Decimal:
        "objects, parts and shards must be no more than the reader's limit",
        "";
    "ZT2-L3" LIMIT_ITEMS "manifest" Error Structure Decimal:
        "an object, and the attributes of the file, must hold no more items than the reader's limit",
        "";
    "ZT2-M1" SYNTAX "manifest" Error Structure Hidden:
        "the manifest must be one well-formed CBOR item of the permitted types",
        "";
    "ZT2-M2" TRAILING "manifest" Error Structure Hidden:
        "no bytes may follow the map in the manifest",
        "";
    "ZT2-M3" DEPTH "manifest" Error Structure Hidden:
        "items of the manifest may nest no deeper than 32 levels",
        "";
    "ZT2-M4" FORM "manifest" Error Structure Hidden:
        "the manifest must be in deterministic encoding: shortest heads and sorted keys",
        "";
    "ZT2-M5" KEY_TWICE "manifest" Error Structure Hidden:
        "a key must stand once in a map",
        "";
    "ZT2-M6" ROOT "manifest" Error Structure Hidden:
        "the manifest must be a map with the map `objects`, in version 1 also the text `version`",
        "";
    "ZT2-M7" ATTRIBUTES "manifest" Error Structure Hidden:
        "attributes must be a map whose keys are names",
        "";
    "ZT2-T1" OBJECT_FORM "manifest" Error Structure Hidden:
        "an object must have a shape, a layout and at least one part, each of its type",
        "";
    "ZT2-T2" PART_FORM "manifest" Error Structure Hidden:
        "a part must have a dtype and the place of its blob, each of its type",
        "";
    "ZT2-T3" NAME "manifest" Error Structure Hidden:
        "names must have 1 to 1024 bytes and no NUL",
        "";
    "ZT2-T4" SHAPE "manifest" Error Structure Hidden:
        "a shape must have at most 64 axes, and elements and bytes must count up to less than 2^63",
        "";
    "ZT2-T5" DTYPE_KNOWN "manifest" Error Structure Hidden:
        "the dtype must be one of the format",
        "a newer program may read this object";
    "ZT2-T6" TYPE_FIT "manifest" Error Structure Hidden:
        "the logical type must be stored as its dtype",
        "";
    "ZT2-T7" DECODED_LEN "manifest" Error Structure Hidden:
        "a part must have a decoded length if it has an encoding, and only then",
        "";
    "ZT2-T8" DIGEST_FORM "manifest" Error Structure Hidden:
        "a digest must be an algorithm and its hexadecimal digits",
        "";
    "ZT2-T9" PARTS_FIT "manifest" Error Structure Hidden:
        "an object must have exactly the parts of its layout, of the types that it permits",
        "";
    "ZT2-T10" PART_LEN "manifest" Error Structure Decimal:
        "a part must be as long as its elements",
        "";
    "ZT2-B1" BLOB_ALIGNED "blob" Error Structure Decimal:
        "a blob must start at a multiple of the alignment, past the magic",
        "";
    "ZT2-B2" BLOB_BOUNDS "blob" Error Structure Decimal:
        "a blob must end before the footer",
        "the object's bytes are not all there: fetch or copy the file again";
    "ZT2-B3" BLOB_OVERLAP "blob" Error Structure Decimal:
        "two blobs must be the same or not overlap",
        "";
    "ZT2-B4" BLOB_DIGEST "blob" Error Elements Hexadecimal:
        "a part must match its digest",
        "`tet repair` puts one flipped bit back: else fetch or copy the file again";
    "ZT2-B5" ZSTD_BOUND "blob" Error Structure Decimal:
        "a zstd blob must be long enough for its decoded bytes",
        "";
    "ZT2-B6" ZSTD_FRAMES "blob" Error Elements Decimal:
        "a zstd blob must be whole frames, each within the limits of the decoder",
        "";
    "ZT2-B7" ZSTD_LEN "blob" Error Elements Decimal:
        "zstd frames must decode to exactly the decoded length",
        "";
    "ZT2-B8" BOOL_BYTE "blob" Error Elements Decimal:
        "a bool must be 0 or 1",
        "";
    "ZT2-B9" NIBBLE "blob" Error Elements Decimal:
        "the unused half of the last byte of 4-bit elements must be zero",
        "";
    "ZT2-H1" SHARD_NAME "manifest" Error Structure Hidden:
        "a shard must have a name of 1 to 64 letters, digits, `.`, `_` or `-` that does not begin with `.`",
        "";
    "ZT2-H2" SHARD_FORM "manifest" Error Structure Hidden:
        "a shard must have its size and its digest",
        "";
    "ZT2-H3" SHARD_KNOWN "manifest" Error Structure Hidden:
        "the shard of a part must be one of the manifest",
        "";
    "ZT2-H4" SHARD_MISSING "manifest" Error Structure Hidden:
        "a shard must be in the folder of the file, as NAME-SHARD.zt",
        "fetch the shard, or rename it together with the file";
    "ZT2-H5" SHARD_SIZE "manifest" Error Structure Decimal:
        "a shard must be as long as the manifest states",
        "it is another file, or cut short: fetch it again";
    "ZT2-H6" SHARD_MAGIC "manifest" Error Structure Hidden:
        "a shard must be a file of version 2",
        "it is another file, or damaged: fetch it again";
    "ZT2-H7" SHARD_DIGEST "manifest" Error Elements Hexadecimal:
        "a shard must match its digest in the manifest",
        "it is another file, or damaged: fetch it again";
    "ZT2-S1" INDPTR "blob" Error Elements Decimal:
        "indptr must start at 0, not decrease, and end at the count of values",
        "";
    "ZT2-S2" ROW_ORDER "blob" Error Elements Decimal:
        "the indices of a row must increase",
        "";
    "ZT2-S3" RANGE "blob" Error Elements Decimal:
        "indices and coordinates must lie in the shape",
        "";
    "ZT2-S4" COORD_TWICE "blob" Error Elements Decimal:
        "two values of a sparse tensor must not have one place",
        "";
    "ZT2-N1" DATA_SHARD "footer" Note Structure Hidden:
        "the file has no manifest: it holds blobs of another file",
        "open the file that names this one as a shard";
    "ZT2-N2" UNSUPPORTED "manifest" Warning Structure Hidden:
        "the object has a layout, type or encoding that this program does not read",
        "its parts can be read by themselves where their types are known";
    "ZT2-N3" DIGEST_UNKNOWN "manifest" Warning Structure Hidden:
        "the algorithm of the digest is not known: the bytes are unverified",
        "";
    "ZT2-N4" FRAMES_FORM "blob" Warning Elements Decimal:
        "frames should have a checksum and one content size of at most 16 MiB, and a seek table",
        "the bytes decode; other programs may refuse them";
    "ZT2-N5" SPARSE_LARGE "blob" Warning Elements Decimal:
        "the places of a sparse tensor take more memory than the limit, and were not checked",
        "raise --memory";
}
