//! Works on messages, one at a time, on one thread, as the wheel does them.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tet_format::DType;
use tet_tensogram::{
    Compressing, Descriptor, Encoded, Limits, PackingFit, Recipe, Region, SzipParameters,
    TensogramFile,
};

use super::timed;
use crate::data::{Folder, Io, source};
use crate::report::Machine;
use crate::workloads::messages;

/// An object is found so often in one go.
const GETS: u32 = 20;

/// The machine and the files.
pub(super) fn hello(folder: &Folder) -> Result<Value> {
    Ok(json!({
        "machine": Machine::here(),
        "singles": messages::elements(folder, DType::Float32)?,
        "doubles": messages::elements(folder, DType::Float64)?,
        "objects": messages::objects(folder)?,
        "plain": messages::whole(folder)?,
    }))
}

/// Buffers reused from one work to the next.
#[derive(Default)]
pub(super) struct Messages {
    elements: BTreeMap<PathBuf, Vec<u8>>,
    encoded: BTreeMap<String, Encoded<'static>>,
    out: Vec<u8>,
    open: Option<TensogramFile>,
}

impl Messages {
    /// The milliseconds of a work, and a number that both agree on, or NaN.
    pub(super) fn run(&mut self, work: &str, path: &Path) -> Result<(f64, f64)> {
        match work.split_once('-') {
            Some(("encode", how)) => self.encode(how, path),
            Some(("decode", how)) => self.decode(how, path),
            None if work == "find" => self.find(path),
            None if work == "metadata" => timed(|| {
                let file = TensogramFile::open(source(path, Io::Pread)?, &Limits::default())?;
                black_box(file.metadata(0)?);
                Ok(f64::NAN)
            }),
            _ => bail!("unknown work {work}"),
        }
    }

    fn elements(&mut self, path: &Path) -> Result<&[u8]> {
        if !self.elements.contains_key(path) {
            self.elements.insert(path.to_path_buf(), std::fs::read(path)?);
        }
        self.elements.get(path).map(Vec::as_slice).context("elements")
    }

    fn encode(&mut self, how: &str, path: &Path) -> Result<(f64, f64)> {
        let (dtype, recipe) = recipe(how)?;
        let elements = self.elements(path)?;
        timed(|| {
            if recipe == Recipe::default() {
                black_box(messages::write_plain(Vec::new(), dtype, elements)?);
                return Ok(f64::NAN);
            }
            let encoded = messages::encoded(dtype, elements, &recipe)?;
            black_box(messages::write(Vec::new(), &encoded, &Default::default())?);
            Ok(f64::NAN)
        })
    }

    fn decode(&mut self, how: &str, path: &Path) -> Result<(f64, f64)> {
        if !self.encoded.contains_key(how) {
            let (dtype, recipe) = recipe(how)?;
            let Encoded { descriptor, region } =
                messages::encoded(dtype, self.elements(path)?, &recipe)?;
            let region = region.into_owned().into();
            self.encoded.insert(how.to_owned(), Encoded { descriptor, region });
        }
        let object = self.encoded.get(how).context("a message")?;
        let len = object.region.len() as u64;
        let region = Region::new(&object.descriptor, 0, len, &Limits::default())?;
        self.out.resize(usize::try_from(region.decoded_len())?, 1);
        let out = &mut self.out;
        let (milliseconds, ()) = timed(|| Ok(region.decode(&object.region, out)?))?;
        let last = match region.dtype() {
            DType::Float64 => out.last_chunk().map(|it| f64::from_le_bytes(*it)),
            _ => out.last_chunk().map(|it| f32::from_le_bytes(*it).into()),
        };
        Ok((milliseconds, last.unwrap_or(f64::NAN)))
    }

    fn find(&mut self, path: &Path) -> Result<(f64, f64)> {
        if self.open.is_none() {
            let file = TensogramFile::open(source(path, Io::Pread)?, &Limits::default())?;
            self.open = Some(file);
        }
        let file = self.open.as_ref().context("a file")?;
        let (milliseconds, first) = timed(|| {
            let mut first = f64::NAN;
            for _ in 0..GETS {
                let object = file.object(0, messages::OBJECT_COUNT - 1)?;
                let bytes = file.read_descriptor(&object)?;
                let at = object.descriptor.start();
                let descriptor = Descriptor::read(&bytes, at, file.limits())?;
                let (at, len) = (object.region.start(), object.region.len());
                let region = Region::new(&descriptor, at, len, file.limits())?;
                let mut out = vec![0; usize::try_from(region.decoded_len())?];
                region.decode(&file.source().read_vec(at, len)?, &mut out)?;
                first = out.first_chunk().map_or(f64::NAN, |it| f32::from_le_bytes(*it).into());
            }
            Ok(first)
        })?;
        Ok((milliseconds / f64::from(GETS), first))
    }
}

fn recipe(how: &str) -> Result<(DType, Recipe)> {
    let none = Recipe::default();
    let packed = Some(PackingFit::Bits { bits: 16, decimal_scale: 0 });
    let szip = Compressing::Szip(SzipParameters::default());
    let zstd = Compressing::Zstd { level: 3 };
    Ok(match how {
        "none" => (DType::Float32, none),
        "lz4" => (DType::Float32, Recipe { compression: Compressing::Lz4, ..none }),
        "zstd" => (DType::Float32, Recipe { shuffle: Some(4), compression: zstd, ..none }),
        "packed" => (DType::Float64, Recipe { packing: packed, ..none }),
        "packed-szip" => (DType::Float64, Recipe { packing: packed, compression: szip, ..none }),
        _ => bail!("unknown codec {how}"),
    })
}
