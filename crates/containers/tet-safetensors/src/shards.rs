//! A model in several files, opened: each shard once, each tensor in its shard.
//!
//! The index says what the model is. Its tensors are in the order of its map; a tensor that a shard
//! has and the map does not place there is reported, and is none of the model's. A shard that is missing or
//! damaged costs its tensors: they are listed, and the others are read.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use tet_format::{ForeignFault, ForeignRule, Span};
use tet_io::Source;
use tet_query::{AttrText, Catalog, Dataset};
use tet_verify::{
    ForeignFindings, ForeignFound, ForeignSeen, Integrity, Level, Report, VerifyOptions,
};

use super::header::{self, Header, PREFIX_LEN};
use super::index::{self, ShardIndex, at_index};
use super::{catalog, check, rule};
use tet_container::model::origin::{INDEX_KEY, ORDER_KEY};
use tet_container::read::opened::{FileRegion, OpenOptions, Opened, path_of};
use tet_container::read::set::PartName;
use tet_container::{Error, Format, Result};

/// An index with more tensors that cannot be read is not opened: each takes memory, and few bytes of
/// the index.
const LOST_MAX: usize = 50_000;

/// Takes what is found: the shard, where it is not in the index, and what it is.
type OnFinding<'a> = &'a mut dyn FnMut(Option<&str>, ForeignFound);

/// A model, as far as it is there.
struct Model {
    index: ShardIndex,
    shards: Vec<Shard>,
    /// Where each tensor of the index is in its shard, or why it is not.
    places: Vec<std::result::Result<usize, ForeignFault>>,
}

/// A shard that can be read, or why it cannot.
type Shard = std::result::Result<Sound, ForeignFault>;

struct Sound {
    source: Source,
    header: Header,
}

/// Opens the model whose index is at `path`.
pub(crate) fn open(path: &Path, source: Source, opening: &OpenOptions) -> Result<Opened> {
    let options = VerifyOptions::default();
    let mut findings = ForeignFindings::new(&options);
    let refused = |fault| {
        let path = path.to_path_buf();
        Error::Foreign { path, format: Format::SAFETENSORS_INDEX, fault }
    };
    let mut found = |shard: Option<&str>, it| take(&mut findings, shard, it);
    let model = read(&source, opening, &options, &mut found)?.map_err(refused)?;
    let mut lost = model.places.iter().filter_map(|it| it.err());
    if let Some(fault) = lost.nth(LOST_MAX) {
        return Err(refused(fault));
    }
    let regions = regions(&source, &model);
    let Model { index, shards, places } = model;
    let mut attrs = BTreeMap::new();
    if !index.about.is_empty() {
        let about =
            index.about.iter().map(|(key, value)| format!("{}:{value}", serde_json::json!(key)));
        let about = format!("{{{}}}", about.collect::<Vec<_>>().join(","));
        attrs.insert(INDEX_KEY.to_owned(), AttrText::Json(about));
    }
    let mut tensors = Vec::with_capacity(shards.len());
    let mut sources = Vec::new();
    let mut order: Vec<String> = Vec::new();
    for shard in shards {
        let sound = shard.ok();
        sources.extend(sound.as_ref().map(|sound| sound.source.clone()));
        let (metadata, held) = sound.map_or_else(Default::default, |it| {
            let held: Vec<_> = it.header.tensors.into_iter().map(Some).collect();
            (it.header.metadata, (Some(it.source), held))
        });
        order.extend(metadata.iter().map(|(key, _)| key.clone()));
        for (key, value) in metadata {
            attrs.entry(key).or_insert(AttrText::Text(value));
        }
        tensors.push(held);
    }
    keep_order(order, &mut attrs);
    let datasets = index.tensors.into_iter().zip(places).map(|(mapped, place)| {
        let shard = index.shards[mapped.shard].name.as_str();
        let (held_in, held) = &mut tensors[mapped.shard];
        let tensor = place.map(|at| held.get_mut(at).and_then(Option::take));
        match (tensor, held_in) {
            (Ok(Some(tensor)), Some(held_in)) => catalog::dataset(tensor, held_in, Some(shard)),
            (Err(fault), _) => catalog::lost(&source, mapped.name, shard, fault),
            // Every name is once in the map, so every tensor is there to be taken.
            _ => {
                let fault = at_index(&rule::TENSOR_MISSING, mapped.at);
                catalog::lost(&source, mapped.name, shard, fault)
            }
        }
    });
    let mut datasets: Vec<Dataset> = datasets.collect();
    super::attrs::give(&mut attrs, &mut datasets);
    let name = Format::SAFETENSORS_INDEX.name();
    let catalog = Catalog::new(source, name, datasets).with_attrs(attrs).with_shards(sources);
    let findings = findings.report(&ForeignSeen::default()).findings;
    Ok(Opened { findings, regions, ..Opened::new(Format::SAFETENSORS_INDEX, catalog) })
}

/// Keeps the order of the strings of the shards, where it is another than that of the attributes.
fn keep_order(mut order: Vec<String>, attrs: &mut BTreeMap<String, AttrText>) {
    let mut seen = HashSet::new();
    order.retain(|key| seen.insert(key.clone()));
    if !order.is_sorted() {
        attrs.insert(ORDER_KEY.to_owned(), AttrText::Json(serde_json::json!(order).to_string()));
    }
}

/// Checks a model: its index, every shard, and whether they agree.
pub(crate) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    if source.path().is_none() {
        let format = Format::SAFETENSORS_INDEX;
        return Err(Error::NotVerifiable { path: path_of(source), format });
    }
    let mut findings = ForeignFindings::new(options);
    let mut found = |shard: Option<&str>, it| take(&mut findings, shard, it);
    let model = read(source, &OpenOptions::default(), options, &mut found)?;
    let mut seen = ForeignSeen {
        file_len: source.len(),
        integrity: Integrity::Unprotected,
        ..ForeignSeen::default()
    };
    let Ok(Model { index, shards, places }) = model else { return Ok(findings.report(&seen)) };
    let count = places.iter().filter(|place| place.is_ok()).count();
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    (seen.dataset_count, seen.chunk_count) = (count, count);
    for Sound { source, header } in shards.iter().flatten() {
        seen.file_len = seen.file_len.saturating_add(source.len());
        seen.stored_len = seen.stored_len.saturating_add(header.buffer.len());
    }
    seen.decoded_len = seen.stored_len;
    let progress = options.progress.begin(seen.stored_len);
    for (named, shard) in index.shards.iter().zip(&shards) {
        let Ok(Sound { source, header }) = shard else { continue };
        if options.level == Level::Deep {
            for (tensor, at) in header.tensors.iter().zip(0..) {
                let mut found = |it| findings.take_in(&named.name, it);
                check::elements(source, tensor, at, &progress, &mut found)?;
                seen.payload_len = seen.payload_len.saturating_add(tensor.stored.len());
            }
        }
        source.check_unchanged()?;
    }
    source.check_unchanged()?;
    Ok(findings.report(&seen))
}

fn take(findings: &mut ForeignFindings<'_>, shard: Option<&str>, found: ForeignFound) {
    match shard {
        Some(shard) => findings.take_in(shard, found),
        None => findings.take(found),
    }
}

/// Reads the index and the headers of all shards, and lays one over the other.
fn read(
    source: &Source,
    opening: &OpenOptions,
    options: &VerifyOptions,
    found: OnFinding<'_>,
) -> Result<std::result::Result<Model, ForeignFault>> {
    let index = match index::read(source, &mut |it| found(None, it))? {
        Ok(index) => index,
        Err(fault) => return Ok(Err(fault)),
    };
    let mut shards: Vec<Shard> = Vec::with_capacity(index.shards.len());
    for named in &index.shards {
        options.progress.check().map_err(tet_verify::Error::from)?;
        let opened = opening.beside(source, &named.name);
        let shard = match shard(opened, &shards, &mut |it| found(Some(&named.name), it))? {
            Ok(shard) => shard,
            Err(rule) => {
                let fault = at_index(rule, named.at);
                found(
                    Some(&named.name),
                    ForeignFound { fault, field: "value", len: 1, dataset: None },
                );
                Err(fault)
            }
        };
        shards.push(shard);
    }
    // Writers remove the index before they replace the first shard, so that all are of one model while it is there.
    source.check_in_place()?;
    let places = laid(&index, &shards, found);
    check_agreement(&index, &shards, found);
    Ok(Ok(Model { index, shards, places }))
}

/// Reads the header of a shard; the rule is one about the index.
fn shard(
    opened: tet_io::Result<Source>,
    before: &[Shard],
    found: &mut dyn FnMut(ForeignFound),
) -> Result<std::result::Result<Shard, &'static ForeignRule>> {
    let source = match opened {
        Ok(source) => source,
        Err(tet_io::Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Err(&rule::SHARD_MISSING));
        }
        Err(tet_io::Error::NotRegular { .. }) => return Ok(Err(&rule::SHARD_FORMAT)),
        Err(error) => return Err(error.into()),
    };
    let is_same = |it: &Sound| {
        let stamps = it.source.stamp().zip(source.stamp());
        stamps.is_some_and(|(one, other)| one.is_same_file(&other))
    };
    if before.iter().flatten().any(is_same) {
        return Ok(Err(&rule::SHARD_TWICE));
    }
    let head = source.read_vec(0, source.len().min(PREFIX_LEN + 2))?;
    if !header::is_likely(&head, source.len()) {
        return Ok(Err(&rule::SHARD_FORMAT));
    }
    let header = header::read(&source, found)?;
    Ok(Ok(header.map(|header| Sound { source, header })))
}

/// Where each tensor of the index is, and what else shards hold.
fn laid(
    index: &ShardIndex,
    shards: &[Shard],
    found: OnFinding<'_>,
) -> Vec<std::result::Result<usize, ForeignFault>> {
    let mut names: Vec<HashMap<&str, usize>> = shards
        .iter()
        .map(|shard| {
            let tensors = shard.iter().flat_map(|sound| sound.header.tensors.iter());
            tensors.enumerate().map(|(at, tensor)| (tensor.name.as_str(), at)).collect()
        })
        .collect();
    let mut places = Vec::with_capacity(index.tensors.len());
    for (mapped, position) in index.tensors.iter().zip(0..) {
        places.push(
            match (&shards[mapped.shard], names[mapped.shard].remove(mapped.name.as_str())) {
                (Err(fault), _) => Err(*fault),
                (Ok(_), Some(at)) => Ok(at),
                (Ok(_), None) => {
                    let fault = at_index(&rule::TENSOR_MISSING, mapped.at);
                    let dataset = Some((position, mapped.name.clone()));
                    let shard = Some(index.shards[mapped.shard].name.as_str());
                    found(shard, ForeignFound { fault, field: "key", len: 1, dataset });
                    Err(fault)
                }
            },
        );
    }
    for ((left, shard), named) in names.iter().zip(shards).zip(&index.shards) {
        let Ok(Sound { header, .. }) = shard else { continue };
        for (tensor, at) in header.tensors.iter().zip(0..) {
            if left.contains_key(tensor.name.as_str()) {
                let fault = at_index(&rule::TENSOR_UNNAMED, tensor.at);
                let dataset = Some((at, tensor.name.clone()));
                found(Some(&named.name), ForeignFound { fault, field: "key", len: 1, dataset });
            }
        }
    }
    places
}

/// Checks that index and shards agree about the model.
fn check_agreement(index: &ShardIndex, shards: &[Shard], found: OnFinding<'_>) {
    let counts = index.shards.iter().map(|it| Some(u64::from(PartName::parse(&it.name)?.count)));
    let counts: Option<BTreeSet<u64>> = counts.collect();
    let stated = match counts.as_ref().map(|it| (it.len(), it.first())) {
        Some((1, Some(count))) => *count,
        // A map without tensors, of a model that has some.
        Some((0, _)) if index.total.is_some_and(|(total, _)| total != 0) => 1,
        _ => 0,
    };
    let named = u64::try_from(index.shards.len()).unwrap_or(u64::MAX);
    if named < stated {
        let rule = &rule::SHARDS_UNNAMED;
        let fault = ForeignFault { rule, at: 0, found: named, wanted: stated };
        found(None, ForeignFound { fault, field: "JSON", len: 1, dataset: None });
    }
    let mut strings: HashMap<&str, &str> = HashMap::new();
    for (shard, named) in shards.iter().zip(&index.shards) {
        let Ok(Sound { header, .. }) = shard else { continue };
        let differs = header
            .metadata
            .iter()
            .any(|(key, value)| *strings.entry(key).or_insert(value) != value);
        if differs {
            let fault = at_index(&rule::METADATA_DIFFERS, PREFIX_LEN);
            found(Some(&named.name), ForeignFound { fault, field: "JSON", len: 1, dataset: None });
        }
    }
    let Some((total, at)) = index.total.filter(|_| shards.iter().all(std::result::Result::is_ok))
    else {
        return;
    };
    let lens = shards.iter().flatten().map(|it| it.header.buffer.len());
    let wanted = lens.fold(0, u64::saturating_add);
    if total != wanted {
        let fault = ForeignFault { rule: &rule::TOTAL_SIZE, at, found: total, wanted };
        found(None, ForeignFound { fault, field: "value", len: 1, dataset: None });
    }
}

/// The files, in the order of the index.
fn regions(source: &Source, model: &Model) -> Vec<FileRegion> {
    let region = |name, len, holds: &str| {
        Some(FileRegion { name, span: Span::new(0, len)?, holds: holds.to_owned() })
    };
    let shards = model.index.shards.iter().zip(&model.shards).map(|(named, shard)| {
        let len = shard.as_ref().map_or(0, |sound| sound.source.len());
        region("shard", len, &named.name)
    });
    std::iter::once(region("index", source.len(), "JSON")).chain(shards).flatten().collect()
}
