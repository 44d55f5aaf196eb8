use half::bf16;
use tet_format::DType;

use super::super::Tolerance;
use super::DiffNorms;
use crate::budget::Execution;
use crate::catalog::AttrText;
use crate::element::nearest_f16;
use crate::selection::Hyperslab;
use crate::testing::{Order, Stored, World, world};

const COUNT: u64 = 100_003;

fn hash(n: u64) -> u64 {
    n * 2_654_435_761 % 1_000_003
}

fn first(n: u64) -> f64 {
    hash(n) as f64 / 1_000_003.0 - 0.5
}

fn second(n: u64) -> f64 {
    first(n) + ((hash(n) % 97) as f64 - 48.0) / 9700.0
}

fn array(dtype: DType, count: u64, chunk: u64, element: impl Fn(u64) -> Vec<u8>) -> World {
    world(dtype, &[count], &[chunk], Stored::Whole, Order::Packed, element)
}

fn change(left: &World, right: &World, threads: usize) -> Option<DiffNorms> {
    let [a, b] = [left, right].map(|world| &world.mapped.datasets()[0]);
    let how = Execution { threads, ..Execution::default() };
    let slab = Hyperslab::whole(a.shape());
    a.diff(&slab, b, &slab, &Tolerance::default(), &how).unwrap().value.change
}

fn figures(found: DiffNorms) -> [f64; 3] {
    [found.rms.unwrap(), found.relative_l2.unwrap(), found.cosine.unwrap()]
}

/// The numbers of NumPy, with sums of `math.fsum`:
///
/// ```text
/// h = np.arange(100003) * 2654435761 % 1000003
/// a = h / 1000003 - 0.5;  b = a + (h % 97 - 48.) / 9700;  a, b = a.astype(T).astype(float), b.astype(T).astype(float)
/// d2, a2, b2, ab = (math.fsum(x) for x in ((a - b)**2, a * a, b * b, a * b))
/// math.sqrt(d2 / a.size), math.sqrt(d2) / math.sqrt(b2), ab / (math.sqrt(a2) * math.sqrt(b2))
/// ```
#[test]
fn figures_are_those_of_numpy_to_the_last_bit() {
    type Bytes = fn(f64) -> Vec<u8>;
    let cases: [(DType, Bytes, [f64; 3]); 4] = [
        (
            DType::Float64,
            |it| it.to_le_bytes().to_vec(),
            [0.0028869159891365, 0.01000035300202216, 0.9999499955931384],
        ),
        (
            DType::Float32,
            |it| (it as f32).to_le_bytes().to_vec(),
            [0.0028869159712958834, 0.010000352939978356, 0.9999499955937579],
        ),
        (
            DType::Float16,
            |it| nearest_f16(it).to_le_bytes().to_vec(),
            [0.002888037293995333, 0.010004237978386824, 0.9999499567364853],
        ),
        (
            DType::BFloat16,
            |it| bf16::from_f32(it as f32).to_le_bytes().to_vec(),
            [0.0029489601968469177, 0.010215301575158512, 0.999947823041737],
        ),
    ];
    for (dtype, bytes, wanted) in cases {
        for chunks in [[64, 5000], [100_003, 100_003], [7000, 999]] {
            let left = array(dtype, COUNT, chunks[0], |n| bytes(first(n)));
            let right = array(dtype, COUNT, chunks[1], |n| bytes(second(n)));
            for threads in [1, 2, 5] {
                let found = change(&left, &right, threads).unwrap();
                assert_eq!((found.count, found.unmeasured), (COUNT, 0));
                assert_eq!(figures(found), wanted, "{dtype:?} {chunks:?} {threads}");
            }
        }
    }
    let left = array(DType::UInt8, COUNT, 100, |n| vec![(hash(n) % 256) as u8]);
    let right = array(DType::UInt8, COUNT, 100, |n| vec![(hash(n) / 7 % 256) as u8]);
    let found = change(&left, &right, 2).unwrap();
    assert_eq!(figures(found), [96.7660613018914, 0.656491809073768, 0.784460506952915]);
}

/// Differences of integers that float64 does not tell apart.
#[test]
fn integers_are_subtracted_exactly() {
    let of = |values: [i64; 4]| {
        array(DType::Int64, 4, 3, move |n| values[usize::try_from(n).unwrap()].to_le_bytes().into())
    };
    let left = of([i64::MAX, i64::MIN, 5, (1 << 53) + 1]);
    let right = of([i64::MAX - 1, i64::MIN + 3, 5, 1 << 53]);
    let found = change(&left, &right, 1).unwrap();
    assert_eq!(found.rms, Some(1.6583123951777));
    assert_eq!(found.relative_l2, Some(2.5426788721085933e-19));
    assert_eq!(found.cosine, Some(0.9999999999999998));
    let wide = array(DType::UInt64, 4, 4, |_| u64::MAX.to_le_bytes().into());
    let least = of([i64::MIN; 4]);
    let apart = (u128::from(u64::MAX) + (1 << 63)) as f64;
    let found = change(&least, &wide, 1).unwrap();
    assert_eq!((found.rms, found.cosine), (Some(apart), Some(-1.0)));
}

/// NaN, infinities and missing elements are in no sum, and those that differ are counted.
#[test]
fn only_finite_elements_are_measured() {
    let nan = f64::NAN;
    let of = |values: [f64; 6]| {
        array(DType::Float64, 6, 4, move |n| {
            values[usize::try_from(n).unwrap()].to_le_bytes().into()
        })
    };
    let left = of([1.0, nan, 5.0, f64::INFINITY, 4.0, -9.0]);
    let mut right = of([1.0, nan, nan, f64::INFINITY, 1.0, 0.0]);
    let found = change(&left, &right, 1).unwrap();
    assert_eq!((found.count, found.unmeasured, found.rank()), (3, 1, f64::INFINITY));
    assert_eq!(found.rms, Some(30_f64.sqrt()));
    assert_eq!(found.relative_l2, Some(90_f64.sqrt() / 2_f64.sqrt()));
    let [a, b] = [&left, &right].map(|it| it.mapped.datasets()[0].clone());
    let mut a = a;
    a.attrs.insert("_FillValue".into(), AttrText::number(DType::Float64, &(-9_f64).to_le_bytes()));
    let slab = Hyperslab::whole(a.shape());
    let found = a.diff(&slab, &b, &slab, &Tolerance::default(), &Execution::default()).unwrap();
    let found = found.value.change.unwrap();
    assert_eq!((found.count, found.unmeasured), (2, 2));
    assert_eq!((found.rms, found.relative_l2), (Some(4.5_f64.sqrt()), Some(3.0 / 2_f64.sqrt())));
    assert_eq!(change(&left, &left, 1), None, "nothing differs");
    // Without a norm to divide by.
    right = of([0.0; 6]);
    let found = change(&of([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), &right, 1).unwrap();
    assert_eq!((found.relative_l2, found.cosine), (Some(f64::INFINITY), None));
    let found = change(&of([nan; 6]), &right, 1).unwrap();
    let none = DiffNorms { unmeasured: 6, ..DiffNorms::default() };
    assert_eq!(found, none);
    // Squares that no float64 holds.
    let found = change(&of([1e200; 6]), &right, 1).unwrap();
    assert_eq!((found.rms, found.cosine), (Some(f64::INFINITY), None));
}
