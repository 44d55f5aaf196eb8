//! Messages of the library, whole and as streams, each with its sheet.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use ciborium::Value;
use serde_json::{Value as Json, json};
use tensogram::{
    CompressionBackend, DecodeOptions, EncodeOptions, GlobalMetadata, HashAlgorithm, MaskMethod,
    StreamingEncoder,
};

use crate::lot::Lot;
use crate::object::{self, Object};

/// A file: its messages, and beside it what they hold.
#[derive(Default)]
struct File {
    messages: Vec<u8>,
    sheets: Vec<Json>,
    elements: Vec<u8>,
    /// Objects that come out of the library otherwise than they went in.
    spoiled: usize,
}

/// Writes a file with each kind of object in a message of its own, and so many files drawn by lot.
pub(crate) fn all(folder: &Path, seed: u64, count: u64) -> Result<String> {
    let (mut every, mut lot) = (File::default(), Lot::new(seed, u64::MAX));
    for object in object::every(&mut lot)? {
        for hash_algorithm in [Some(HashAlgorithm::Xxh3), None] {
            let options = EncodeOptions { hash_algorithm, ..options(&mut lot) };
            every.push(&mut lot, &[&object], &options)?;
        }
    }
    let mut spoiled = every.save(&folder.join("every.tgm"))?;
    for number in 0..count {
        let (mut file, mut lot) = (File::default(), Lot::new(seed, number));
        for _ in 0..1 + lot.below(15) {
            let len = lot.pick(&[0, 1, 1, 2, 3, 5]);
            let objects: Vec<Object> =
                (0..len).map(|_| object::drawn(&mut lot)).collect::<Result<_>>()?;
            let options = options(&mut lot);
            file.push(&mut lot, &objects.iter().collect::<Vec<_>>(), &options)?;
        }
        spoiled += file.save(&folder.join(format!("theirs-{number:03}.tgm")))?;
    }
    Ok(format!("{spoiled} objects of 32-bit samples are spoiled by its szip when it writes them"))
}

fn options(lot: &mut Lot) -> EncodeOptions {
    let methods = [
        MaskMethod::None,
        MaskMethod::Rle,
        MaskMethod::Roaring,
        MaskMethod::Lz4,
        MaskMethod::Zstd { level: None },
    ];
    let backends = [CompressionBackend::Ffi, CompressionBackend::Pure];
    EncodeOptions {
        compression_backend: lot.pick(&backends),
        hash_algorithm: lot.pick(&[Some(HashAlgorithm::Xxh3), Some(HashAlgorithm::Xxh3), None]),
        allow_nan: true,
        allow_inf: true,
        nan_mask_method: lot.pick(&methods),
        pos_inf_mask_method: lot.pick(&methods),
        neg_inf_mask_method: lot.pick(&methods),
        small_mask_threshold_bytes: lot.pick(&[0, 0, 128]),
        create_header_hashes: lot.percent(50),
        create_footer_hashes: lot.percent(50),
        ..EncodeOptions::default()
    }
}

impl File {
    /// A message of these objects, and what the library finds in it: what went in, but where its
    /// szip writes 32-bit samples, some of which it spoils.
    fn push(&mut self, lot: &mut Lot, objects: &[&Object], options: &EncodeOptions) -> Result<()> {
        let base: Vec<_> = objects.iter().map(|_| said(lot)).collect();
        let mut extra = said(lot);
        let message = encode(lot, objects, &base, &extra, options)?;
        let (_, found) = tensogram::decode(&message, &DecodeOptions::default())?;
        ensure!(found.len() == objects.len(), "the library loses objects");
        let mut lines = Vec::new();
        for (object, (descriptor, values)) in objects.iter().zip(found) {
            let is_same = object.kept.as_ref().is_none_or(|kept| *kept == values);
            let may_spoil = descriptor.compression == "szip" && descriptor.filter == "none";
            let is_long = may_spoil && descriptor.dtype.byte_width() == 4;
            ensure!(is_same || is_long, "the library spoils {descriptor:?}");
            self.spoiled += usize::from(!is_same);
            lines.push(json!({
                "dtype": descriptor.dtype.to_string(), "shape": descriptor.shape, "len": values.len(),
            }));
            self.elements.extend(values);
        }
        // Readers since 0.18 take it for the user's.
        extra.insert("version".to_owned(), 3.into());
        self.sheets.push(json!({ "base": base, "extra": extra, "objects": lines }));
        self.messages.extend(message);
        Ok(())
    }

    /// Gives how many objects are spoiled.
    fn save(self, path: &Path) -> Result<usize> {
        std::fs::write(path, self.messages)?;
        std::fs::write(path.with_extension("json"), Json::from(self.sheets).to_string())?;
        std::fs::write(path.with_extension("bin"), self.elements)?;
        Ok(self.spoiled)
    }
}

type Pairs = BTreeMap<String, Value>;

/// What is said of something.
fn said(lot: &mut Lot) -> Pairs {
    let all = json!([
        0, -1, (1_u64 << 53) + 1, i64::MAX, u64::MAX, 0.1, 1.5, -2.5e300, "", "caf\u{e9}", true, null,
        [1, [2.5]], { "b": { "a": 1 } },
    ]);
    let all: Vec<Value> = serde_json::from_value(all).expect("any JSON is an item");
    (0..lot.below(4)).map(|number| (format!("key{number}"), lot.pick(&all))).collect()
}

/// A message, whole or in one of the ways of a stream.
fn encode(
    lot: &mut Lot,
    objects: &[&Object],
    base: &[Pairs],
    extra: &Pairs,
    options: &EncodeOptions,
) -> Result<Vec<u8>> {
    let mut metadata =
        GlobalMetadata { base: base.to_vec(), extra: extra.clone(), ..GlobalMetadata::default() };
    if lot.percent(50) {
        let pairs: Vec<_> = objects.iter().map(|it| (&it.descriptor, &it.given[..])).collect();
        return tensogram::encode(&metadata, &pairs, options).context("a whole message");
    }
    let has_preceders = lot.percent(50);
    if has_preceders {
        metadata.base.clear();
    }
    let mut encoder = StreamingEncoder::new(Cursor::new(Vec::new()), &metadata, options)?;
    for (object, said) in objects.iter().zip(base) {
        if has_preceders {
            encoder.write_preceder(said.clone())?;
        }
        encoder.write_object(&object.descriptor, &object.given)?;
    }
    let is_long = lot.percent(50);
    let out = if is_long { encoder.finish_with_backfill() } else { encoder.finish() };
    Ok(out.context("a stream")?.into_inner())
}
