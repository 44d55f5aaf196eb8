//! The rules of GGUF files: what the specification and ggml ask for.

tet_format::foreign_rules! { pub(crate),
    "GG-H1" HEADER_CUT "header" Error Structure Decimal:
        "the header must end inside the file",
        "the file is cut short: fetch or copy it again";
    "GG-H2" VERSION "header" Error Structure Decimal:
        "the version must be 1, 2 or 3",
        "the file is of a later version, or damaged";
    "GG-K1" VALUE_TYPE "header" Error Structure Decimal:
        "a value must be of one of the types 0 to 12",
        "the header is damaged: fetch or copy the file again";
    "GG-K2" ALIGNMENT "header" Error Structure Decimal:
        "general.alignment must be a uint32 that is a multiple of 8",
        "the header is damaged: fetch or copy the file again";
    "GG-T1" TENSOR_TYPE "header" Error Structure Decimal:
        "a tensor must be of a type of ggml",
        "the type is newer than this build, or the header is damaged";
    "GG-T2" AXES "header" Error Structure Decimal:
        "a tensor may have at most 4 axes",
        "the header is damaged: fetch or copy the file again";
    "GG-T3" SHAPE_PRODUCT "header" Error Structure Decimal:
        "the elements of a tensor must fill fewer than 2^63 bytes",
        "the header is damaged: fetch or copy the file again";
    "GG-T4" ROW_BLOCKS "header" Error Structure Decimal:
        "the last axis of a tensor must be a whole number of blocks",
        "the header is damaged: fetch or copy the file again";
    "GG-D1" DATA_BOUNDS "data" Error Structure Decimal:
        "a tensor must end inside the file",
        "the file is cut short: fetch or copy it again";
    "GG-D2" DATA_ALIGNMENT "data" Error Structure Decimal:
        "the offset of a tensor must be a multiple of the alignment",
        "the header is damaged: fetch or copy the file again";
    "GG-D3" DATA_OVERLAP "data" Error Structure Decimal:
        "tensors must not overlap",
        "the header is damaged: fetch or copy the file again";
    "GG-D4" DATA_LEFT "data" Error Structure Decimal:
        "the last tensor must end less than the alignment before the end of the file",
        "the number of tensors is damaged, or the file has something else behind them";
    "GG-S1" SPLIT "header" Error Structure Decimal:
        "the parts of a split model must be next to one another, and have all of its tensors",
        "put NAME-00001-of-0000N.gguf and the other parts into one folder";
    "GG-L1" LIMIT_HEADER "header" Error Structure Decimal:
        "the header may be at most 268435456 bytes long",
        "";
    "GG-L2" LIMIT_NESTED "header" Error Structure Decimal:
        "lists of lists may be at most 8 deep",
        "";
    "GG-N1" NAME_UTF8 "header" Warning Structure Hidden:
        "a name must be UTF-8",
        "other bytes are replaced: select the tensor by its number, as #N";
    "GG-N2" NAME_TWICE "header" Warning Structure Hidden:
        "a name must be the name of one tensor",
        "a repeated name selects the first one: select by number, as #N";
    "GG-N3" KEY_TWICE "header" Warning Structure Hidden:
        "a key must be there once",
        "the first value is shown";
    "GG-N4" LIST_LONG "header" Note Structure Decimal:
        "a list of more than 1024 values or 65536 bytes is shown by its length and type alone",
        "the gguf Python package lists all of them";
}
