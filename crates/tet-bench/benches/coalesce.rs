//! Coalescing: packed spans, spans with gaps, under each policy.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tet_format::Span;
use tet_query::{Coalesce, coalesce};

const SPAN_COUNT: u64 = 100_000;

fn runs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("coalesce");
    group.throughput(Throughput::Elements(SPAN_COUNT));
    for gap in [0, 4096, 1 << 20] {
        let span = |i: u64| Span::new(i * (4096 + gap), 4096).expect("a span of a file");
        let spans: Vec<Span> = (0..SPAN_COUNT).map(span).collect();
        group.bench_function(BenchmarkId::new("gap", gap), |bencher| {
            bencher.iter(|| coalesce(black_box(&spans), Coalesce::DEFAULT));
        });
    }
    group.finish();
}

criterion_group!(benches, runs);
criterion_main!(benches);
