//! The list of MUSTs, by id: the rows of the rule tables in `docs/tensogram.md`, word for word.
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
        "";
    "TGM-F11" DESCRIPTOR_GAP "frame" Error Structure Decimal:
        "a descriptor that stands before its payload must start the body of its frame",
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
        "a key must not stand both beside `_extra_` and in it",
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
        "a key stands twice in a map; the last value counts",
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
    "TGM-N17" SPELLING "metadata" Warning Structure Hidden:
        "the CBOR is not spelled in the one way that writers do",
        "";
}
