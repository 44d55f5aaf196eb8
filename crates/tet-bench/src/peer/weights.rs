//! Works on tensors, and the limits that they and those of other libraries are compared with.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tet_io::publish::Sync;
use tet_ztensor::{ChecksumChoice, WriteOptions, ZTensorFile};

use super::timed;
use crate::data::{self, Folder, Io};
use crate::limit::{self, Scan};
use crate::model::{self, Weight};
use crate::report::Machine;
use crate::workloads::{open, scan_views, verify};

/// A tensor is got so often in one go.
const GETS: u32 = 1000;

/// The machine and the files.
pub(super) fn hello(folder: &Folder) -> Result<Value> {
    Ok(json!({
        "machine": Machine::here(),
        "weights": model::file(folder, ChecksumChoice::Crc32c)?,
        "tensors-10000": model::many(folder, 10_000)?,
        "tensors-100000": model::many(folder, 100_000)?,
    }))
}

/// Buffers reused from one work to the next.
#[derive(Default)]
pub(super) struct Weights {
    weights: Vec<Weight>,
    open: BTreeMap<PathBuf, (ZTensorFile, Scan)>,
}

impl Weights {
    /// The milliseconds of a work, and a number that all libraries agree on, or NaN.
    pub(super) fn run(&mut self, work: &str, path: &Path) -> Result<(f64, f64)> {
        match work {
            "write" | "limit-write" => self.write(work, path),
            "open" => timed(|| Ok(open(path, Io::Pread)?.len() as f64)),
            "verify" => timed(|| {
                verify(&data::source(path, Io::Pread)?)?;
                Ok(f64::NAN)
            }),
            _ => {
                let (file, scan) = self.kept(path)?;
                read(work, file, scan)
            }
        }
    }

    fn write(&mut self, work: &str, path: &Path) -> Result<(f64, f64)> {
        if self.weights.is_empty() {
            self.weights = model::weights(1);
        }
        let weights = &self.weights;
        let _ = std::fs::remove_file(path);
        timed(|| {
            match work {
                "write" => model::write(path, weights, &WriteOptions::default(), Sync::Full)?,
                _ => limit::write(path, weights.iter().map(|weight| &weight.elements[..]))?,
            }
            Ok(f64::NAN)
        })
    }

    /// A file on a map that is kept, and the fastest scan of it.
    fn kept(&mut self, path: &Path) -> Result<&(ZTensorFile, Scan)> {
        Ok(match self.open.entry(path.to_path_buf()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let file = open(path, Io::Mapped)?;
                let scan =
                    Scan::fastest(file.source().view().context("the lease was broken")?.whole());
                entry.insert((file, scan))
            }
        })
    }
}

fn read(work: &str, file: &ZTensorFile, scan: &Scan) -> Result<(f64, f64)> {
    match work {
        "read" => {
            let (milliseconds, all) = timed(|| scan_views(file, scan))?;
            // Numbers up to here are printed as they are.
            Ok((milliseconds, (all & ((1 << 52) - 1)) as f64))
        }
        "limit-read" => {
            let view = file.source().view().context("the lease was broken")?;
            timed(|| {
                scan.run(view.whole());
                Ok(f64::NAN)
            })
        }
        "get" => {
            let name = file.tensors().next_back().context("the file has no tensor")?.name();
            let mut first = [0; 4];
            let (milliseconds, ()) = timed(|| {
                for _ in 0..GETS {
                    let view = file.view(file.find(name)?)?.context("no view")?;
                    first = *view.first_chunk().context("the tensor has no element")?;
                }
                Ok(())
            })?;
            Ok((milliseconds / f64::from(GETS), f32::from_le_bytes(first).into()))
        }
        _ => bail!("unknown work {work}"),
    }
}
