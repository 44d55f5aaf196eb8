//! The datasets of a file in other chunks or by other codecs; all else of the file stays. Of a `.tet` file:
//!
//! ```text
//!   dataset that stays    stored chunks, with their digests ----------------------------> the new file
//!   dataset that changes  chunks, each read once or twice --> new chunks, encoded ------>
//! ```

mod anew;

use std::path::Path;

use tet_file::metadata::HistoryRow;
use tet_file::parts::{BaseFile, copy_dataset};
use tet_file::write::{CodecChoice, DatasetSpec, WriteOptions, Writer, ZeroExtents};
use tet_file::{DigestChoice, Protection, TetFile};
use tet_format::{Codec, Limits};
use tet_io::Output;
use tet_io::publish::in_place;
use tet_query::{Catalog, Dataset, DigestPolicy, Execution};
use tet_verify::protect::{check_sound, protect};

use crate::container::tet::chunks;
use crate::container::{EditKind, EditMode, EditOptions, Editor};
use crate::convert::resolved;
use crate::edit::report::{DatasetChange, EditReport};
use crate::edit::{check_reserve, editor_of};
use crate::{Result, chunking};
use tet_container::model::logical::byte_len;
use tet_container::no_codec;
use tet_container::read::opened::{Opened, path_of};
use tet_container::write::chunk_shape::{AskedChunks, chunks_of};
use tet_container::write::conversion::ConvertOptions;
use tet_container::write::file::folder_of;
use tet_container::write::storage::{
    self, ChunkRule, CodecRule, LeveledCodec, PayloadCodec, Storage,
};
use tet_container::write::stream;

/// The level of zstd where none is asked for.
const LEVEL: i32 = 3;

/// How a file is to be stored. What no rule holds for stays as it is.
///
/// # Examples
///
/// ```
/// use tet_convert::{AxisChunk, ChunkChoice, Repack};
///
/// let daily = ChunkChoice::Axes(vec![("time".to_owned(), AxisChunk::Extent(1))]);
/// let repack = Repack { chunks: daily.into(), ..Repack::default() };
/// assert!(repack.codecs.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Repack {
    /// The chunk shapes.
    pub chunks: Vec<ChunkRule>,
    /// The codecs; `*` names all datasets.
    pub codecs: Vec<CodecRule>,
    /// Checksums, filters and encodings of containers that have them, one rule after the other.
    pub storage: Vec<StorageRule>,
    /// Whether the new file has digests; `None` if the old one has them.
    pub digests: Option<DigestChoice>,
    /// How elements are read, and with how much memory and how many threads.
    pub execution: Execution,
}

impl Repack {
    /// Whether the file gets digests, and its datasets stay as they are stored.
    fn is_digests_alone(&self) -> bool {
        let is_stored_so =
            self.chunks.is_empty() && self.codecs.is_empty() && self.storage.is_empty();
        is_stored_so && self.digests == Some(DigestChoice::Written)
    }
}

/// Changes of how a dataset is stored, or all of them.
///
/// # Examples
///
/// ```
/// use tet_convert::{Checksum, Storage, StorageRule};
///
/// let storage = Storage { checksum: Some(Checksum::Sha256), ..Storage::default() };
/// let rule = StorageRule { dataset: "*".to_owned(), storage };
/// assert_eq!(rule.storage.codec, None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StorageRule {
    /// The dataset, by its name, as `#N`, or with `*` for any text.
    pub dataset: String,
    /// Changes of the storage.
    pub storage: Storage,
}

/// A dataset of the new file.
struct Repacked<'c> {
    dataset: &'c Dataset,
    spec: DatasetSpec,
    /// How its chunks are encoded; `None` where they are copied.
    codec: Option<CodecChoice>,
}

/// Writes a file whose datasets are stored in another way to `output`, or in the place of the old one, complete or not at
/// all. Returns what changed, and the length of the new file; with [`EditMode::Plan`] nothing is written.
///
/// Where digests are all that is requested, a `.tet` file gets them, and statistics of its chunks, as [`protect`] adds them:
/// payloads are not moved, history and unknown keys stay, and a file that has both is not replaced.
///
/// Datasets whose chunks and codec stay are copied as they are stored, with their digests. Each chunk of the others is
/// read at most twice: where the new chunks would need more, the elements are first written to a scratch file in the
/// folder of the new file, as long as all elements of the dataset.
///
/// # Errors
/// Such a file cannot be stored so, a rule holds for no dataset, digests would hide damage of the file, a chunk is damaged or longer than a quarter of the memory
/// budget, or the new file cannot be written.
///
/// # Examples
///
/// ```no_run
/// use tet_convert::{ChunkChoice, EditOptions, Repack, open, repack};
///
/// let opened = open("climate.tet", &Default::default())?;
/// let how = Repack { chunks: ChunkChoice::Auto.into(), ..Repack::default() };
/// repack(&opened, None, &how, &EditOptions::default())?;
/// # Ok::<(), tet_convert::Error>(())
/// ```
pub fn repack(
    opened: &Opened,
    output: Option<&Path>,
    how: &Repack,
    options: &EditOptions,
) -> Result<EditReport> {
    opened.check_complete()?;
    let source = opened.catalog.source();
    check_reserve(opened, options)?;
    let Some(tet) = &opened.tet else { return anew::repacked(opened, output, how, options) };
    let editor = editor_of(opened, EditKind::Repack)?;
    anew::check(opened, editor, how)?;
    if how.is_digests_alone() && options.reserved_rows == 0 {
        return with_digests(opened, editor, output, options);
    }
    let target = match output {
        Some(output) => output.to_path_buf(),
        None => path_of(source),
    };
    // Datasets as they are stored, not as what their elements stand for.
    let catalog = Catalog::from_tet(tet.clone())?;
    let datasets: Vec<&Dataset> = catalog.datasets().iter().collect();
    let mut rules = ConvertOptions::default();
    (rules.tet.chunks, rules.codecs) = (how.chunks.clone(), how.codecs.clone());
    let rules = resolved(&catalog, &datasets, &rules)?;
    let base = BaseFile::new(tet)?;
    let repacked = datasets.iter().map(|it| planned(it, tet, &base, &rules));
    let repacked = repacked.collect::<Result<Vec<Repacked<'_>>>>()?;
    let changed: Vec<&Repacked<'_>> = repacked.iter().filter(|it| it.codec.is_some()).collect();
    catalog.check_decoded(changed.iter().map(|it| it.dataset), &how.execution)?;
    let change = |it: &&Repacked<'_>| {
        let dataset = it.spec.name.clone();
        (it.dataset.index, DatasetChange::Repacked { dataset })
    };
    let mut report = EditReport::new(opened, editor, changed.iter().map(change).collect())?;
    if options.mode == EditMode::Plan {
        return Ok(report);
    }
    let has_digests = matches!(tet.protection(), Protection::Digests(_));
    if how.digests == Some(DigestChoice::Written) && !has_digests {
        check_sound(source, &Limits::default(), &options.progress)?;
    }
    let specs = repacked.iter().map(|it| it.spec.clone()).collect();
    let mut writer = Writer::create(&target, specs, &write_options(tet, output, how, options))?;
    // Digests of new chunks must not be those of damaged ones.
    let all = datasets.iter().map(|it| byte_len(it)).fold(0, u64::saturating_add);
    let digests = DigestPolicy::Always;
    let reading = Execution { digests, ..how.execution.with_progress(options.progress.begin(all)) };
    let scratch = folder_of(&target);
    for (id, it) in repacked.iter().enumerate() {
        let Some(codec) = it.codec else {
            copy_dataset(&base, id, id, &mut writer, &reading.progress)?;
            continue;
        };
        writer.set_codec(codec)?;
        let lazy = stream::whole(it.dataset)?;
        let bands = chunks::bands(&lazy, &it.spec, &reading, Some(&scratch))?;
        chunks::write(bands, id, &mut writer, &reading.progress)?;
    }
    catalog.check_unchanged()?;
    options.progress.check()?;
    let mut history = tet.history().to_vec();
    history.extend(options.history.map(|origin| {
        let name = tet_io::file_name(&path_of(source));
        let mut row = HistoryRow::new("repack", &name, &origin.at.to_string());
        row.params.insert("datasets".to_owned(), changed.len().to_string());
        row
    }));
    report.file_len = Some(writer.finish(tet.metadata(), &history)?.file_len);
    Ok(report)
}

/// Writes the file with digests, unless it has them.
fn with_digests(
    opened: &Opened,
    editor: &dyn Editor,
    output: Option<&Path>,
    options: &EditOptions,
) -> Result<EditReport> {
    let mut report = EditReport::new(opened, editor, Vec::new())?;
    if options.mode == EditMode::Write {
        let source = opened.catalog.source();
        let file = path_of(source);
        let output = output.map_or(Output::InPlace(&file), Output::NewFile);
        let limits = Limits::default();
        report.file_len = protect(source, output, &options.publish, &limits, &options.progress)?;
    }
    Ok(report)
}

/// How a dataset is stored in the new file.
fn planned<'c>(
    dataset: &'c Dataset,
    tet: &TetFile,
    base: &BaseFile,
    rules: &ConvertOptions,
) -> Result<Repacked<'c>> {
    let name = &dataset.name;
    let entry = tet.datasets().get(dataset.index).filter(|entry| entry.fault.is_none());
    let Some((entry, dtype)) = entry.and_then(|entry| Some((entry, entry.dtype?))) else {
        let what = format!("dataset {name:?} cannot be read: see what verify prints");
        return Err(tet_file::Error::Edit { what }.into());
    };
    let (shape, size) = (entry.grid.shape(), dtype.size().unwrap_or(1));
    let old = entry.grid.chunk_shape().clone();
    let chunk_shape = match chunks_of(dataset, shape, size, rules)? {
        AskedChunks::Kept => old.clone(),
        AskedChunks::Auto => chunking::auto(shape, size).into(),
        AskedChunks::Shape(chunk_shape) => chunk_shape.into(),
    };
    let within = |chunk: &[u64]| -> Vec<u64> {
        chunk.iter().zip(shape.iter()).map(|(&chunk, &extent)| chunk.min(extent)).collect()
    };
    let codecs = base.codecs(dataset.index)?;
    let is_zstd = codecs.contains(&Codec::Zstd);
    let of_now = if is_zstd { PayloadCodec::Zstd } else { PayloadCodec::Raw };
    let asked = storage::codec_of(name, of_now.into(), &rules.codecs);
    let LeveledCodec { codec, level } = asked;
    let (codec, is_codec) = match (codec, level) {
        (PayloadCodec::Raw, None) => (CodecChoice::Raw, codecs.iter().all(|it| *it == Codec::Raw)),
        (PayloadCodec::Zstd, level) => {
            let is_all = level.is_none() && codecs.iter().all(|it| *it == Codec::Zstd);
            (CodecChoice::Zstd { level: level.unwrap_or(LEVEL) }, is_all)
        }
        _ => return Err(no_codec(name, "tet", asked)),
    };
    let has_rule = !storage::codec_rules(&rules.codecs, name).is_empty();
    let stays = within(&chunk_shape) == within(&old) && (is_codec || !has_rule);
    // A dataset without elements has no chunks to be encoded.
    let stays = stays || shape.contains(&0);
    let chunk_shape = if stays && !shape.contains(&0) { old } else { chunk_shape };
    let spec = DatasetSpec { name: name.clone(), dtype, shape: shape.clone(), chunk_shape };
    Ok(Repacked { dataset, spec, codec: (!stays).then_some(codec) })
}

fn write_options(
    tet: &TetFile,
    output: Option<&Path>,
    how: &Repack,
    options: &EditOptions,
) -> WriteOptions {
    let stamp = tet.source().stamp();
    let in_place = in_place(tet.source()).filter(|_| output.is_none());
    let (overwrite, version) = in_place.unwrap_or((options.publish.force, None));
    let kept = match tet.protection() {
        Protection::Digests(_) => DigestChoice::Written,
        _ => DigestChoice::Left,
    };
    WriteOptions {
        threads: how.execution.threads,
        memory: Some(how.execution.memory_budget / 4),
        digests: how.digests.unwrap_or(kept),
        zero_extents: ZeroExtents::Allow,
        reserved_rows: options.reserved_rows,
        sync: options.publish.sync,
        overwrite,
        version,
        inputs: options.publish.inputs.iter().copied().chain(stamp).collect(),
        ..WriteOptions::default()
    }
}
