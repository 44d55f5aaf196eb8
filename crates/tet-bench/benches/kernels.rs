//! Kernels on one thread over 4 MiB in memory: every reduction of every element type, means along
//! each axis, and the digest of a chunk without and with its statistics.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tet_bench::data::{bytes, catalog_of, first, spec};
use tet_codec::digest_and_statistics;
use tet_format::DType;
use tet_io::Source;
use tet_query::{Axes, Catalog, Execution, Hyperslab, Op, Reduction};

const BYTE_LEN: u64 = 1 << 22;

fn catalog(dtype: DType) -> Catalog {
    let rows = BYTE_LEN / dtype.size().expect("whole bytes") / (256 * 256);
    let shape = [rows, 256, 256];
    let file = bytes(vec![spec("x", dtype, &shape, &shape)]).expect("a sound file");
    catalog_of(Source::from_bytes(file)).expect("a sound file")
}

fn reduce(catalog: &Catalog, reduction: &Reduction) {
    let dataset = first(catalog).expect("a dataset");
    let slab = Hyperslab::whole(dataset.shape());
    let how = Execution { threads: 1, ..Execution::default() };
    black_box(dataset.reduce(&slab, reduction, &how)).expect("a value");
}

fn kernels(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("kernels");
    group.throughput(Throughput::Bytes(BYTE_LEN));
    group.sample_size(20);
    for &dtype in DType::ALL.iter().filter(|dtype| dtype.tet_tag().is_some()) {
        let catalog = catalog(dtype);
        for op in [Op::Sum, Op::Mean, Op::Min, Op::Max] {
            let id = BenchmarkId::new(op.name(), dtype.name());
            let reduction = Reduction::all(op);
            group.bench_function(id, |bencher| bencher.iter(|| reduce(&catalog, &reduction)));
        }
        for axis in 0..3 {
            let id = BenchmarkId::new(format!("mean-axis-{axis}"), dtype.name());
            let (op, axes) = (Op::Mean, Axes::Some(vec![axis]));
            let reduction = Reduction { axes, ..Reduction::all(op) };
            group.bench_function(id, |bencher| bencher.iter(|| reduce(&catalog, &reduction)));
        }
    }
    group.finish();
}

fn statistics(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("statistics");
    group.throughput(Throughput::Bytes(BYTE_LEN));
    // Finite as every element type.
    let elements: Vec<u8> = (0..BYTE_LEN).map(|i| (i * 7 % 61) as u8).collect();
    let measured = DType::ALL.iter().filter(|it| it.tet_tag().is_some()).map(|&it| Some(it));
    for dtype in std::iter::once(None).chain(measured) {
        let id = BenchmarkId::new("digest", dtype.map_or("alone", DType::name));
        group.bench_function(id, |bencher| {
            bencher.iter(|| black_box(digest_and_statistics(black_box(&elements), dtype)));
        });
    }
    group.finish();
}

criterion_group!(benches, kernels, statistics);
criterion_main!(benches);
