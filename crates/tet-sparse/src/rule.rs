//! The rules of sparse tensors in dense parts: those of the rule tables in `docs/spec/ztensor.md` that any file can break.

tet_format::foreign_rules! { pub,
    "ZT-S6" PART_FIT "index" Error Structure Decimal:
        "the parts of a sparse tensor must be of the types and shapes that its own shape asks for",
        "the parts can be read by themselves";
    "ZT-S7" PART_INDPTR "blob" Error Elements Decimal:
        "indptr in a part must start at 0, not decrease, and end at the count of values",
        "the parts can be read by themselves";
    "ZT-S8" PART_RANGE "blob" Error Elements Decimal:
        "indices and coordinates in a part must lie in the shape of the sparse tensor",
        "the parts can be read by themselves";
}
