//! The rules of HDF5 files: what the HDF5 File Format Specification (versions 3.0 and 4.0) requires.

tet_format::foreign_rules! { pub,
    "H5-S1" SUPERBLOCK_MISSING "superblock" Error Structure Hidden:
        "a file must have its signature at byte 0, 512, 1024 or a later power of two", "";
    "H5-S2" SUPERBLOCK_CUT "superblock" Error Structure Decimal:
        "the superblock must end inside the file", "the file is cut short: fetch or copy it again";
    "H5-S3" SUPERBLOCK_VERSION "superblock" Error Structure Decimal:
        "the version of the superblock must be 0, 1, 2 or 3", "";
    "H5-S4" SIZES "superblock" Error Structure Decimal:
        "offsets and lengths must have 2, 4 or 8 bytes", "";
    "H5-S5" SUPERBLOCK_CHECKSUM "superblock" Error Structure Hexadecimal:
        "the superblock must match its checksum", "fetch or copy the file again";
    "H5-S6" FILE_CUT "superblock" Error Structure Decimal:
        "the file must be as long as its superblock says", "the file is cut short: fetch or copy it again";
    "H5-S7" FILE_OPEN "superblock" Warning Structure Hidden:
        "a file that is closed has no mark of a writer",
        "the program that writes it is still running, or did not close it";
    "H5-O1" HEADER_CUT "object header" Error Structure Decimal:
        "an object header must end inside the file", "the file is damaged: fetch or copy it again";
    "H5-O2" HEADER_VERSION "object header" Error Structure Decimal:
        "the version of an object header must be 1 or 2", "the file is damaged: fetch or copy it again";
    "H5-O3" HEADER_CHECKSUM "object header" Error Structure Hexadecimal:
        "an object header must match its checksum", "the file is damaged: fetch or copy it again";
    "H5-O4" CONTINUATION "object header" Error Structure Decimal:
        "a header may be continued at each place once", "the file is damaged: fetch or copy it again";
    "H5-O5" SHARED "object header" Error Structure Decimal:
        "a shared message must lead to a message of its type", "the file is damaged: fetch or copy it again";
    "H5-O6" OBJECT "object header" Error Structure Decimal:
        "an object must be a group, a dataset or a datatype", "the file is damaged: fetch or copy it again";
    "H5-O7" MESSAGE_UNREAD "object header" Warning Structure Decimal:
        "comments of objects, and messages of unknown types, are not read", "";
    "H5-O8" MESSAGE_ALIGNED "object header" Error Structure Decimal:
        "a message of a header of version 1 must be a multiple of 8 bytes long",
        "the file is damaged: fetch or copy it again";
    "H5-O9" MESSAGES "object header" Warning Structure Hidden:
        "a header of version 1 should have as many messages as it counts",
        "the file is damaged: fetch or copy it again";
    "H5-M1" MESSAGE_CUT "message" Error Structure Decimal:
        "a message must hold its fields", "the file is damaged: fetch or copy it again";
    "H5-M2" MESSAGE_VERSION "message" Error Structure Decimal:
        "a message must be of a known version", "";
    "H5-M3" DATATYPE "message" Error Structure Decimal:
        "a datatype must be of class 0 to 11, with a size and fields that fit it", "";
    "H5-M4" DATASPACE "message" Error Structure Decimal:
        "the shape of a dataset must have fewer than 2^63 elements", "";
    "H5-M5" LAYOUT "message" Error Structure Decimal:
        "a layout must be of class 0 to 3 and fit its dataset", "";
    "H5-M6" INCOMPLETE "message" Error Structure Decimal:
        "a dataset must have a dataspace, a datatype and a layout", "";
    "H5-G1" GROUP_CUT "group" Error Structure Decimal:
        "the links of a group must end inside the file", "the file is damaged: fetch or copy it again";
    "H5-G2" LINK "group" Error Structure Decimal:
        "a link must have a name and a target", "the file is damaged: fetch or copy it again";
    "H5-G3" SOFT_LINK "group" Warning Structure Hidden:
        "a soft link should lead to an object", "";
    "H5-G6" GROUP_ALIAS "group" Warning Structure Hidden:
        "a group should have one name: what is in it is listed under the first", "";
    "H5-G5" LINK_NAMES "group" Error Structure Decimal:
        "the names of the links of a group must be shorter together than the file",
        "the file is damaged: fetch or copy it again";
    "H5-G7" COMMITTED "group" Warning Structure Hidden:
        "a committed datatype that no dataset has is not listed", "";
    "H5-G4" EXTERNAL_LINK "group" Note Structure Hidden:
        "a link to another file is not followed", "open the other file";
    "H5-T1" TREE_CUT "tree" Error Structure Decimal:
        "a node of a tree must end inside the file", "the file is damaged: fetch or copy it again";
    "H5-T2" TREE_NODE "tree" Error Structure Hexadecimal:
        "a node must have the signature and type of its tree", "the file is damaged: fetch or copy it again";
    "H5-T3" TREE_LEVEL "tree" Error Structure Decimal:
        "the level of a node must be one less than that of its parent",
        "the file is damaged: fetch or copy it again";
    "H5-T4" TREE_CHECKSUM "tree" Error Structure Hexadecimal:
        "a node must match its checksum", "the file is damaged: fetch or copy it again";
    "H5-T5" TREE_SHARED "tree" Error Structure Decimal:
        "a node of a tree must have one parent, and bytes of its own", "the file is damaged: fetch or copy it again";
    "H5-H1" HEAP_CUT "heap" Error Structure Decimal:
        "a heap must end inside the file", "the file is damaged: fetch or copy it again";
    "H5-H2" HEAP_HEAD "heap" Error Structure Hexadecimal:
        "a heap must have its signature and version", "the file is damaged: fetch or copy it again";
    "H5-H3" HEAP_OBJECT "heap" Error Structure Decimal:
        "an object must be inside its heap", "the file is damaged: fetch or copy it again";
    "H5-H4" HEAP_CHECKSUM "heap" Error Structure Hexadecimal:
        "a heap must match its checksum", "the file is damaged: fetch or copy it again";
    "H5-I1" INDEX_CUT "chunk index" Error Structure Decimal:
        "a chunk index must end inside the file", "the file is damaged: fetch or copy it again";
    "H5-I2" INDEX_HEAD "chunk index" Error Structure Hexadecimal:
        "a chunk index must have its signature and fields that fit the dataset",
        "the file is damaged: fetch or copy it again";
    "H5-I3" INDEX_CHECKSUM "chunk index" Error Structure Hexadecimal:
        "a chunk index must match its checksum", "the file is damaged: fetch or copy it again";
    "H5-I4" INDEX_GRID "chunk index" Error Structure Decimal:
        "the offset of a chunk must be a multiple of the extents of a chunk",
        "the file is damaged: fetch or copy it again";
    "H5-I5" INDEX_SHARED "chunk index" Error Structure Decimal:
        "a chunk index must not list more chunks than the file has bytes",
        "the file is damaged: fetch or copy it again";
    "H5-P1" PAYLOAD_BOUNDS "payload" Error Structure Decimal:
        "stored elements must end inside the file", "the file is cut short: fetch or copy it again";
    "H5-P2" PAYLOAD_LEN "payload" Error Structure Decimal:
        "stored elements must have the length of the dataset", "";
    "H5-P3" PAYLOAD_OVERLAP "payload" Error Structure Decimal:
        "chunks must not share bytes", "the file is damaged: fetch or copy it again";
    "H5-P4" PAYLOAD_CHECKSUM "payload" Error Elements Hidden:
        "a chunk must match the checksum that its filter stored",
        "`tet repair` puts one flipped bit back: else fetch or copy the file again";
    "H5-P5" PAYLOAD_DECODES "payload" Error Elements Hidden:
        "a chunk must decode to the length of a chunk", "fetch or copy the file again";
    "H5-L1" LIMIT_BLOCK "file" Error Structure Decimal:
        "metadata is read in blocks of 64 MiB at most", "";
    "H5-L2" LIMIT_DEPTH "group" Error Structure Decimal:
        "groups are read to a depth of 512, and paths to 65,536 bytes", "";
    "H5-L3" LIMIT_TYPE "message" Error Structure Decimal:
        "datatypes are read to a depth of 32", "";
    "H5-L4" LIMIT_ATTRIBUTES "object header" Warning Structure Decimal:
        "16 MiB of attributes of an object are read", "";
    "H5-L5" LIMIT_HEAP "heap" Error Structure Decimal:
        "heaps with filters are not read", "";
    "H5-L6" LIMIT_SPANS "file" Note Structure Decimal:
        "2,097,152 pieces of data are compared with each other", "";
    "H5-L7" LIMIT_WORK "file" Error Structure Decimal:
        "of metadata that objects share, 64 MiB and 16 times the length of the file are read", "";
    "H5-L9" LIMIT_CHUNK "payload" Warning Elements Hidden:
        "a chunk should fit into the memory limit: a longer one is not decoded", "";
    "H5-L10" LIMIT_VALUES "message" Warning Structure Hidden:
        "attributes of 2^20 values, 16 MiB of text and 8 types in each other are read", "";
    "H5-L8" LIMIT_PATHS "group" Error Structure Decimal:
        "the paths of all objects are read to 64 MiB and the length of the file", "";
}
