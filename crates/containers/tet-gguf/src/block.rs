//! Types of tensors: numbers, and blocks of quantized numbers.

use tet_format::DType;

use tet_container::model::dtype::{Unit, is_decoded, unit_of};

/// The type of a tensor: its number, its name, elements of a block, bytes of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    tag: u32,
    pub(super) name: &'static str,
    pub(super) count: u64,
    pub(super) len: u64,
}

/// The types of ggml. The numbers that are absent were types that no version of it reads any more.
const TYPES: &[(u32, &str)] = &[
    (0, "F32"),
    (1, "F16"),
    (2, "Q4_0"),
    (3, "Q4_1"),
    (6, "Q5_0"),
    (7, "Q5_1"),
    (8, "Q8_0"),
    (9, "Q8_1"),
    (10, "Q2_K"),
    (11, "Q3_K"),
    (12, "Q4_K"),
    (13, "Q5_K"),
    (14, "Q6_K"),
    (15, "Q8_K"),
    (16, "IQ2_XXS"),
    (17, "IQ2_XS"),
    (18, "IQ3_XXS"),
    (19, "IQ1_S"),
    (20, "IQ4_NL"),
    (21, "IQ3_S"),
    (22, "IQ2_S"),
    (23, "IQ4_XS"),
    (24, "I8"),
    (25, "I16"),
    (26, "I32"),
    (27, "I64"),
    (28, "F64"),
    (29, "IQ1_M"),
    (30, "BF16"),
    (34, "TQ1_0"),
    (35, "TQ2_0"),
    (39, "MXFP4"),
    (40, "NVFP4"),
    (41, "Q1_0"),
];

/// The types of quantized tensors whose blocks are decoded.
pub(super) fn decoded() -> Vec<&'static str> {
    let names = TYPES.iter().filter(|(tag, _)| dtype(*tag).is_none()).map(|(_, name)| *name);
    names.filter(|name| is_decoded(name)).collect()
}

impl Block {
    /// The type of a number; `None` for one that is not known.
    pub(super) fn from_tag(tag: u32) -> Option<Block> {
        let &(tag, name) = TYPES.iter().find(|it| it.0 == tag)?;
        let unit = match dtype(tag) {
            Some(dtype) => Unit { count: 1, len: dtype.size()? },
            None => unit_of(name)?,
        };
        Some(Block { tag, name, count: unit.count, len: unit.len })
    }

    /// The type of its elements; `None` for quantized ones.
    pub(super) const fn dtype(self) -> Option<DType> {
        dtype(self.tag)
    }
}

/// The type of numbers of a tag.
const fn dtype(tag: u32) -> Option<DType> {
    Some(match tag {
        0 => DType::Float32,
        1 => DType::Float16,
        24 => DType::Int8,
        25 => DType::Int16,
        26 => DType::Int32,
        27 => DType::Int64,
        28 => DType::Float64,
        30 => DType::BFloat16,
        _ => return None,
    })
}
