//! Pairs of elements, and when they differ.

use half::{bf16, f16};
use tet_format::DType;

use super::change::{BoxSums, Measured};
use super::tally::{DifferingPair, Distance, Tally};
use super::tolerance::Tolerance;
use crate::element::dispatch;
use crate::scalar::Scalar;

/// Bytes that are compared as bytes before they are compared as elements.
const STRETCH_LEN: usize = 4096;

/// How the pairs of two dtypes are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pairs<'a> {
    dtypes: [DType; 2],
    tolerance: Tolerance,
    /// Bytes that are compared as one.
    block_len: Option<u64>,
    /// The numbers that stand for missing elements in each dataset.
    missing: [&'a [Scalar]; 2],
}

impl<'a> Pairs<'a> {
    /// `None` for dtypes that are not compared.
    pub(super) fn new(
        dtypes: [DType; 2],
        tolerance: &Tolerance,
        missing: [&'a [Scalar]; 2],
    ) -> Option<Self> {
        let is_known = |dtype: DType| dtype.size().is_some();
        let all = |is: fn(DType) -> bool| dtypes.into_iter().all(is);
        let can = dtypes[0] == dtypes[1]
            || (tolerance.ulp == 0 && (all(DType::is_float) || all(is_integer)))
            || all(DType::is_complex);
        let tolerance = *tolerance;
        (can && all(is_known)).then_some(Pairs { dtypes, tolerance, block_len: None, missing })
    }

    /// Blocks of so many bytes, which are equal or not.
    pub(super) fn of_blocks(len: u64) -> Self {
        let (dtypes, tolerance) = ([DType::UInt8; 2], Tolerance::default());
        Pairs { dtypes, tolerance, block_len: Some(len), missing: [&[]; 2] }
    }

    /// Whether one of two numbers alone is a missing one.
    fn is_missing_in_one(&self, values: [Scalar; 2]) -> bool {
        let [left, right] = values;
        is_one_of(self.missing[0], left) != is_one_of(self.missing[1], right)
    }

    /// Whether one of two numbers at least is a missing one.
    fn is_missing_in_any(&self, values: [Scalar; 2]) -> bool {
        self.missing.iter().zip(values).any(|(missing, value)| is_one_of(missing, value))
    }

    /// Whether the same bytes are always equal elements.
    pub(super) fn is_bitwise(self) -> bool {
        self.dtypes[0] == self.dtypes[1] && (self.tolerance.nan_equal || is_integer(self.dtypes[0]))
    }

    /// Whether elements are compared as numbers, and not as blocks of bytes.
    pub(super) fn has_numbers(self) -> bool {
        self.block_len.is_none()
    }

    /// Bytes that widened elements take.
    pub(super) fn room_len(self, elements: u64) -> u64 {
        if self.dtypes[0] == self.dtypes[1] { 0 } else { elements.saturating_mul(32) }
    }
}

/// Whether a number is one of some others, also of a narrower type.
fn is_one_of(missing: &[Scalar], value: Scalar) -> bool {
    missing.iter().any(|missing| match (*missing, value) {
        (Scalar::Int(missing), Scalar::Int(value)) => missing == value,
        (missing, value) => missing.to_f64().is_some_and(|it| value.to_f64() == Some(it)),
    })
}

/// Compares the elements of two stretches of memory; `linear` numbers those of the stretch.
pub(super) fn compare(pairs: Pairs<'_>, bytes: [&[u8]; 2], linear: impl Fn(u64) -> u64) -> Tally {
    let [left, right] = pairs.dtypes;
    if let Some(len) = pairs.block_len {
        return compare_blocks(usize::try_from(len).unwrap_or(usize::MAX), bytes, linear);
    }
    if left != right {
        return compare_widened(pairs, bytes, linear);
    }
    match left {
        DType::Bool => typed::<Truth>(pairs, bytes, linear),
        DType::Complex64 => typed::<[f32; 2]>(pairs, bytes, linear),
        DType::Complex128 => typed::<[f64; 2]>(pairs, bytes, linear),
        dtype => dispatch!(dtype, T => typed::<T>(pairs, bytes, linear)).unwrap_or_default(),
    }
}

/// Counts the blocks of `len` bytes that differ.
fn compare_blocks(len: usize, [left, right]: [&[u8]; 2], linear: impl Fn(u64) -> u64) -> Tally {
    let mut tally = Tally::default();
    if left == right {
        return tally;
    }
    let blocks = left.chunks(len.max(1)).zip(right.chunks(len.max(1)));
    for (nth, _) in blocks.enumerate().filter(|(_, (left, right))| left != right) {
        tally.differing += 1;
        if tally.first.is_none() {
            let linear = linear((nth as u64).saturating_mul(len as u64));
            tally.take_first(Some(DifferingPair { linear, values: [Scalar::Null; 2] }));
        }
    }
    tally
}

/// An element that is compared with others of its type.
trait Paired: Measured {
    /// Whether both have the same value.
    fn same(self, other: Self, nan_equal: bool) -> bool;

    /// How far they are apart; `None` where it is no finite number.
    fn distance(self, other: Self) -> Option<Distance>;

    /// |self| as a double, what a relative difference is of.
    fn magnitude(self) -> f64;

    /// Whether `other` is at most this many steps away.
    fn within_steps(self, other: Self, steps: u64) -> bool;

    fn is_nan(self) -> bool;

    fn scalar(self) -> Scalar;
}

/// Compares elements of one type.
fn typed<T: Paired>(
    pairs: Pairs<'_>,
    [left, right]: [&[u8]; 2],
    linear: impl Fn(u64) -> u64,
) -> Tally {
    let is_missing = |pair: [T; 2]| pairs.is_missing_in_any(pair.map(T::scalar));
    let has_missing = pairs.missing.iter().any(|missing| !missing.is_empty());
    let is_missing = has_missing.then_some(&is_missing as &dyn Fn([T; 2]) -> bool);
    let sums = BoxSums::from_pairs([left, right], is_missing);
    let mut tally = Tally { sums, ..Tally::default() };
    if pairs.is_bitwise() && left == right {
        return tally;
    }
    let size = size_of::<T>();
    let stretch = STRETCH_LEN / size;
    let both = left.chunks(stretch * size).zip(right.chunks(stretch * size));
    for (nth, (left, right)) in both.enumerate() {
        if pairs.is_bitwise() && left == right {
            continue;
        }
        let elements = left.chunks_exact(size).zip(right.chunks_exact(size));
        for (at, (left, right)) in elements.enumerate() {
            let [left, right]: [T; 2] = [left, right].map(bytemuck::pod_read_unaligned);
            if !left.same(right, pairs.tolerance.nan_equal) {
                take(&mut tally, &pairs, [left, right], || linear((nth * stretch + at) as u64));
            }
        }
    }
    tally
}

/// Counts a pair of different values, unless the tolerance allows it: a missing element is near to no other.
fn take<T: Paired>(
    tally: &mut Tally,
    pairs: &Pairs<'_>,
    [left, right]: [T; 2],
    linear: impl Fn() -> u64,
) {
    let values = [left.scalar(), right.scalar()];
    let tolerance = &pairs.tolerance;
    let distance = left.distance(right).filter(|_| !pairs.is_missing_in_one(values));
    if let Some(distance) = distance {
        let is_near = distance.is_at_most(tolerance.atol + tolerance.rtol * right.magnitude())
            || (tolerance.ulp > 0 && left.within_steps(right, tolerance.ulp));
        if is_near {
            return;
        }
        let relative = distance.to_f64() / right.magnitude();
        tally.max_rel = Some(tally.max_rel.map_or(relative, |max| max.max(relative)));
    }
    tally.differing += 1;
    tally.nan_count += u64::from(left.is_nan() != right.is_nan());
    let is_measured = left.is_finite() && right.is_finite();
    let is_measured = is_measured && !pairs.is_missing_in_any(values);
    tally.unmeasured += u64::from(!is_measured);
    // Places come in ascending order, so only the first of the largest differences is looked at.
    let is_worse = distance > tally.worst.map(|(distance, _)| distance) || tally.first.is_none();
    if is_worse {
        let place = DifferingPair { linear: linear(), values };
        tally.take_first(Some(place));
        tally.take_worst(distance.map(|distance| (distance, place)));
    }
}

/// Compares elements of two types as those of a wider one.
fn compare_widened(pairs: Pairs<'_>, bytes: [&[u8]; 2], linear: impl Fn(u64) -> u64) -> Tally {
    let [left, right] = pairs.dtypes;
    match [widened(left, bytes[0]), widened(right, bytes[1])] {
        [Wide::Ints(left), Wide::Ints(right)] => wide(pairs, [&left, &right], linear),
        [Wide::Floats(left), Wide::Floats(right)] => wide(pairs, [&left, &right], linear),
        [Wide::Complex(left), Wide::Complex(right)] => wide(pairs, [&left, &right], linear),
        // `Pairs::of` takes no others.
        _ => Tally::default(),
    }
}

fn wide<T: Paired>(
    pairs: Pairs<'_>,
    [left, right]: [&[T]; 2],
    linear: impl Fn(u64) -> u64,
) -> Tally {
    let bytes = [bytemuck::cast_slice(left), bytemuck::cast_slice(right)];
    typed::<T>(pairs, bytes, linear)
}

/// Elements of a type that holds all of a kind.
enum Wide {
    Ints(Vec<i128>),
    Floats(Vec<f64>),
    Complex(Vec<[f64; 2]>),
}

fn widened(dtype: DType, bytes: &[u8]) -> Wide {
    fn all<T: bytemuck::Pod, W>(bytes: &[u8], widen: impl Fn(T) -> W) -> Vec<W> {
        let elements = bytes.chunks_exact(size_of::<T>());
        elements.map(|bytes| widen(bytemuck::pod_read_unaligned(bytes))).collect()
    }
    match dtype {
        DType::Float16 => Wide::Floats(all(bytes, f16::to_f64)),
        DType::BFloat16 => Wide::Floats(all(bytes, bf16::to_f64)),
        DType::Float32 => Wide::Floats(all(bytes, <f64 as From<f32>>::from)),
        DType::Float64 => Wide::Floats(all(bytes, |float: f64| float)),
        DType::Complex64 => Wide::Complex(all(bytes, |parts: [f32; 2]| parts.map(f64::from))),
        DType::Complex128 => Wide::Complex(all(bytes, |parts: [f64; 2]| parts)),
        DType::Bool => Wide::Ints(all(bytes, |byte: u8| i128::from(byte != 0))),
        DType::Int8 => Wide::Ints(all(bytes, <i128 as From<i8>>::from)),
        DType::Int16 => Wide::Ints(all(bytes, <i128 as From<i16>>::from)),
        DType::Int32 => Wide::Ints(all(bytes, <i128 as From<i32>>::from)),
        DType::Int64 => Wide::Ints(all(bytes, <i128 as From<i64>>::from)),
        DType::UInt8 => Wide::Ints(all(bytes, <i128 as From<u8>>::from)),
        DType::UInt16 => Wide::Ints(all(bytes, <i128 as From<u16>>::from)),
        DType::UInt32 => Wide::Ints(all(bytes, <i128 as From<u32>>::from)),
        DType::UInt64 => Wide::Ints(all(bytes, <i128 as From<u64>>::from)),
        DType::Bitmask => Wide::Ints(Vec::new()),
    }
}

macro_rules! integers {
    ($($type:ty),+) => {$(
        impl Paired for $type {
            fn same(self, other: Self, _nan_equal: bool) -> bool {
                self == other
            }

            fn distance(self, other: Self) -> Option<Distance> {
                Some(Distance::Int(i128::from(self).abs_diff(i128::from(other))))
            }

            #[allow(clippy::cast_precision_loss, reason = "a relative difference is a double")]
            fn magnitude(self) -> f64 {
                i128::from(self).unsigned_abs() as f64
            }

            fn within_steps(self, other: Self, steps: u64) -> bool {
                i128::from(self).abs_diff(i128::from(other)) <= u128::from(steps)
            }

            fn is_nan(self) -> bool {
                false
            }

            fn scalar(self) -> Scalar {
                Scalar::Int(i128::from(self))
            }
        }
    )+};
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64, i128);

macro_rules! floats {
    ($($type:ty, $bits:ty, $scalar:ident, $double:expr);+ $(;)?) => {$(
        impl Paired for $type {
            fn same(self, other: Self, nan_equal: bool) -> bool {
                self == other || (nan_equal && Paired::is_nan(self) && Paired::is_nan(other))
            }

            fn distance(self, other: Self) -> Option<Distance> {
                let apart = ($double(self) - $double(other)).abs();
                apart.is_finite().then_some(Distance::Float(apart))
            }

            fn magnitude(self) -> f64 {
                $double(self).abs()
            }

            fn within_steps(self, other: Self, steps: u64) -> bool {
                // Numbers in the order of the values: those of negative floats count down.
                let ordered = |float: $type| {
                    let magnitude = i128::from(float.to_bits() & (<$bits>::MAX >> 1));
                    if float.to_bits() >> (<$bits>::BITS - 1) == 1 { -magnitude } else { magnitude }
                };
                ordered(self).abs_diff(ordered(other)) <= u128::from(steps)
            }

            fn is_nan(self) -> bool {
                <$type>::is_nan(self)
            }

            fn scalar(self) -> Scalar {
                Scalar::$scalar(self)
            }
        }
    )+};
}

floats! {
    f16, u16, Float16, f16::to_f64;
    bf16, u16, BFloat16, bf16::to_f64;
    f32, u32, Float32, f64::from;
    f64, u64, Float64, f64::from;
}

/// A truth as it is stored: any byte but 0 is true.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
struct Truth(u8);

impl Truth {
    fn number(self) -> u8 {
        u8::from(self.0 != 0)
    }
}

impl Measured for Truth {
    fn is_finite(self) -> bool {
        true
    }

    fn terms(self, other: Self) -> [f64; 4] {
        self.number().terms(other.number())
    }
}

impl Paired for Truth {
    fn same(self, other: Self, _nan_equal: bool) -> bool {
        self.number() == other.number()
    }

    fn distance(self, other: Self) -> Option<Distance> {
        self.number().distance(other.number())
    }

    fn magnitude(self) -> f64 {
        self.number().magnitude()
    }

    fn within_steps(self, other: Self, steps: u64) -> bool {
        self.number().within_steps(other.number(), steps)
    }

    fn is_nan(self) -> bool {
        false
    }

    fn scalar(self) -> Scalar {
        Scalar::Bool(self.0 != 0)
    }
}

macro_rules! complex {
    ($($part:ty, $scalar:ident);+ $(;)?) => {$(
        impl Paired for [$part; 2] {
            fn same(self, other: Self, nan_equal: bool) -> bool {
                (0..2).all(|nth| self[nth].same(other[nth], nan_equal))
            }

            fn distance(self, other: Self) -> Option<Distance> {
                let part = |nth: usize| f64::from(self[nth]) - f64::from(other[nth]);
                let apart = part(0).hypot(part(1));
                apart.is_finite().then_some(Distance::Float(apart))
            }

            fn magnitude(self) -> f64 {
                f64::from(self[0]).hypot(f64::from(self[1]))
            }

            fn within_steps(self, other: Self, steps: u64) -> bool {
                (0..2).all(|nth| self[nth].within_steps(other[nth], steps))
            }

            fn is_nan(self) -> bool {
                self.iter().any(|part| part.is_nan())
            }

            fn scalar(self) -> Scalar {
                Scalar::$scalar(self[0], self[1])
            }
        }
    )+};
}

complex! { f32, Complex64; f64, Complex128 }

/// Whether a type's elements are compared with those of any other integer.
fn is_integer(dtype: DType) -> bool {
    dtype.is_integer() || dtype == DType::Bool
}
