//! The rules of safetensors: what its document and its reference library ask for.

tet_format::foreign_rules! { pub,
    "ST-H1" HEADER_CUT "header" Error Structure Decimal:
        "a file must begin with the 8 bytes of the header's length",
        "the file is cut short: fetch or copy it again";
    "ST-H2" HEADER_BOUNDS "header" Error Structure Decimal:
        "the header must end inside the file",
        "the file is cut short: fetch or copy it again";
    "ST-H3" HEADER_START "header" Error Structure Hexadecimal:
        "the header must begin with `{`",
        "";
    "ST-H4" HEADER_UTF8 "header" Error Structure Hidden:
        "the header must be UTF-8",
        "the header is damaged: fetch or copy the file again";
    "ST-H5" HEADER_JSON "header" Error Structure Hidden:
        "the header must be one JSON object, and nothing but spaces after it",
        "the header is damaged: fetch or copy the file again";
    "ST-H6" KEY_TWICE "header" Error Structure Hidden:
        "a key must stand once in an object",
        "readers disagree about which one counts: write the file again from its source";
    "ST-H7" METADATA "header" Error Structure Hidden:
        "`__metadata__` must be an object of strings",
        "write each number of it as a string";
    "ST-T1" ENTRY "header" Error Structure Hidden:
        "a tensor must be an object with dtype, shape and data_offsets, each of its type",
        "";
    "ST-T2" DTYPE "header" Error Structure Hidden:
        "the dtype must be one of the 22",
        "a newer program may read this tensor";
    "ST-T3" SHAPE_PRODUCT "header" Error Structure Decimal:
        "the elements of a tensor must fill whole bytes, fewer than 2^63",
        "";
    "ST-T4" OFFSETS_ORDER "header" Error Structure Decimal:
        "data_offsets must begin at or before their end",
        "";
    "ST-B1" BUFFER_BOUNDS "buffer" Error Structure Decimal:
        "the file must be as long as its tensors",
        "the file is cut short: fetch or copy it again";
    "ST-B2" BUFFER_LEN "buffer" Error Structure Decimal:
        "data_offsets must be as far apart as the elements are long",
        "";
    "ST-B3" BUFFER_GAPLESS "buffer" Error Structure Decimal:
        "a tensor must begin where the one before it ends",
        "bytes are hidden, or used twice: write the file again from its source";
    "ST-B4" BUFFER_END "buffer" Error Structure Decimal:
        "the file must end where the last tensor ends",
        "bytes were appended, and the reference library refuses the file: cut them off, or write the file again from its source";
    "ST-L1" LIMIT_HEADER "header" Error Structure Decimal:
        "the header may be at most 100000000 bytes long",
        "the reference library has the same limit";
    "ST-L2" LIMIT_AXES "header" Error Structure Decimal:
        "a tensor may have at most 64 axes",
        "";
    "ST-I1" INDEX_JSON "index" Error Structure Hidden:
        "an index must be one JSON object in UTF-8, and nothing but spaces after it",
        "the index is damaged: fetch or copy it again";
    "ST-I2" INDEX_KEY_TWICE "index" Error Structure Hidden:
        "a key must stand once in an object of an index",
        "readers disagree about which one counts: write the index again from its source";
    "ST-I3" WEIGHT_MAP "index" Error Structure Hidden:
        "an index must have `weight_map`, an object of strings",
        "";
    "ST-I4" SHARD_NAME "index" Error Structure Hidden:
        "a shard must be named by a file name, in the folder of its index",
        "the index reaches for other folders: do not trust it";
    "ST-I5" SHARD_MISSING "index" Error Structure Hidden:
        "the shard is missing",
        "put the shard into the folder of its index";
    "ST-I6" SHARD_FORMAT "index" Error Structure Hidden:
        "a shard must be a safetensors file",
        "fetch or copy the shard again; of .bin files of PyTorch `tet convert --merge *.bin model.safetensors` makes one file";
    "ST-I7" SHARD_TWICE "index" Error Structure Hidden:
        "two shards must not be one file",
        "";
    "ST-I8" TENSOR_MISSING "index" Error Structure Hidden:
        "a tensor of the map must be in its shard",
        "index and shards are of different versions: fetch them again";
    "ST-L3" LIMIT_INDEX "index" Error Structure Decimal:
        "an index may be at most 100000000 bytes long",
        "";
    "ST-L4" LIMIT_SHARDS "index" Error Structure Decimal:
        "an index may name at most 4096 shards",
        "";
    "ST-L5" LIMIT_MAP "index" Error Structure Decimal:
        "an index may map at most 1000000 tensors",
        "";
    "ST-N1" NAME_EMPTY "header" Warning Structure Hidden:
        "the name is empty",
        "ask for the tensor as #N, its position in the header";
    "ST-N2" NAME_ODD "header" Warning Structure Hidden:
        "the name has characters that act on terminals or paths",
        "do not use the name as it is in a terminal or as a path";
    "ST-N3" KEY_UNKNOWN "header" Note Structure Hidden:
        "a tensor has a key that is none of the format",
        "no reader looks at it";
    "ST-N4" BUFFER_ALIGNED "buffer" Note Structure Decimal:
        "the buffer does not begin at a multiple of 8",
        "elements that do not lie on their boundary are copied before they are used";
    "ST-N5" BOOL_BYTE "buffer" Warning Elements Hexadecimal:
        "a bool is neither 0 nor 1",
        "any byte but 0 counts as true";
    "ST-N6" TENSOR_UNNAMED "header" Warning Structure Hidden:
        "a shard has a tensor that the map does not place there",
        "readers disagree about it: it is not listed here";
    "ST-N7" TOTAL_SIZE "index" Note Structure Decimal:
        "metadata.total_size is not the bytes of all tensors",
        "no reader depends on it";
    "ST-N8" METADATA_DIFFERS "header" Note Structure Hidden:
        "`__metadata__` says something else under a key than that of a shard before it",
        "the first one counts";
    "ST-N9" SHARDS_UNNAMED "index" Warning Structure Decimal:
        "the map does not name as many shards as the names of shards count",
        "tensors of the others are not listed: fetch the index again";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_different_and_severities_follow_them() {
        let ids: BTreeSet<&str> = ALL.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), ALL.len());
        for rule in ALL {
            assert!(rule.id.starts_with("ST-"), "{}", rule.id);
            assert_eq!(
                rule.id.starts_with("ST-N"),
                rule.severity < tet_format::Severity::Error,
                "{}",
                rule.id
            );
        }
    }
}
