//! Products: exact for integers, with the exponent apart for floats.

mod float;
mod integer;
#[cfg(test)]
mod tests;

use half::{bf16, f16};

use self::float::FloatProduct;
use self::integer::IntegerProduct;
use super::Kernel;
use crate::element::Element;

/// The product of an element type; 1 of nothing.
pub(super) trait Multiplied: Element {
    type Product: Kernel<Self>;
}

macro_rules! multiplied {
    ($($type:ty => $product:ty;)+) => {$(
        impl Multiplied for $type {
            type Product = $product;
        }
    )+};
}

multiplied! {
    f16 => FloatProduct;
    bf16 => FloatProduct;
    f32 => FloatProduct;
    f64 => FloatProduct;
    i8 => IntegerProduct;
    i16 => IntegerProduct;
    i32 => IntegerProduct;
    i64 => IntegerProduct;
    u8 => IntegerProduct;
    u16 => IntegerProduct;
    u32 => IntegerProduct;
    u64 => IntegerProduct;
}
