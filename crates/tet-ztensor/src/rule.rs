//! The rules of the format, by id: the rows of the rule tables in `docs/spec/ztensor.md`.
//!
//! `ZT-C` the container, `ZT-I` the index, `ZT-T` its entries, `ZT-B` blobs, `ZT-S` sparse tensors,
//! `ZT-L` limits, `ZT-N` notes.

tet_format::foreign_rules! { pub,
    "ZT-C1" TRUNCATED "magic" Error Structure Decimal:
        "a file must hold the magic and the 8 bytes of the footer",
        "the file is cut short: fetch or copy it again";
    "ZT-C2" MAGIC "magic" Error Structure Hexadecimal:
        "the first 8 bytes must be `ZTEN0001`",
        "";
    "ZT-C3" OTHER_VERSION "magic" Error Structure Hexadecimal:
        "the file must be of version 0.1.0",
        "`tet convert FILE NEW.zt` makes a file of version 0.1.0 of it";
    "ZT-C4" INDEX_LEN "footer" Error Structure Decimal:
        "the index must lie between the magic and the footer",
        "the file is cut short or was appended to: copy it again";
    "ZT-C5" INDEX_MISSING "footer" Error Structure Decimal:
        "the length of the index must not be zero: without tensors it is an empty array",
        "the index is lost: copy the file again";
    "ZT-I1" INDEX_SYNTAX "index" Error Structure Decimal:
        "the index must be one well-formed CBOR item",
        "the index is damaged: copy the file again";
    "ZT-I2" INDEX_ARRAY "index" Error Structure Decimal:
        "the index must be an array",
        "";
    "ZT-I3" INDEX_TRAILING "index" Error Structure Decimal:
        "no bytes may follow the array in the index",
        "";
    "ZT-I4" INDEX_DEPTH "index" Error Structure Decimal:
        "items may nest no deeper than the reader's limit",
        "";
    "ZT-L1" LIMIT_INDEX "index" Error Structure Decimal:
        "the index must be no longer than the reader's limit",
        "raise the limit if you trust the file";
    "ZT-L2" LIMIT_ENTRIES "index" Error Structure Decimal:
        "entries, and extents of all shapes, must be no more than the reader's limit",
        "raise the limit if you trust the file";
    "ZT-L3" LIMIT_SPARSE "blob" Error Elements Decimal:
        "a sparse tensor must come to no more bytes than the reader's limit",
        "raise the limit if you trust the file";
    "ZT-L4" LIMIT_ITEMS "index" Error Structure Decimal:
        "custom fields must hold no more items than the reader's limit",
        "raise the limit if you trust the file";
    "ZT-L5" LIMIT_AXES "index" Error Structure Decimal:
        "a tensor must have no more axes than the reader's limit",
        "";
    "ZT-T1" ENTRY_MAP "index" Error Structure Hidden:
        "an entry must be a map",
        "";
    "ZT-T2" KEY_TWICE "index" Error Structure Hidden:
        "a key must stand once in an entry",
        "";
    "ZT-T3" KEY_MISSING "index" Error Structure Hidden:
        "an entry must have name, offset, size, dtype, shape and encoding",
        "";
    "ZT-T4" KEY_TYPE "index" Error Structure Hidden:
        "a field must be of its type",
        "";
    "ZT-T5" NAME_TEXT "index" Error Structure Hidden:
        "text must be UTF-8",
        "";
    "ZT-T6" DTYPE_KNOWN "index" Error Structure Hidden:
        "the dtype must be one of the 13",
        "a newer program may read this tensor";
    "ZT-T7" ENCODING_KNOWN "index" Error Structure Hidden:
        "the encoding must be raw or zstd",
        "a newer program may read this tensor";
    "ZT-T8" LAYOUT_KNOWN "index" Error Structure Hidden:
        "the layout must be dense, sparse, sparsecsr or sparsecoo",
        "a newer program may read this tensor";
    "ZT-T9" FORMAT_KNOWN "index" Error Structure Hidden:
        "the sparse_format must be csr or coo",
        "a newer program may read this tensor";
    "ZT-T10" BYTE_ORDER_KNOWN "index" Error Structure Hidden:
        "the data_endianness must be little or big",
        "";
    "ZT-T11" SHAPE_PRODUCT "index" Error Structure Decimal:
        "elements and bytes of a tensor must count up to less than 2^63",
        "";
    "ZT-T12" CHECKSUM_FORM "index" Error Structure Hidden:
        "a checksum must be crc32c with up to 8 hexadecimal digits or sha256 with 64",
        "";
    "ZT-T13" NAME_TWICE "index" Error Structure Decimal:
        "two tensors must not have one name",
        "ask for the tensor as #N, its position in the index";
    "ZT-B1" BLOB_ALIGNED "blob" Error Structure Decimal:
        "a blob must start at a multiple of 64, past the magic",
        "";
    "ZT-B2" BLOB_BOUNDS "blob" Error Structure Decimal:
        "a blob must end before the index begins",
        "the tensor's bytes are not all there: fetch or copy the file again";
    "ZT-B3" BLOB_LEN "blob" Error Structure Decimal:
        "a raw dense blob must be as long as its elements",
        "";
    "ZT-B4" BLOB_CHECKSUM "blob" Error Elements Hexadecimal:
        "a blob must match its checksum",
        "`tet repair` puts one flipped bit back: else fetch or copy the file again";
    "ZT-B5" ZSTD_BOUND "blob" Error Elements Decimal:
        "a zstd blob must be long enough for its elements",
        "";
    "ZT-B6" ZSTD_FRAMES "blob" Error Elements Decimal:
        "a zstd blob must be whole frames, each within the limits of the decoder",
        "";
    "ZT-B7" ZSTD_LEN "blob" Error Elements Decimal:
        "zstd frames must decode to exactly the bytes of the elements",
        "";
    "ZT-S1" SPARSE_RANK "blob" Error Elements Decimal:
        "a csr tensor must have two axes, a coo tensor at least one",
        "";
    "ZT-S2" SPARSE_LEN "blob" Error Elements Decimal:
        "the arrays of a sparse tensor must fit its shape and fill its blob exactly",
        "";
    "ZT-S3" SPARSE_INDPTR "blob" Error Elements Decimal:
        "indptr must start at 0 and not decrease",
        "";
    "ZT-S4" SPARSE_RANGE "blob" Error Elements Decimal:
        "indices and coordinates must lie in the shape",
        "";
    "ZT-S5" SPARSE_INLINE "index" Error Structure Hidden:
        "indptr and indices in an entry must be arrays of unsigned integers that belong together",
        "";
    use tet_sparse::rule { PART_FIT PART_INDPTR PART_RANGE };
    "ZT-N1" OVERLAP "blob" Warning Structure Decimal:
        "two blobs overlap without being the same",
        "";
    "ZT-N2" CHECKSUM_UNKNOWN "index" Warning Structure Hidden:
        "the algorithm of the checksum is not known: the tensor is unverified",
        "";
    "ZT-N3" BYTE_ORDER_MOOT "index" Warning Structure Hidden:
        "data_endianness is stated where it has no meaning",
        "";
    "ZT-N4" BOOL_BYTE "blob" Warning Elements Decimal:
        "a bool is neither 0 nor 1",
        "any byte but 0 counts as true";
    "ZT-N5" GAP_BYTES "gap" Warning Elements Decimal:
        "bytes that belong to no tensor are not zero",
        "no reader looks at these bytes";
    "ZT-N6" NAME_EMPTY "index" Warning Structure Hidden:
        "the name is empty",
        "ask for the tensor as #N, its position in the index";
    "ZT-N7" NAME_ODD "index" Warning Structure Hidden:
        "the name has characters that act on terminals or paths",
        "do not use the name as it is in a terminal or as a path";
    "ZT-N9" LAYOUT_MISSING "index" Note Structure Hidden:
        "the entry has no layout and is dense",
        "";
    "ZT-N10" ZSTD_SKIPPABLE "blob" Note Elements Decimal:
        "the blob has skippable frames",
        "no reader looks at these bytes";
    "ZT-N11" COORD_TWICE "blob" Warning Elements Decimal:
        "two values of a sparse tensor have one place",
        "the last one counts";
    "ZT-N12" BYTE_ORDER_BIG "index" Note Structure Hidden:
        "the numbers are big-endian, which later versions of zTensor ignore",
        "";
    "ZT-N13" BLOB_SHARED "blob" Note Structure Decimal:
        "two tensors share one blob",
        "";
    "ZT-N14" SEEK_TABLE "blob" Warning Elements Decimal:
        "the seek table does not state the frames of its blob",
        "no reader here relies on it, others may";
    "ZT-N15" PART_MISSING "index" Warning Structure Decimal:
        "parts of a sparse tensor are missing",
        "those that are there can be read by themselves";
    "ZT-N16" KEY_UNREAD "index" Warning Structure Hidden:
        "an entry has a key that is no text: its value is not read",
        "";
}
