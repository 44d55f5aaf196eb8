//! The repair plan of a file, complete before the first byte is written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tet_format::Severity;
use tet_io::{Image, Source};
use tet_report::{Code, Edit, Finding, Plan, Proof};
use tet_verify::{Level, VerifyOptions};

use super::RepairOptions;
use super::edit::{BitEdit, FlipBit, FlippedByte, Unrepaired, UnrepairedCause};
use super::search::{FileBit, Search, Searched};
use crate::container::{CheckedRegion, Repairer, container, sniff};
use crate::{Error, Result};
use tet_container::read::opened::path_of;

/// The most errors of each rule that are compared with the edits.
const FINDINGS_MAX: usize = 1 << 16;

/// All possible repairs of a file, or of the files of a folder.
#[derive(Clone, Debug)]
pub struct RepairPlan {
    /// The edits, in the order of the regions; of a folder the image has none of them.
    pub plan: Plan<BitEdit, Unrepaired, RepairOptions>,
    /// The files that have edits; the first one is the source.
    pub(super) files: Vec<Source>,
    /// The regions of the edits, in their order.
    regions: Vec<CheckedRegion>,
}

/// Plans the repair of a file. Nothing is written.
///
/// # Errors
/// The source cannot be read, changed meanwhile, is of a format that has no checksums, or the caller canceled. What is
/// wrong with the file is in the plan.
///
/// # Examples
///
/// ```
/// use tet_convert::{RepairOptions, plan_repair};
/// use tet_io::Source;
///
/// let table = Source::from_named_bytes("rows.csv", b"a,b\n1,2\n".as_slice());
/// let refused = plan_repair(&table, &RepairOptions::default()).unwrap_err();
/// assert!(refused.to_string().contains("has no checksums"));
/// ```
pub fn plan_repair(source: &Source, options: &RepairOptions) -> Result<RepairPlan> {
    let format = sniff(source)?;
    let repairer = container(format).and_then(|container| container.repairer());
    let Some(repairer) = repairer else {
        let path = tet_io::shown(&path_of(source));
        let what = format!("{path} is {format}, which has no checksums to repair by");
        return Err(Error::Repair(what));
    };
    let errors = errors(source, options)?;
    let image = Image::from_source(source);
    let mut plan = RepairPlan {
        plan: Plan::new(source, image, options.clone()),
        files: vec![source.clone()],
        regions: Vec::new(),
    };
    if !errors.is_empty() {
        plan.search(repairer, &errors)?;
        plan.drop_conflicting(repairer)?;
        plan.settle(errors)?;
        plan.drop_undecoded()?;
    }
    source.check_unchanged()?;
    Ok(plan)
}

/// The errors that a check of every byte finds.
pub(super) fn errors(source: &Source, options: &RepairOptions) -> Result<Vec<Finding>> {
    let options = VerifyOptions {
        level: Level::Deep,
        findings_max: FINDINGS_MAX,
        threads: options.threads,
        memory_budget: options.memory_budget.max(VerifyOptions::default().memory_budget),
        decoded_max: options.decoded_max,
        progress: options.progress.clone(),
        ..VerifyOptions::default()
    };
    let format = sniff(source)?;
    let container = container(format);
    let not_checked = || Error::NotVerifiable { path: path_of(source), format };
    let report = container.ok_or_else(not_checked)?.verify(source, &options)?;
    Ok(report.findings.into_iter().filter(|it| it.severity == Severity::Error).collect())
}

impl RepairPlan {
    /// Whether all edits are in one file, which may be written elsewhere.
    #[must_use]
    pub fn is_of_one_file(&self) -> bool {
        self.files.len() == 1
    }

    /// The files that edits replace.
    pub(super) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.files.iter().map(path_of)
    }

    /// Leaves out the edits that `keep` does not choose.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn retain(&mut self, keep: impl Fn(&BitEdit) -> bool) -> Result<()> {
        let count = self.plan.edits.len();
        let edits = std::mem::take(&mut self.plan.edits).into_iter();
        let chosen = edits.zip(std::mem::take(&mut self.regions)).filter(|(edit, _)| keep(edit));
        (self.plan.edits, self.regions) = chosen.unzip();
        if self.plan.edits.len() == count {
            return Ok(());
        }
        let errors = errors(&self.plan.source, &self.plan.options)?;
        self.settle(errors)
    }

    /// Compares all regions with their checksums, and adds an edit for each flipped bit.
    fn search(&mut self, repairer: &dyn Repairer, errors: &[Finding]) -> Result<()> {
        let options = self.plan.options.clone();
        let progress = options.progress.silent();
        let mut search = Search::new(options.memory_budget, &progress);
        let source = self.plan.source.clone();
        repairer.regions(&source, &mut |region| {
            match search.region(&region)? {
                Searched::Sound => {}
                Searched::Flipped(bit) => self.add(region, bit)?,
                // Regions that were not compared are wrong if the check says so.
                Searched::Unrepaired(UnrepairedCause::Memory)
                    if !errors.iter().any(|error| self.is_about(error, &region)) => {}
                Searched::Unrepaired(cause) => {
                    let object = self.object_of(&region.file);
                    self.plan.lost.push(Unrepaired::new(&region, object.as_deref(), cause));
                }
            }
            Ok(())
        })
    }

    fn add(&mut self, region: CheckedRegion, bit: FileBit) -> Result<()> {
        let byte = region.file.read_vec(bit.at, 1)?.first().copied().unwrap_or(0) ^ 1 << bit.bit;
        let known = self.files.iter().position(|file| file.is_same(&region.file));
        let object = self.object_of(&region.file);
        let file = known.unwrap_or(self.files.len());
        if known.is_none() {
            self.files.push(region.file.clone());
        }
        let action = FlipBit { bit: bit.bit, object };
        let code = Code::Foreign(region.rule);
        let edit = Edit::new(code, region.rule.region, bit.at, 1, action);
        let changes = FlippedByte { file, at: bit.at, byte };
        let edit = Edit { changes, ..edit.proof(Proof::Digest) };
        // Several checksums may be of the same byte: they agree, or none of them proves it.
        if !self.plan.edits.iter().any(|it| it.changes == changes) {
            self.plan.edits.push(edit);
            self.regions.push(region);
        }
        Ok(())
    }

    /// Leaves out edits of bytes that have another checksum, which matches without them.
    fn drop_conflicting(&mut self, repairer: &dyn Repairer) -> Result<()> {
        let source = self.plan.source.clone();
        let mut wrong: BTreeSet<usize> = BTreeSet::new();
        repairer.regions(&source, &mut |region| {
            let (start, range) = (region.payload.start(), region.payload.range());
            let inside: Vec<usize> = (0..self.plan.edits.len())
                .filter(|number| {
                    self.flipped(*number).is_some_and(|(file, flipped)| {
                        file.is_same(&region.file) && range.contains(&flipped.at)
                    })
                })
                .collect();
            if inside.is_empty() || self.plan.options.memory_budget < region.payload.len() {
                return Ok(());
            }
            let mut bytes = region.file.read_vec(start, region.payload.len())?;
            for (_, flipped) in inside.iter().filter_map(|number| self.flipped(*number)) {
                let at = usize::try_from(flipped.at.saturating_sub(start)).unwrap_or(usize::MAX);
                bytes.get_mut(at).into_iter().for_each(|byte| *byte = flipped.byte);
            }
            if !region.checksum.is_of(&bytes) {
                wrong.extend(inside);
            }
            Ok(())
        })?;
        self.drop_edits(&wrong, UnrepairedCause::SeveralBits);
        Ok(())
    }

    /// The file and the byte of an edit.
    fn flipped(&self, number: usize) -> Option<(&Source, FlippedByte)> {
        let changes = self.plan.edits.get(number)?.changes;
        Some((self.files.get(changes.file)?, changes))
    }

    /// Leaves out edits that are no repair.
    fn drop_edits(&mut self, wrong: &BTreeSet<usize>, cause: UnrepairedCause) {
        let edits = std::mem::take(&mut self.plan.edits).into_iter();
        let edits = edits.zip(std::mem::take(&mut self.regions));
        for (number, (edit, region)) in edits.enumerate() {
            if wrong.contains(&number) {
                let object = self.object_of(&region.file);
                self.plan.lost.push(Unrepaired::new(&region, object.as_deref(), cause));
            } else {
                self.plan.edits.push(edit);
                self.regions.push(region);
            }
        }
    }

    /// The path of a file below the folder of the source; `None` for the source itself.
    fn object_of(&self, file: &Source) -> Option<PathBuf> {
        if file.is_same(&self.plan.source) {
            return None;
        }
        let path = path_of(file);
        let folder = self.plan.source.path().and_then(Path::parent);
        let below = folder.and_then(|folder| path.strip_prefix(folder).ok());
        Some(below.map_or_else(|| path.clone(), Path::to_path_buf))
    }

    /// Makes the image of the edits, and finds the errors that remain with them; `before` are those without.
    fn settle(&mut self, before: Vec<Finding>) -> Result<()> {
        self.plan.image = Image::from_source(&self.plan.source);
        for edit in self.plan.edits.iter().filter(|edit| edit.changes.file == 0) {
            self.plan.image.put(edit.changes.at, [edit.changes.byte]);
        }
        let remaining = if self.plan.edits.is_empty() {
            before
        } else if self.is_of_one_file() {
            let image = Arc::new(self.plan.image.clone());
            let repaired = Source::from_named_reader(path_of(&self.plan.source), image);
            errors(&repaired, &self.plan.options)?
        } else {
            // The other files of a folder are checked with their edits once these are made.
            let is_left = |error: &Finding| !self.regions.iter().any(|it| self.is_about(error, it));
            before.into_iter().filter(is_left).collect()
        };
        self.plan.error_count = u64::try_from(remaining.len()).unwrap_or(u64::MAX);
        self.plan.remaining = remaining;
        Ok(())
    }

    /// Leaves out edits whose regions still break a rule: the checksum matched by chance.
    fn drop_undecoded(&mut self) -> Result<()> {
        if !self.is_of_one_file() {
            return Ok(());
        }
        let is_wrong = |region: &CheckedRegion| {
            self.plan.remaining.iter().any(|error| self.is_about(error, region))
        };
        let wrong = (0..).zip(&self.regions).filter(|(_, region)| is_wrong(region));
        let wrong: BTreeSet<usize> = wrong.map(|(number, _)| number).collect();
        if wrong.is_empty() {
            return Ok(());
        }
        self.drop_edits(&wrong, UnrepairedCause::Undecoded);
        let errors = errors(&self.plan.source, &self.plan.options)?;
        self.settle(errors)
    }

    /// Whether an error is about a region: about its chunk, or about a place in it.
    fn is_about(&self, error: &Finding, region: &CheckedRegion) -> bool {
        let place = &error.place;
        let is_named = place.dataset_name.as_deref() == Some(&region.dataset);
        if let Some(chunk) = place.chunk.as_ref().filter(|_| !region.chunk.is_empty()) {
            return is_named && *chunk == region.chunk;
        }
        // The objects of a folder have the same offsets.
        let is_in_file = is_named || region.file.is_same(&self.plan.source);
        let is_inside = region.payload.range().contains(&place.offset)
            || region.field.is_some_and(|field| field.at == place.offset);
        is_in_file && is_inside
    }
}
