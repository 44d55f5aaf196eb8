//! The rules of Zarr hierarchies, from the Zarr specifications 2 and 3, and of the references of
//! kerchunk.

tet_format::foreign_rules! { pub,
    "ZR-M1" ROOT_MISSING "metadata" Error Structure Hidden:
        "the root must have a zarr.json, .zgroup, .zarray or .zmetadata",
        "name the folder that contains one of these files";
    "ZR-M2" JSON "metadata" Error Structure Hidden:
        "a metadata document must be a JSON object", "";
    "ZR-M3" FORMAT "metadata" Error Structure Decimal:
        "zarr_format must be 2 or 3, as the name of the document requires", "";
    "ZR-M4" SHAPE "metadata" Error Structure Decimal:
        "a shape must be a list of whole numbers with fewer than 2^63 elements", "";
    "ZR-M5" CHUNKS "metadata" Error Structure Decimal:
        "chunks must be a regular grid: one extent above 0 for each axis", "";
    "ZR-M6" DATA_TYPE "metadata" Error Structure Hidden:
        "a data type must be a name or a type string", "";
    "ZR-M7" FILL_VALUE "metadata" Error Structure Hidden:
        "the fill value must be a value of the data type", "";
    "ZR-M8" CODECS "metadata" Error Structure Hidden:
        "codecs must be a list of names with configurations", "";
    "ZR-M9" ORDER "metadata" Error Structure Hidden:
        "the order must be C or F", "";
    "ZR-M10" ATTRIBUTES "metadata" Error Structure Hidden:
        "attributes must be a JSON object", "";
    "ZR-M11" DIMENSION_NAMES "metadata" Warning Structure Decimal:
        "there must be one dimension name for each axis", "";
    "ZR-M12" EXTENSION "metadata" Error Structure Hidden:
        "an unknown member of a document must not need to be understood", "";
    "ZR-M13" NODE_TYPE "metadata" Error Structure Hidden:
        "node_type must be array or group", "";
    "ZR-M14" CONSOLIDATED "metadata" Error Structure Hidden:
        "consolidated metadata must be an object of documents", "";
    "ZR-M15" STORAGE_TRANSFORMERS "metadata" Error Structure Hidden:
        "there must be no storage transformers", "";
    "ZR-M16" NO_FILL "metadata" Error Structure Hidden:
        "an array of version 3 must have a fill value: chunks that are not stored have no elements", "";
    "ZR-M17" STALE "metadata" Warning Structure Hidden:
        "consolidated metadata should be that of the documents of arrays and groups",
        "consolidate the metadata again";
    "ZR-M18" STALE_SHAPE "metadata" Warning Structure Decimal:
        "the shape in consolidated metadata should be that of the document of the array",
        "consolidate the metadata again";
    "ZR-M19" UNLISTED "metadata" Warning Structure Hidden:
        "consolidated metadata should have the documents of all arrays and groups, under their keys",
        "consolidate the metadata again";
    "ZR-M20" MEMBER_MISSING "metadata" Warning Structure Hidden:
        "a .zarray should have a compressor, filters and a fill value, null where it has none",
        "add what is missing, or copy the file again";
    "ZR-K1" KEY "key" Error Structure Hidden:
        "a key must be a relative path of ordinary names", "";
    "ZR-K2" KEY_ENCODING "key" Error Structure Hidden:
        "the chunk key encoding must be default or v2, its separator . or /", "";
    "ZR-K3" STRAY_KEY "key" Warning Structure Hidden:
        "objects of an array should be chunks inside its grid",
        "an array that became smaller leaves such chunks";
    "ZR-K4" DUPLICATE_NODE "key" Warning Structure Hidden:
        "a path should be one node of one format", "";
    "ZR-K5" UNREADABLE "key" Error Structure Hidden:
        "a document, a chunk or a folder must be readable: no link to nothing or out of the folder, no pipe",
        "fetch the file, or check its permissions";
    "ZR-K6" ORPHANS "key" Warning Structure Hidden:
        "a folder with files should be an array or a group: they are not read",
        "copy its zarr.json or .zarray again";
    "ZR-S1" SHARD_CHUNKS "shard" Error Structure Decimal:
        "chunks inside a shard must divide the shard evenly", "";
    "ZR-S2" SHARD_INDEX_CODECS "shard" Error Structure Hidden:
        "a shard index is read with the codecs bytes and crc32c only", "";
    "ZR-S3" SHARD_CUT "shard" Error Structure Decimal:
        "a shard must contain its index", "the file is cut short: fetch or copy it again";
    "ZR-S4" SHARD_CHECKSUM "shard" Error Structure Hexadecimal:
        "a shard index must match its checksum",
        "`tet repair` puts one flipped bit back: else fetch or copy the file again";
    "ZR-S5" SHARD_BOUNDS "shard" Error Structure Decimal:
        "a chunk must end inside its shard", "the file is damaged: fetch or copy it again";
    "ZR-S6" SHARD_OVERLAP "shard" Error Structure Decimal:
        "chunks of a shard must not share bytes with each other or the index",
        "the file is damaged: fetch or copy it again";
    "ZR-P1" PAYLOAD_BOUNDS "payload" Error Structure Decimal:
        "a stored chunk must end inside its file", "the file is cut short: fetch or copy it again";
    "ZR-P2" PAYLOAD_LEN "payload" Error Structure Decimal:
        "an uncompressed chunk must have the length of a chunk",
        "the file is damaged: fetch or copy it again";
    "ZR-P3" PAYLOAD_DECODES "payload" Error Elements Hidden:
        "a chunk must decode to the length of a chunk", "fetch or copy the file again";
    "ZR-P4" PAYLOAD_CHECKSUM "payload" Error Elements Hidden:
        "a chunk must match the checksum that its codec stored",
        "`tet repair` puts one flipped bit back: else fetch or copy the file again";
    "ZR-P5" CHANGED "payload" Error Structure Hidden:
        "a file must not change while it is read", "try again";
    "ZR-R1" REFERENCES "references" Error Structure Hidden:
        "references must be a JSON object of version 0 or 1", "";
    "ZR-R2" REFERENCE "references" Error Structure Hidden:
        "a reference must be text, or a list of a URL with or without an offset and a length", "";
    "ZR-R3" REFERENCE_URL "references" Error Structure Hidden:
        "a reference must lead to a file below the folder of the references",
        "fetch the file and use a relative path";
    "ZR-R4" REFERENCE_TEMPLATE "references" Error Structure Hidden:
        "a template must be a name between {{ and }} with a text", "";
    "ZR-R5" REFERENCE_GENERATED "references" Error Structure Hidden:
        "generated references (gen) are not read", "";
    "ZR-R6" REFERENCE_TARGET "references" Error Structure Hidden:
        "the file of a reference must exist", "";
    "ZR-Z1" ZIP_END "zip" Error Structure Hidden:
        "a zip file must end with its directory", "the file is cut short: fetch or copy it again";
    "ZR-Z2" ZIP_DIRECTORY "zip" Error Structure Decimal:
        "the entries of a zip directory must be inside the directory",
        "the file is damaged: fetch or copy it again";
    "ZR-Z3" ZIP_MEMBER "zip" Error Structure Decimal:
        "a member of a zip file must be inside the file and match its entry",
        "the file is damaged: fetch or copy it again";
    "ZR-Z4" ZIP_METHOD "zip" Error Structure Decimal:
        "members must be stored or deflated, without encryption", "";
    "ZR-Z5" ZIP_DUPLICATE "zip" Warning Structure Hidden:
        "a name should be in a zip file once: the last one is read", "";
    "ZR-Z6" ZIP_SHARD "zip" Error Structure Hidden:
        "shards must be stored in a zip file without compression",
        "write the zip file without compression: the chunks are compressed already";
    "ZR-Z7" ZIP_CHECKSUM "zip" Error Elements Hidden:
        "a member of a zip file must match its CRC-32",
        "`tet repair` puts one flipped bit back: else fetch or copy the file again";
    "ZR-Z8" ZIP_NAME "zip" Error Structure Hidden:
        "a member of a zip file must have the name of its entry in the directory",
        "the file is damaged: fetch or copy it again";
    "ZR-Z9" ZIP_COUNT "zip" Error Structure Decimal:
        "a zip directory must have as many entries as the end of the file says",
        "the file is damaged: fetch or copy it again";
    "ZR-L1" LIMIT_DOCUMENT "metadata" Error Structure Decimal:
        "metadata documents are read up to 64 MiB", "";
    "ZR-L2" LIMIT_AXES "metadata" Error Structure Decimal:
        "arrays are read with 64 axes at most", "";
    "ZR-L3" LIMIT_NODES "metadata" Error Structure Decimal:
        "1,048,576 groups and arrays are read, to a depth of 64", "";
    "ZR-L4" LIMIT_SHARD "shard" Error Structure Decimal:
        "a shard index is read up to 64 MiB, and shards nested up to 8 levels", "";
    "ZR-L5" LIMIT_CODECS "metadata" Error Structure Decimal:
        "an array is read with 64 codecs at most", "";
    "ZR-L6" LIMIT_ZIP "zip" Error Structure Decimal:
        "a zip directory is read up to 256 MiB", "";
    "ZR-L7" LIMIT_OBJECTS "key" Error Structure Decimal:
        "4,294,967,294 objects are read at most", "";
    "ZR-L8" LIMIT_INLINE "references" Error Structure Decimal:
        "inline values are read up to 64 MiB", "";
    "ZR-L9" LIMIT_CHUNK "payload" Warning Elements Hidden:
        "a chunk should fit into the memory limit: a longer one is not decoded", "";
}
