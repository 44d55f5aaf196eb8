//! The rules of the format, by id: the rows of the rule tables in `docs/spec/tensogram.md`.
//!
//! `TGM-P` preamble and postamble, `TGM-F` frames, `TGM-M` metadata, index and hashes, `TGM-D`
//! descriptors, `TGM-C` codecs, `TGM-K` masks, `TGM-S` scanning, `TGM-L` limits, `TGM-N` notes.

tet_format::foreign_rules! { pub,
    "TGM-P1" MAGIC "preamble" Error Structure Hexadecimal:
        "a message must begin with `TENSOGRM`",
        "";
    "TGM-P2" VERSION "preamble" Error Structure Decimal:
        "the wire version must be 3",
        "messages of version 2 were written before tensogram 0.17.0: write them again with that";
    "TGM-P3" PREAMBLE_CUT "preamble" Error Structure Decimal:
        "a message must hold a preamble of 24 bytes",
        "the file is cut short";
    "TGM-P4" END_MAGIC "postamble" Error Structure Hexadecimal:
        "a message must end with `39277777`",
        "";
    "TGM-P5" TOTAL_BOUNDS "preamble" Error Structure Decimal:
        "a message must end within the file",
        "the file is cut short";
    "TGM-P6" TOTAL_MIN "preamble" Error Structure Decimal:
        "the total length must be 0 or that of preamble and postamble at least",
        "";
    "TGM-P7" TOTAL_DIFFERS "postamble" Error Structure Decimal:
        "the total length in the postamble must be 0 or the length of the message",
        "";
    "TGM-P8" FOOTER_OFFSET "postamble" Error Structure Decimal:
        "the postamble must point to the first footer frame, or to itself where there is none",
        "";
    "TGM-F1" FRAME_MAGIC "frame" Error Structure Hexadecimal:
        "a frame must begin with `FR`",
        "";
    "TGM-F2" FRAME_LEN "frame" Error Structure Decimal:
        "a frame must be long enough for its header and its tail",
        "";
    "TGM-F3" FRAME_BOUNDS "frame" Error Structure Decimal:
        "a frame must end before the postamble",
        "";
    "TGM-F4" FRAME_END "frame" Error Structure Hexadecimal:
        "a frame must end with `ENDF`",
        "";
    "TGM-F5" OBSOLETE "frame" Error Structure Decimal:
        "a frame must not be of type 4, the tensor of wire version 2",
        "";
    "TGM-F6" FRAME_ORDER "frame" Error Structure Hidden:
        "header frames must stand before the tensors, and footer frames behind them",
        "";
    "TGM-F7" PRECEDER_ALONE "frame" Error Structure Hidden:
        "a preceder must be followed by its tensor",
        "";
    "TGM-F8" DESCRIPTOR_OFFSET "frame" Error Structure Decimal:
        "a descriptor must start in the body of its frame",
        "";
    "TGM-F9" STREAM_CUT "frame" Error Structure Decimal:
        "a message without a length must end with a postamble",
        "the message was cut short while it was written or copied";
    "TGM-F10" HASH "frame" Error Elements Hexadecimal:
        "a frame must match its hash",
        "`tet repair` puts one flipped bit back: else fetch or copy the file again";
    "TGM-F11" DESCRIPTOR_GAP "frame" Error Structure Decimal:
        "a descriptor before its payload must start the body of its frame",
        "";
    "TGM-F12" DESCRIPTOR_TRAILING "frame" Error Structure Decimal:
        "a descriptor must be one item and nothing else",
        "";
    "TGM-M1" CBOR_SYNTAX "metadata" Error Structure Hidden:
        "the CBOR of a frame must be a well-formed item",
        "";
    "TGM-M2" CBOR_MAP "metadata" Error Structure Hidden:
        "the CBOR of a frame must be a map",
        "";
    "TGM-M3" KEY_TEXT "metadata" Error Structure Hidden:
        "keys in metadata, index and hash frames must be text",
        "";
    "TGM-M4" BASE "metadata" Error Structure Hidden:
        "`base` must be an array of maps",
        "";
    "TGM-M5" BASE_COUNT "metadata" Error Structure Decimal:
        "`base` must have no more entries than the message has objects",
        "";
    "TGM-M6" PRECEDER_BASE "metadata" Error Structure Decimal:
        "`base` of a preceder must have one entry",
        "";
    "TGM-M7" METADATA_FIELDS "metadata" Error Structure Hidden:
        "`_reserved_` and `_extra_` must be maps",
        "";
    "TGM-M8" EXTRA_TWICE "metadata" Error Structure Hidden:
        "a key must not be both in `_extra_` and outside of it",
        "";
    "TGM-M9" METADATA_MISSING "metadata" Error Structure Hidden:
        "a message must have a metadata frame",
        "";
    "TGM-M10" INDEX_FIELDS "index" Error Structure Hidden:
        "`offsets` and `lengths` must be arrays of unsigned integers, as many of the one as of the other",
        "";
    "TGM-M11" INDEX_COUNT "index" Error Structure Decimal:
        "an index must have one entry for each object",
        "";
    "TGM-M12" INDEX_OFFSET "index" Error Structure Decimal:
        "an index must say where each tensor frame starts",
        "";
    "TGM-M13" INDEX_LEN "index" Error Structure Decimal:
        "an index must say how long each tensor frame is",
        "";
    "TGM-M14" HASH_FIELDS "hashes" Error Structure Hidden:
        "`hashes` must be an array of texts of 16 hexadecimal digits, `algorithm` a text",
        "";
    "TGM-M15" HASH_COUNT "hashes" Error Structure Decimal:
        "a list of hashes must have one for each object",
        "";
    "TGM-M16" HASH_LISTED "hashes" Error Structure Hexadecimal:
        "a list of hashes must have what the frames have",
        "";
    "TGM-D1" DESCRIPTOR_SYNTAX "descriptor" Error Structure Decimal:
        "a descriptor must be one well-formed CBOR item",
        "";
    "TGM-D2" DESCRIPTOR_MAP "descriptor" Error Structure Hidden:
        "a descriptor must be a map whose keys are text",
        "";
    "TGM-D3" DESCRIPTOR_KEY_TWICE "descriptor" Error Structure Hidden:
        "a key must stand once in a descriptor",
        "";
    "TGM-D4" DESCRIPTOR_KEY_MISSING "descriptor" Error Structure Hidden:
        "a descriptor must have type, ndim, shape, strides, dtype, encoding, filter and compression",
        "";
    "TGM-D5" DESCRIPTOR_FIELD_TYPE "descriptor" Error Structure Hidden:
        "a field of a descriptor must be of its type",
        "";
    "TGM-D6" DESCRIPTOR_TEXT "descriptor" Error Structure Hidden:
        "text in a descriptor must be UTF-8",
        "";
    "TGM-D7" DESCRIPTOR_DTYPE "descriptor" Error Structure Hidden:
        "the dtype must be one of the 15",
        "";
    "TGM-D8" DESCRIPTOR_BYTE_ORDER "descriptor" Error Structure Hidden:
        "the byte_order must be big or little",
        "";
    "TGM-D9" DESCRIPTOR_COUNT "descriptor" Error Structure Decimal:
        "elements and bytes of an object must count up to less than 2^63",
        "";
    "TGM-D10" DESCRIPTOR_DEPTH "descriptor" Error Structure Decimal:
        "items of a descriptor may nest no deeper than the reader's limit",
        "";
    "TGM-L8" LIMIT_AXES "descriptor" Error Structure Decimal:
        "an object must have no more axes than the reader's limit",
        "";
    "TGM-C1" CODEC_BUILT "payload" Error Structure Hidden:
        "encoding, filter and compression must each be one that is built into this tet",
        "";
    "TGM-C2" CODEC_PARAMETER "descriptor" Error Structure Hidden:
        "a codec must have its parameters, each of its type and within its range",
        "";
    "TGM-C3" CODEC_DTYPE "descriptor" Error Structure Hidden:
        "a codec must be one that takes elements of the dtype",
        "";
    "TGM-C4" PAYLOAD_LEN "payload" Error Structure Decimal:
        "a payload without compression must be as long as its encoded elements",
        "";
    "TGM-C5" PAYLOAD_SHORT "payload" Error Structure Decimal:
        "a payload must be long enough for its elements",
        "";
    "TGM-C6" ZSTD_FRAMES "payload" Error Elements Decimal:
        "a zstd payload must be whole frames, each within the limits of the decoder",
        "";
    "TGM-C7" ZSTD_LEN "payload" Error Elements Decimal:
        "zstd frames must decode to exactly the encoded elements",
        "";
    "TGM-C8" LZ4_LEN "payload" Error Elements Decimal:
        "the length that an lz4 payload states must be that of the encoded elements",
        "";
    "TGM-C9" LZ4_BLOCK "payload" Error Elements Decimal:
        "an lz4 block must decode to exactly the length that its payload states",
        "";
    "TGM-C10" SZIP_STREAM "payload" Error Elements Decimal:
        "an szip stream must hold all samples",
        "";
    "TGM-C11" SZIP_OFFSETS "payload" Error Elements Decimal:
        "szip_block_offsets that are declared exact must be where the intervals of the stream start",
        "";
    "TGM-C12" WHOLE_PARTS "descriptor" Error Structure Decimal:
        "encoded elements must be whole parts of what the codec takes at a time",
        "";
    "TGM-C13" BIT_COUNT "payload" Error Elements Decimal:
        "the count that a payload of bits states must be that of its bytes, times 8",
        "";
    "TGM-C14" BIT_RUNS "payload" Error Elements Decimal:
        "runs of bits must be at least 1 long and come to exactly the count of bits",
        "";
    "TGM-C15" BIT_SET "payload" Error Elements Decimal:
        "a roaring bitmap must be well-formed and lie within the count of bits",
        "";
    "TGM-C16" BLOSC2_FRAME "payload" Error Elements Decimal:
        "a blosc2 payload must be one whole frame that comes to exactly the encoded elements",
        "";
    "TGM-C17" BLOSC2_CHUNK "payload" Error Elements Decimal:
        "a blosc2 chunk must be well-formed and come to exactly its part",
        "";
    "TGM-C18" BLOSC2_BUILT "payload" Error Elements Hidden:
        "a blosc2 chunk must be stored in a way that is built into this tet",
        "";
    "TGM-C19" ZFP_STREAM "payload" Error Elements Hidden:
        "a zfp stream must hold all numbers",
        "";
    "TGM-C20" SZ3_STREAM "payload" Error Elements Hidden:
        "an sz3 stream must be well-formed and hold all numbers",
        "";
    "TGM-C21" SZ3_BUILT "payload" Error Elements Hidden:
        "an sz3 stream must be written in a way that is built into this tet",
        "";
    "TGM-K1" MASK_ENTRY "masks" Error Structure Hidden:
        "masks must be a map of maps, each with method, offset and length",
        "";
    "TGM-K2" MASK_BOUNDS "masks" Error Structure Decimal:
        "the blob of a mask must lie in the region of its object",
        "";
    "TGM-K3" MASK_OVERLAP "masks" Error Structure Decimal:
        "the blobs of masks must not overlap",
        "";
    "TGM-K4" MASK_GAP "masks" Error Structure Decimal:
        "the blobs of masks must follow the payload and each other without gaps",
        "";
    "TGM-K5" MASK_BUILT "masks" Error Structure Hidden:
        "the method of a mask must be one that is built into this tet",
        "";
    "TGM-K6" MASK_DTYPE "masks" Error Structure Hidden:
        "an object of dtype bitmask must have no masks",
        "";
    "TGM-K7" MASK_BITS "masks" Error Elements Decimal:
        "the blob of a mask must come to exactly one bit an element",
        "";
    "TGM-S1" NO_MESSAGE "file" Error Structure Hidden:
        "a file must hold a message",
        "";
    "TGM-S2" GAP_BYTES "file" Error Structure Decimal:
        "bytes that belong to no message must be zero",
        "a message may have been lost there";
    "TGM-L1" LIMIT_CBOR "frame" Error Structure Decimal:
        "the CBOR of a frame must be no longer than the reader's limit",
        "raise the limit if you trust the file";
    "TGM-L2" LIMIT_ITEMS "frame" Error Structure Decimal:
        "the CBOR of a frame must have no more items than the reader's limit",
        "raise the limit if you trust the file";
    "TGM-L3" LIMIT_DEPTH "frame" Error Structure Decimal:
        "items must nest no deeper than the reader's limit",
        "raise the limit if you trust the file";
    "TGM-L4" LIMIT_FRAMES "message" Error Structure Decimal:
        "a message must have no more frames than the reader's limit",
        "raise the limit if you trust the file";
    "TGM-L5" LIMIT_MESSAGES "file" Error Structure Decimal:
        "a file must have no more messages than the reader's limit",
        "raise the limit if you trust the file";
    "TGM-L6" LIMIT_INFLATED "payload" Error Structure Decimal:
        "an object that may come of next to no bytes must be no longer than the reader's limit",
        "raise the limit if you trust the file";
    "TGM-L7" LIMIT_MEMORY "payload" Error Elements Decimal:
        "an object must be decoded in the memory that there is",
        "look at the file on a machine with more memory";
    "TGM-N1" PADDING "frame" Warning Structure Hidden:
        "bytes between frames are not zero",
        "";
    "TGM-N2" ALIGNMENT "frame" Warning Structure Decimal:
        "the frame does not start at a multiple of 8, which other programs do not read",
        "";
    "TGM-N3" KIND_UNKNOWN "frame" Warning Structure Decimal:
        "the frame is of a type that is not known, and is passed over",
        "";
    "TGM-N4" FLAGS_DIFFER "preamble" Warning Structure Hexadecimal:
        "the flags do not say which frames the message has",
        "";
    "TGM-N5" RESERVED "message" Warning Structure Hexadecimal:
        "reserved bits are set",
        "";
    "TGM-N6" GAP "file" Warning Structure Decimal:
        "zeros belong to no message",
        "";
    "TGM-N7" FRAME_TWICE "metadata" Warning Structure Decimal:
        "the message has several frames of one type, of which the last counts",
        "";
    "TGM-N8" METADATA_DIFFER "metadata" Warning Structure Hidden:
        "header and footer say different things of one key; the footer counts",
        "";
    "TGM-N9" KEY_TWICE "metadata" Warning Structure Decimal:
        "a key is twice in a map; the last value counts",
        "";
    "TGM-N10" CBOR_TRAILING "metadata" Warning Structure Decimal:
        "bytes follow the CBOR of the frame",
        "";
    "TGM-N11" HASHED_OLD "preamble" Note Structure Hexadecimal:
        "the hashes stand as programs before 0.21 wrote them, and later ones call them missing",
        "";
    "TGM-N12" HASH_MISSING "frame" Warning Structure Hidden:
        "the frame has no hash, in a message that should have them",
        "";
    "TGM-N13" FRAME_VERSION "frame" Note Structure Decimal:
        "the version of the frame is not 1",
        "";
    "TGM-N14" ALGORITHM "hashes" Warning Structure Hidden:
        "the algorithm of the hashes is not known, and they are not compared",
        "";
    "TGM-N15" TEXT "metadata" Warning Structure Hidden:
        "text is not UTF-8, and is read with its bad bytes replaced",
        "";
    "TGM-N16" TENSOR_UNSAID "metadata" Warning Structure Hidden:
        "`_reserved_` of an object says nothing of its tensor",
        "";
    "TGM-N18" NOTE_NDIM "descriptor" Warning Structure Decimal:
        "ndim is not the count of extents",
        "";
    "TGM-N19" NOTE_STRIDES "descriptor" Warning Structure Hidden:
        "the strides are not those of row-major order, in which the elements are read",
        "if another program wrote the object in its own order, its elements are misplaced";
    "TGM-N20" NOTE_BYTE_ORDER "descriptor" Warning Structure Hidden:
        "the byte_order is missing, and taken for little",
        "";
    "TGM-N21" NOTE_TYPE "descriptor" Note Structure Hidden:
        "the type is not ntensor",
        "";
    "TGM-N22" NOTE_SPELLING "descriptor" Note Structure Hidden:
        "the parameters of simple_packing are spelled as releases before 0.19 did",
        "";
    "TGM-N23" NOTE_CORRUPTS "descriptor" Warning Structure Hidden:
        "the codecs spoil elements when they are combined so: they may not be those that were stored",
        "encode the object anew from its source";
    "TGM-N24" NOTE_MASK_INTEGER "masks" Warning Structure Hidden:
        "an object of integers has masks, which have no meaning there",
        "";
    "TGM-N25" NOTE_MASK_KIND "masks" Warning Structure Hidden:
        "a mask is of a kind that is not known, and its elements are not restored",
        "";
    "TGM-N26" NOTE_OFFSETS "descriptor" Warning Structure Hidden:
        "the offsets for reading in part are not those of the payload, and not used",
        "";
    "TGM-N27" NOTE_SZIP_OFFSETS "payload" Warning Elements Decimal:
        "szip_block_offsets are not where the intervals of the stream start, as some programs write them",
        "other programs read wrong elements where they read the object in part: encode it anew";
    "TGM-N28" NOTE_NOT_BUILT "descriptor" Warning Structure Hidden:
        "a codec of the object is not built into this tet, and its elements are not looked at",
        "";
    "TGM-N29" NOTE_NAN "payload" Warning Elements Decimal:
        "an element is NaN and under no mask",
        "";
    "TGM-N30" NOTE_INFINITE "payload" Warning Elements Decimal:
        "an element is infinite and under no mask",
        "";
    "TGM-N31" NOTE_BITS "payload" Note Elements Decimal:
        "bits behind the last element are set",
        "";
    "TGM-N32" NOTE_PACKING "descriptor" Warning Structure Hidden:
        "the parameters of simple_packing come to numbers that are not finite",
        "encode the object anew from its source";
    "TGM-N33" NOTE_MASK_TWICE "masks" Warning Elements Decimal:
        "masks say different things of one element; nan counts before inf+, and that before inf-",
        "";
    "TGM-N34" NOTE_SZIP_END "payload" Warning Elements Decimal:
        "bytes follow the szip stream",
        "";
}
