//! Planning: few and many chunks, raw boxes that cut through tiles.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tet_bench::data::{bytes, catalog_of, first, spec};
use tet_format::DType;
use tet_io::Source;
use tet_query::{Axis, AxisSlice, Coalesce, Hyperslab, plan};

const SHAPE: [u64; 2] = [1000, 1000];

fn plans(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plan");
    let file = bytes(vec![spec("x", DType::UInt8, &SHAPE, &[10, 10])]).expect("a sound file");
    let catalog = catalog_of(Source::from_bytes(file)).expect("a sound file");
    let dataset = first(&catalog).expect("a dataset");
    for extent in [10, 95, 1000] {
        let slice = AxisSlice { start: 0, stop: extent, step: 1, axis: Axis::Kept };
        let slab = Hyperslab::new(vec![slice; 2], &SHAPE).expect("a slab that fits");
        group.throughput(Throughput::Elements(extent.div_ceil(10).pow(2)));
        group.bench_function(BenchmarkId::new("box", extent), |bencher| {
            bencher.iter(|| plan(dataset, black_box(&slab), Coalesce::DEFAULT));
        });
    }
    group.finish();
}

criterion_group!(benches, plans);
criterion_main!(benches);
