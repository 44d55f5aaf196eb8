//! Reading the structure of files: a long directory, a long index.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tet_bench::data::{bytes, spec};
use tet_format::{DType, File};

fn parse(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parse");
    let specs = (0..1000).map(|i| spec(&format!("variable-{i:04}"), DType::Float32, &[4], &[4]));
    let datasets = bytes(specs.collect()).expect("a sound file");
    let rows = bytes(vec![spec("x", DType::Float32, &[10_000], &[1])]).expect("a sound file");

    group.throughput(Throughput::Elements(1000));
    group.bench_function("records", |bencher| {
        bencher.iter(|| {
            let file = File::read(black_box(&datasets)).expect("a sound file");
            file.directory.iter().map(|record| record.name().len()).sum::<usize>()
        });
    });
    group.throughput(Throughput::Elements(10_000));
    group.bench_function("rows", |bencher| {
        bencher.iter(|| {
            let file = File::read(black_box(&rows)).expect("a sound file");
            file.index.rows().map(|row| row.stored_len).sum::<u64>()
        });
    });
    group.finish();
}

criterion_group!(benches, parse);
criterion_main!(benches);
