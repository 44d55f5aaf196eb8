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
    ($($product:ty: $($type:ty),+;)+) => {$($(
        impl Multiplied for $type {
            type Product = $product;
        }
    )+)+};
}

multiplied! {
    FloatProduct: f16, bf16, f32, f64;
    IntegerProduct: i8, i16, i32, i64, u8, u16, u32, u64;
}
