//! Reads are the runs of the plan, range by range, in every container.
//!
//! ```text
//!   container x selection x read or reduction x policy x memory x threads
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tet_convert::{ConvertOptions, OpenOptions};
use tet_file::write::CodecChoice;
use tet_format::write::DatasetSpec;
use tet_format::{DType, Span};
use tet_io::Source;
use tet_query::{
    Axes, Axis, AxisSlice, Catalog, Coalesce, Dataset, DigestPolicy, Execution, Hyperslab, Op,
    Params, Reduction, Window, WindowAlign, WindowMode,
};
use tet_tests::meter::{Bytes, Meter};
use tet_tests::values::Seeded;
use tet_tests::written::{self, Written};

const SHAPE: [u64; 3] = [14, 160, 150];

/// Numbers that compress a little.
fn elements(dtype: DType) -> Vec<u8> {
    let mut seeded = Seeded(3);
    let size = usize::try_from(dtype.size().unwrap()).unwrap();
    let mut element = || {
        let bits = seeded.bits() >> 56;
        if dtype == DType::Float64 { (bits as f64).to_le_bytes() } else { bits.to_le_bytes() }
    };
    (0..SHAPE.iter().product()).flat_map(|_: u64| element()[..size].to_vec()).collect()
}

/// Whole rows, tiles and slabs, clipped, of elements of three sizes.
fn sample(folder: &Path, encoder: CodecChoice) -> PathBuf {
    let of = |name: &str, dtype, chunk: [u64; 3]| Written {
        spec: DatasetSpec::new(name, dtype, SHAPE, chunk),
        elements: elements(dtype),
    };
    let datasets = [
        of("tiles", DType::UInt32, [4, 64, 64]),
        of("slabs", DType::Float64, [1, 160, 150]),
        of("one", DType::UInt16, SHAPE),
        of("rows", DType::UInt8, [3, 1, 150]),
    ];
    written::write(folder, "sample.tet", &datasets, encoder)
}

/// A catalog that lists what is read of each of its files.
struct Metered {
    catalog: Catalog,
    meters: Vec<Arc<Meter<Bytes>>>,
}

impl Metered {
    fn open(path: &Path) -> Metered {
        let opened = tet_convert::open(path, &OpenOptions::default()).unwrap();
        let mut files: BTreeMap<PathBuf, (Source, Arc<Meter<Bytes>>)> = BTreeMap::new();
        let mut metered = |path: &Path| {
            let file = files.entry(path.to_path_buf()).or_insert_with(|| {
                let meter = Arc::new(Meter::new(Bytes(std::fs::read(path).unwrap())));
                (Source::from_reader(meter.clone()), meter)
            });
            file.0.clone()
        };
        let catalog = if opened.catalog.shards().is_empty() {
            let options = OpenOptions::default();
            tet_convert::open_source(metered(path), &options).unwrap().catalog
        } else {
            let datasets = opened.catalog.datasets().iter().map(|dataset| {
                let path = dataset.source.path().unwrap();
                Dataset { source: metered(path), ..dataset.clone() }
            });
            let datasets = datasets.collect();
            Catalog::new(metered(path), opened.catalog.format(), datasets)
        };
        Metered { catalog, meters: files.into_values().map(|(_, meter)| meter).collect() }
    }

    /// Reads by `answer` of the stored bytes of a dataset, in file order.
    fn reads(&self, dataset: &Dataset, answer: impl FnOnce()) -> Vec<Span> {
        let whole = Hyperslab::whole(dataset.shape());
        let plan = tet_query::plan(dataset, &whole, Coalesce::NONE).unwrap();
        let is_payload =
            |read: &Span| plan.chunks().iter().any(|chunk| chunk.place.stored.overlaps(*read));
        self.meters.iter().for_each(|meter| meter.reset());
        answer();
        let reads = self.meters.iter().flat_map(|meter| meter.reads());
        let mut reads: Vec<Span> = reads.filter(is_payload).collect();
        reads.sort_unstable();
        reads
    }

    /// Checks all selections, ways of reading and questions; gives how many runs there were.
    fn check(&self, what: &str, digests: DigestPolicy) -> usize {
        let mut count = 0;
        for dataset in self.catalog.datasets() {
            for slab in &slabs() {
                for how in &executions(digests) {
                    let about = format!("{what}, {}, {slab:?}, {how:?}", dataset.name);
                    let mut runs = Vec::new();
                    let visit = &mut |run: tet_query::ReadRange| runs.push(run.span);
                    dataset.read_runs(slab, how, visit).unwrap();
                    runs.sort_unstable();
                    count += runs.len();
                    let read = || drop(dataset.read(slab, how).unwrap());
                    assert_eq!(self.reads(dataset, read), runs, "{about}");
                    for reduction in &reductions() {
                        count += self.check_reduction(dataset, slab, reduction, how, &about);
                    }
                }
            }
        }
        count
    }

    fn check_reduction(
        &self,
        dataset: &Dataset,
        slab: &Hyperslab,
        reduction: &Reduction,
        how: &Execution,
        about: &str,
    ) -> usize {
        let mut runs = Vec::new();
        let visit = &mut |run: tet_query::ReadRange| runs.push(run.span);
        dataset.reduce_runs(slab, reduction, how, visit).unwrap();
        runs.sort_unstable();
        let reduce = || drop(dataset.reduce(slab, reduction, how).unwrap());
        assert_eq!(self.reads(dataset, reduce), runs, "{about}, {reduction:?}");
        runs.len()
    }
}

fn slabs() -> Vec<Hyperslab> {
    let slice = |start, stop, step| AxisSlice { start, stop, step, axis: Axis::Kept };
    let all = SHAPE.map(AxisSlice::whole);
    let slabs = [
        all,
        [slice(5, 6, 1), all[1], all[2]],
        [all[0], slice(33, 34, 1), slice(44, 45, 1)],
        [slice(1, 14, 3), slice(5, 155, 2), slice(3, 140, 7)],
        [slice(2, 9, 1), slice(60, 130, 1), slice(0, 150, 60)],
        [slice(2, 2, 1), all[1], all[2]],
    ];
    slabs.into_iter().map(|slices| Hyperslab::new(slices.to_vec(), &SHAPE).unwrap()).collect()
}

fn executions(digests: DigestPolicy) -> Vec<Execution> {
    let mut out = Vec::new();
    for (coalesce, memory_budget) in [
        (Coalesce::DEFAULT, 1 << 30),
        (Coalesce::NONE, 1 << 30),
        (Coalesce::DEFAULT, 3 << 20),
        (Coalesce::WIDE, 3 << 20),
    ] {
        for threads in [1, 4] {
            let how = Execution { threads, memory_budget, coalesce, ..Execution::default() };
            out.push(Execution { digests, ..how });
        }
    }
    out
}

/// Those that take one pass, or none, over all axes and over some.
fn reductions() -> Vec<Reduction> {
    let params = Params { bins: 5, range: Some((0.0, 9.0)), ..Params::default() };
    vec![
        Reduction::all(Op::Count),
        Reduction::all(Op::Sum),
        Reduction::along(Op::Mean, [0]),
        Reduction::along(Op::Max, [2]),
        Reduction::along(Op::Std, [0, 1]),
        Reduction { params, ..Reduction::all(Op::Histogram) },
    ]
}

#[test]
fn what_is_read_of_a_tet_file_are_the_runs_of_the_plan() {
    for encoder in [CodecChoice::Raw, CodecChoice::Zstd { level: 1 }] {
        let folder = tempfile::tempdir().unwrap();
        let metered = Metered::open(&sample(folder.path(), encoder));
        assert!(metered.check(&format!("{encoder:?}"), DigestPolicy::Auto) > 1000);
    }
}

#[test]
fn what_is_read_of_other_containers_are_the_runs_of_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let from = sample(folder.path(), CodecChoice::Raw);
    let mut sharded = ConvertOptions::default();
    sharded.shard_len = Some(1 << 20);
    for (name, options) in [
        ("sample.zt", ConvertOptions::default()),
        ("sample.tgm", ConvertOptions::default()),
        ("sample.safetensors.index.json", sharded),
    ] {
        let to = folder.path().join(name);
        tet_convert::convert(&from, &to, &options).unwrap();
        let metered = Metered::open(&to);
        let is_sharded = name.ends_with(".json");
        assert!(!is_sharded || metered.meters.len() > 2, "{name} has shards");
        assert!(metered.check(name, DigestPolicy::Never) > 1000, "{name}");
    }
}

/// Windows that overlap are folded by tasks that overlap: raw bytes are read for each.
#[test]
fn what_is_read_for_windows_are_the_runs_of_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let metered = Metered::open(&sample(folder.path(), CodecChoice::Raw));
    let (mode, align, pad, min_count) = (WindowMode::Rolling, WindowAlign::Start, None, None);
    for axis in 0..3 {
        let window = Window { axis, size: 5, step: 1, mode, pad, align, min_count };
        let axes = Axes::Some(vec![(axis + 1) % 3]);
        let reduction = Reduction { window: Some(window), axes, ..Reduction::all(Op::Max) };
        for dataset in metered.catalog.datasets() {
            let slab = Hyperslab::whole(dataset.shape());
            for threads in [1, 4] {
                let digests = DigestPolicy::Never;
                let how = Execution { threads, digests, ..Execution::default() };
                let about = format!("{} by windows along {axis}", dataset.name);
                metered.check_reduction(dataset, &slab, &reduction, &how, &about);
            }
        }
    }
}
