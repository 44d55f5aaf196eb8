//! Repairs, a table over all containers with checksums: every byte of a checked region with one flipped bit comes back,
//! two flipped bits are refused, and nothing else is changed.

use std::fs;
use std::path::{Path, PathBuf};

use tet_convert::{
    CheckedRegion, Checksum, ChunkChoice, ConvertOptions, PayloadCodec, RepairOptions, RepairPlan,
    ShardChoice, StoredChecksum, UnrepairedCause, container, convert, document_of, plan_repair,
    sniff, verify,
};
use tet_io::publish::Sync;
use tet_io::{Output, Overwrite, Publish, Source};

use crate::common::fits::{header, unit};
use crate::common::{deep, fixture, npy};

/// A sound file or folder.
struct Sample {
    name: &'static str,
    path: PathBuf,
    /// Elements that are stored as they are: a checked region has them.
    elements: Vec<u8>,
    /// Of how many in a hundred double flips one other flip has the same effect on the checksum, at most.
    alias_max: usize,
}

/// Elements of int16 of 3 x 6 none of whose bytes repeats in a row.
fn elements() -> Vec<u8> {
    (0..18_i16).flat_map(|it| (it * 301 - 700).to_le_bytes()).collect()
}

type Choose = fn(&mut ConvertOptions);

/// Containers that are written, from an `.npy` file.
const WRITTEN: [(&str, Choose, bool); 10] = [
    ("crc32c.zt", |_| {}, true),
    ("sha256.zt", |it| it.storage.checksum = Some(Checksum::Sha256), true),
    ("zstd.zt", |it| it.storage.codec = Some(PayloadCodec::Zstd), false),
    ("raw.tgm", |_| {}, true),
    ("zstd.tgm", |it| it.storage.codec = Some(PayloadCodec::Zstd), false),
    ("stored.npz", |_| {}, true),
    ("crc32c.zarr", |it| it.storage.checksum = Some(Checksum::Crc32c), false),
    ("sharded.zarr", sharded, false),
    ("checked.zarr", |it| (sharded(it), it.storage.checksum = Some(Checksum::Crc32c)).1, false),
    ("zipped.zarr.zip", |_| {}, false),
];

fn sharded(options: &mut ConvertOptions) {
    options.tet.chunks = ChunkChoice::Shape(vec![1, 3]).into();
    options.storage.shards = ShardChoice::Shape(vec![2, 6]);
}

/// A checkpoint, files of zTensor 1 and 2, chunks of h5py, and a deflated archive, whose last bits have no meaning.
const FIXTURES: [(&str, usize); 5] = [
    ("ztensor1.zt", 0),
    ("ztensor2.zt", 0),
    ("checksums.h5", 4),
    ("../../../../tests/data/vanish/deflated.npz", 2),
    ("../../../tet-cli/tests/fixtures/checkpoint.pt", 0),
];

fn samples(folder: &Path) -> Vec<Sample> {
    let input = folder.join("x.npy");
    fs::write(&input, npy("<i2", "False", "(3, 6)", &elements())).unwrap();
    let written = WRITTEN.iter().map(|&(name, choose, is_raw)| {
        let mut options = ConvertOptions::default();
        choose(&mut options);
        let path = folder.join(name);
        convert(&input, &path, &options).unwrap();
        let elements = if is_raw { elements() } else { Vec::new() };
        Sample { name, path, elements, alias_max: 0 }
    });
    let fixtures = FIXTURES.iter().map(|&(name, alias_max)| {
        let path = folder.join(Path::new(name).file_name().unwrap());
        fs::copy(fixture(name), &path).unwrap();
        Sample { name, path, elements: Vec::new(), alias_max }
    });
    written.chain(fixtures).collect()
}

/// The checked regions of a file.
fn regions(path: &Path) -> Vec<CheckedRegion> {
    let source = Source::open(document_of(path)).unwrap();
    let container = container(sniff(&source).unwrap()).unwrap();
    let mut regions = Vec::new();
    let repairer = container.repairer().expect("a container with checksums");
    let mut take = |region| {
        regions.push(region);
        Ok(())
    };
    repairer.regions(&source, &mut take).unwrap();
    regions
}

fn plan(path: &Path) -> RepairPlan {
    plan_repair(&Source::open(document_of(path)).unwrap(), &RepairOptions::default()).unwrap()
}

/// Makes the edits of a plan in their files.
fn apply(plan: &RepairPlan, path: &Path) {
    let publish = Publish { sync: Sync::None, ..Publish::default() };
    let applied = plan.apply(Output::InPlace(&document_of(path)), &publish).unwrap();
    assert!(applied.remaining.is_empty(), "{:?}", applied.remaining);
}

/// A file with bits flipped, and how it was.
struct Damaged {
    path: PathBuf,
    good: Vec<u8>,
    bad: Vec<u8>,
}

impl Damaged {
    fn new(path: &Path, bits: &[(u64, u8)]) -> Damaged {
        let good = fs::read(path).unwrap();
        let mut bad = good.clone();
        bits.iter().for_each(|(at, bit)| bad[usize::try_from(*at).unwrap()] ^= 1 << bit);
        fs::write(path, &bad).unwrap();
        Damaged { path: path.to_path_buf(), good, bad }
    }

    fn is_good(&self) -> bool {
        fs::read(&self.path).unwrap() == self.good
    }

    fn is_bad(&self) -> bool {
        fs::read(&self.path).unwrap() == self.bad
    }
}

impl Drop for Damaged {
    fn drop(&mut self) {
        fs::write(&self.path, &self.good).unwrap();
    }
}

/// The bytes of a region: its payload, and its checksum where that is a number; of a long file some of them.
fn bytes_of(region: &CheckedRegion) -> impl Iterator<Item = u64> + use<> {
    let field = region.field.map(|field| field.at..field.at + 4);
    let step = if region.file.len() < 8192 { 1 } else { 97 };
    region.payload.range().step_by(step).chain(field.into_iter().flatten())
}

/// Whether bits of the last byte may have no meaning.
fn is_deflated(checksum: &StoredChecksum) -> bool {
    matches!(checksum, StoredChecksum::Deflated { .. })
}

#[test]
fn a_flipped_bit_of_every_byte_is_put_back() {
    let folder = tempfile::tempdir().unwrap();
    for sample in samples(folder.path()) {
        let (name, path) = (sample.name, &sample.path);
        let regions = regions(path);
        assert!(!regions.is_empty(), "{name}");
        assert!(plan(path).plan.is_sound(), "{name}");
        let is_checked = |region: &CheckedRegion| {
            let bytes = region.file.read_vec(region.payload.start(), region.payload.len());
            bytes.unwrap().windows(sample.elements.len().max(1)).any(|it| it == sample.elements)
        };
        assert!(sample.elements.is_empty() || regions.iter().any(is_checked), "{name}");
        let mut unnoticed = 0;
        for region in &regions {
            let file = region.file.path().unwrap();
            for at in bytes_of(region) {
                let bit = u8::try_from(at * 5 % 8).unwrap();
                let damaged = Damaged::new(file, &[(at, bit)]);
                let plan = plan(path);
                if plan.plan.is_sound() && is_deflated(&region.checksum) {
                    unnoticed += 1;
                    continue;
                }
                let edits: Vec<(u64, u8)> =
                    plan.plan.edits.iter().map(|it| (it.offset, it.action.bit)).collect();
                assert_eq!(edits, [(at, bit)], "{name}: {region}, byte {at}: {:?}", plan.plan.lost);
                assert!(plan.plan.is_whole() && damaged.is_bad(), "{name}: {at}");
                apply(&plan, path);
                assert!(damaged.is_good(), "{name}: byte {at}");
            }
        }
        assert!(unnoticed <= regions.len(), "{name}: {unnoticed}");
    }
}

#[test]
fn two_flipped_bits_of_a_region_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for sample in samples(folder.path()) {
        let (name, path) = (sample.name, &sample.path);
        let (mut tried, mut aliases) = (0, 0);
        for region in regions(path) {
            let file = region.file.path().unwrap();
            let payload = region.payload.range();
            let is_second = |at: &u64| payload.start < *at && *at < payload.end;
            for at in bytes_of(&region).filter(is_second) {
                let (bit, other) = ((at * 5 % 8) as u8, (at * 3 % 8) as u8);
                let damaged = Damaged::new(file, &[(at, bit), (at - 1, other)]);
                let plan = plan(path);
                tried += 1;
                aliases += plan.plan.edits.len();
                assert!(damaged.is_bad(), "{name}: a plan changes nothing");
                if plan.plan.edits.is_empty() {
                    assert!(
                        !plan.plan.lost.is_empty() || !plan.plan.remaining.is_empty(),
                        "{name}"
                    );
                    let publish = Publish { sync: Sync::None, ..Publish::default() };
                    let untouched = plan.apply(Output::InPlace(&document_of(path)), &publish);
                    assert_eq!(untouched.unwrap().edit_count, 0);
                    assert!(damaged.is_bad(), "{name}: nothing is written");
                }
            }
        }
        assert!(aliases * 100 <= tried * sample.alias_max, "{name}: {aliases} of {tried}");
    }
}

/// A sum of words does not tell which of them changed: the bit is put back where no other word can have lost it.
#[test]
fn the_sum_of_a_fits_file_proves_a_bit_that_one_word_alone_can_have_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.fits");
    let data: Vec<u8> = (1..13_u8).flat_map(|it| [0, it]).collect();
    let words = data.as_chunks::<4>().0.iter();
    let sum: u64 = words.map(|it| u64::from(u32::from_le_bytes(*it).swap_bytes())).sum();
    let card = format!("DATASUM='{sum}'");
    let cards = ["SIMPLE=T", "BITPIX=16", "NAXIS=2", "NAXIS1=4", "NAXIS2=3", card.as_str()];
    fs::write(&path, unit(&cards, &data)).unwrap();
    assert!(verify(&Source::open(&path).unwrap(), &deep()).unwrap().is_ok());
    let start = header(&cards).len() as u64;
    let (mut restored, mut refused) = (0, 0);
    for (at, bit) in
        (start..start + data.len() as u64).flat_map(|at| (0..8).map(move |it| (at, it)))
    {
        let damaged = Damaged::new(&path, &[(at, bit)]);
        let plan = plan(&path);
        match &plan.plan.edits[..] {
            [edit] => {
                assert_eq!((edit.offset, edit.action.bit), (at, bit));
                apply(&plan, &path);
                assert!(damaged.is_good());
                restored += 1;
            }
            _ => {
                assert_eq!(plan.plan.lost[0].cause, UnrepairedCause::SeveralBits);
                refused += 1;
            }
        }
    }
    // The high bits are zero in all other words.
    assert!(restored >= 12 * 12 && refused > 0, "{restored} {refused}");
}

#[test]
fn bits_of_several_regions_are_put_back_together() {
    let folder = tempfile::tempdir().unwrap();
    for sample in samples(folder.path()) {
        let mut regions = regions(&sample.path);
        // Parts of zTensor files may share their bytes.
        let start =
            |it: &CheckedRegion| (it.file.path().map(Path::to_path_buf), it.payload.start());
        regions.sort_by_key(start);
        regions.dedup_by_key(|it| start(it));
        let damaged: Vec<Damaged> = regions
            .iter()
            .map(|it| Damaged::new(it.file.path().unwrap(), &[(it.payload.start(), 3)]))
            .collect();
        let plan = plan(&sample.path);
        // The chunks of a shard are found by its index alone.
        if sample.name.ends_with(".zarr") && sample.name != "crc32c.zarr" {
            continue;
        }
        assert_eq!(plan.plan.edits.len(), regions.len(), "{}: {:?}", sample.name, plan.plan.lost);
        apply(&plan, &sample.path);
        // Files with several regions were damaged one bit after the other.
        assert!(damaged.first().is_some_and(Damaged::is_good), "{}", sample.name);
        damaged.into_iter().rev().for_each(drop);
    }
}

/// A bit that is right for one tensor and wrong for another one of the same bytes stays.
#[test]
fn a_byte_with_two_checksums_is_repaired_by_both() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = [("a", [7, 7, 7, 7]), ("b", [7, 7, 7, 6])].map(|(name, elements)| {
        let path = folder.path().join(format!("{name}.npy"));
        fs::write(&path, npy("|u1", "False", "(4,)", &elements)).unwrap();
        path
    });
    let path = folder.path().join("x.zt");
    tet_convert::convert_merged(&inputs, &path, &ConvertOptions::default()).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(8).position(|it| it == b"offset\x18\x80").expect("the second blob");
    bytes[at + 7] = 64;
    fs::write(&path, &bytes).unwrap();
    let plan = plan(&path);
    assert!(plan.plan.edits.is_empty(), "{:?}", plan.plan.edits);
    assert_eq!(plan.plan.lost.len(), 1);
}

#[test]
fn chosen_edits_are_made_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.h5");
    fs::copy(fixture("checksums.h5"), &path).unwrap();
    let regions = regions(&path);
    let [first, .., last] = &regions[..] else { panic!("several chunks") };
    let bits = [(first.payload.start(), 1), (last.payload.start(), 1)];
    let _damaged = Damaged::new(&path, &bits);
    let mut plan = plan(&path);
    assert_eq!(plan.plan.edits.len(), 2);
    plan.retain(|edit| edit.offset == bits[0].0).unwrap();
    assert_eq!((plan.plan.edits.len(), plan.plan.remaining.len()), (1, 1));
    let output = folder.path().join("other.h5");
    let publish = Publish { force: Overwrite::Refuse, ..Publish::default() };
    let applied = plan.apply(Output::NewFile(&output), &publish).unwrap();
    assert_eq!((applied.edit_count, applied.remaining.len()), (1, 1));
    assert!(plan.apply(Output::NewFile(&output), &publish).is_err(), "it exists");
}

#[test]
fn a_folder_is_not_written_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let samples = samples(folder.path());
    let sample = samples.iter().find(|it| it.name == "crc32c.zarr").unwrap();
    let region = &regions(&sample.path)[0];
    let damaged = Damaged::new(region.file.path().unwrap(), &[(region.payload.start(), 0)]);
    let plan = plan(&sample.path);
    assert!(!plan.is_of_one_file() && plan.plan.edits[0].action.object.is_some());
    let other = folder.path().join("other.zarr");
    let refused = plan.apply(Output::NewFile(&other), &Publish::default()).unwrap_err();
    assert!(refused.to_string().contains("in its place") && !other.exists(), "{refused}");
    assert!(damaged.is_bad());
}

/// In long bytes too many bits match a checksum of 32 bits by chance, and trying bits takes too long.
#[test]
fn long_regions_are_not_searched() {
    let folder = tempfile::tempdir().unwrap();
    let long = vec![7; usize::try_from(tet_convert::SUM_LEN_MAX).unwrap()];
    let input = folder.path().join("x.npy");
    fs::write(&input, npy("|u1", "False", &format!("({},)", long.len()), &long)).unwrap();
    for (name, len_max) in
        [("x.npz", tet_convert::SUM_LEN_MAX), ("x.tgm", tet_convert::DIGEST_LEN_MAX)]
    {
        let path = folder.path().join(name);
        convert(&input, &path, &ConvertOptions::default()).unwrap();
        let at = fs::metadata(&path).unwrap().len() / 2;
        let damaged = Damaged::new(&path, &[(at, 2)]);
        let plan = plan(&path);
        let causes: Vec<UnrepairedCause> = plan.plan.lost.iter().map(|it| it.cause).collect();
        assert_eq!(causes, [UnrepairedCause::Long { len_max }], "{name}");
        assert!(plan.plan.edits.is_empty() && damaged.is_bad());
    }
}

#[test]
fn files_without_checksums_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    fs::write(&path, npy("<i2", "False", "(3, 6)", &elements())).unwrap();
    let source = Source::open(&path).unwrap();
    let refused = plan_repair(&source, &RepairOptions::default()).unwrap_err();
    assert!(refused.to_string().contains("no checksums"), "{refused}");
}

/// Files whose structure is damaged have regions, or none; neither is an error.
#[test]
fn any_bytes_have_a_plan() {
    let folder = tempfile::tempdir().unwrap();
    for sample in samples(folder.path()).iter().filter(|it| it.path.is_file()) {
        let good = fs::read(&sample.path).unwrap();
        let step = (good.len() / 150).max(1);
        for at in (0..good.len()).step_by(step) {
            let mut bad = good.clone();
            bad[at] = !bad[at];
            for bytes in [bad, good[..at].to_vec()] {
                let source = Source::from_named_bytes(&sample.path, bytes);
                let format = sniff(&source).unwrap();
                if container(format).is_none_or(|it| it.repairer().is_none()) {
                    continue;
                }
                match plan_repair(&source, &RepairOptions::default()) {
                    Ok(plan) => assert!(plan.plan.error_count == 0 || !plan.plan.is_whole()),
                    Err(error) => assert_ne!(error.kind(), tet_io::Kind::Io, "{}", sample.name),
                }
            }
        }
    }
}
