//! The rules of a folder of parts (`docs/spec/series.md`).

tet_format::foreign_rules! { pub(crate),
    "TS-M1" MANIFEST_JSON "manifest" Error Structure Hidden:
        "the manifest must be one JSON object in UTF-8, and nothing but spaces after it",
        "the manifest is damaged: fetch or copy it again";
    "TS-M2" VERSION "manifest" Error Structure Decimal:
        "`tet_series` must be 1",
        "a newer program may read the folder";
    "TS-M3" MEMBER "manifest" Error Structure Hidden:
        "a member of the manifest must be known, be there once, and have its type",
        "the manifest is damaged: fetch or copy it again";
    "TS-M4" AXIS "manifest" Error Structure Hidden:
        "a folder of several parts must name its axis and the datasets that grow along it",
        "the manifest is damaged: fetch or copy it again";
    "TS-P1" PART_NAME "manifest" Error Structure Hidden:
        "a part must be named as a file of the folder itself, without a path",
        "no file outside of the folder is read: copy the part into it";
    "TS-P2" PART_TWICE "manifest" Error Structure Hidden:
        "a part must be named once",
        "the manifest is damaged: fetch or copy it again";
    "TS-P3" PART_MISSING "part" Error Structure Hidden:
        "a part that the manifest names must be there",
        "fetch or copy the part again";
    "TS-P4" PART_LEN "part" Error Structure Decimal:
        "a part must have the length that the manifest states",
        "the part was changed or cut short: fetch or copy it again";
    "TS-P5" PART_SOUND "part" Error Structure Hidden:
        "a part must be a .tet file whose structure holds",
        "`tet verify` on the part shows what is wrong: fetch or copy it again";
    "TS-P6" PART_SELF "part" Error Structure Hexadecimal:
        "a part must have the digest `self` that the manifest states",
        "the part was replaced by another file: fetch or copy it again";
    "TS-R1" ROWS "manifest" Error Structure Decimal:
        "the rows of a dataset must follow each other from part to part, from row 0 on",
        "the manifest is damaged: fetch or copy it again";
    "TS-R2" ROWS_BORDER "manifest" Error Structure Decimal:
        "the rows of a part must begin on the border of a chunk",
        "write the part again with the rows of the chunk that it divides";
    "TS-R3" ROWS_HELD "part" Error Structure Decimal:
        "a part must have the rows that the manifest states",
        "the manifest is damaged: fetch or copy it again";
    "TS-R4" DATASET "part" Error Structure Hidden:
        "a part must have each dataset that it has rows of, as the first part has it: type, axes, shape and chunks",
        "write the part again with `tet edit append`";
    "TS-R5" LABELS "part" Error Structure Decimal:
        "a part must have labels for its rows if the first part has",
        "write the part again with `tet edit append`";
    "TS-L1" LIMIT_MANIFEST "manifest" Error Structure Decimal:
        "the manifest may be at most 67108864 bytes long",
        "make one file of the parts with an older manifest";
}
