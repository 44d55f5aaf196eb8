//! An edited file before it is written.

use std::collections::BTreeMap;

use tet_format::{Digest, Error as Fault, Limits, Rule, Span};
use tet_io::{Image, Output, Progress, Publish};

use super::about;
use super::arrange::{Arranged, KeptDataset, arrange};
use super::footer::{FooterEdit, Member, with_known_digests};
use crate::dataset::DatasetEntry;
use crate::error::{Error, Result};
use crate::integrity::{Protection, rows_digest};
use crate::metadata::{AttrValue, DatasetMetadata, HistoryRow, Metadata, encode, encode_history};
use crate::open::TetFile;
use crate::parts::unsound;
use crate::write::DigestChoice;
use crate::write::footer::{HISTORY_COUNT_MAX, JSON_LEN_MAX, SPILL_LEN_MAX, bound};

/// An edited copy of a file. Nothing is written before [`save`](FileDraft::save).
///
/// Payloads are copied as they are stored, and so are their digests: a chunk that was damaged does not
/// match its digest in the new file either. A dataset is named by its position in the old file.
///
/// # Examples
///
/// ```no_run
/// use tet_file::TetFile;
/// use tet_file::edit::FileDraft;
/// use tet_io::{Output, Source};
///
/// let file = TetFile::open(Source::open("climate.tet")?, &Default::default())?;
/// let mut draft = FileDraft::new(&file)?;
/// draft.rename(0, "temperature")?;
/// draft.set_attr(Some(0), "units", Some("K".into()))?;
/// draft.save(Output::InPlace("climate.tet".as_ref()), &Default::default(), &Default::default())?;
/// # Ok::<(), tet_file::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FileDraft {
    file: TetFile,
    footer: FooterEdit,
    metadata: Metadata,
    history: Vec<HistoryRow>,
    /// The names of the datasets by their positions in the old file.
    datasets: BTreeMap<usize, String>,
    is_compact: bool,
}

impl FileDraft {
    /// Starts from an open file.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Edit`] when the footer was not read or its digests are of an unknown version,
    /// [`Error::UnknownSpill`], and errors of the source.
    pub fn new(file: &TetFile) -> Result<FileDraft> {
        let is_unread = file.superblock().has_footer() && file.footer().version == 0;
        let why = match file.protection() {
            _ if is_unread => Some("its footer was not read"),
            Protection::Unknown => {
                Some("its digests are of a version that this build does not know")
            }
            Protection::Broken(_) => Some("its digests do not match: see what verify says"),
            _ => None,
        };
        if let Some(what) = why {
            return Err(Error::Edit { what: what.to_owned() });
        }
        let footer = FooterEdit::from_file(file, &Limits::default())?;
        let footer = footer.unwrap_or_else(|| FooterEdit::empty(DigestChoice::Left));
        let names = file.datasets().iter().map(|entry| entry.name.clone());
        let datasets = names.enumerate().collect();
        let (metadata, history) = (file.metadata().clone(), file.history().to_vec());
        Ok(FileDraft { file: file.clone(), footer, metadata, history, datasets, is_compact: false })
    }

    /// The names of the datasets that the new file has, in its order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.datasets.values().map(String::as_str)
    }

    /// Renames a dataset; its metadata stay with it. Whether the names differ is checked by
    /// [`save`](FileDraft::save), so that names can be exchanged.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Edit`] when the new file has no such dataset.
    pub fn rename(&mut self, id: usize, to: &str) -> Result<()> {
        let name = self.datasets.get_mut(&id).ok_or_else(|| no_dataset(id))?;
        to.clone_into(name);
        Ok(())
    }

    /// Removes a dataset and its payloads.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Edit`] when the new file has no such dataset.
    pub fn remove(&mut self, id: usize) -> Result<()> {
        self.datasets.remove(&id).ok_or_else(|| no_dataset(id))?;
        self.is_compact = true;
        Ok(())
    }

    /// Sets an attribute of a dataset, or of the file; `None` removes it. Returns whether it was there.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Edit`] when the new file has no such dataset.
    pub fn set_attr(
        &mut self,
        id: Option<usize>,
        key: &str,
        value: Option<AttrValue>,
    ) -> Result<bool> {
        let attrs = match id {
            Some(id) => &mut self.about(id)?.1.attrs,
            None => &mut self.metadata.file,
        };
        let old = match value {
            Some(value) => attrs.insert(key.to_owned(), value),
            None => attrs.remove(key),
        };
        Ok(old.is_some())
    }

    /// Names the axes of a dataset; no names remove the old ones. Labels stay with their axes.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Edit`] when there is no such dataset, the number of names is not that of axes, or
    /// two names are the same.
    pub fn set_dims(&mut self, id: usize, names: &[String]) -> Result<()> {
        let (entry, about) = self.about(id)?;
        about::set_dims(about, entry.grid.rank(), names)
    }

    /// Labels an axis of a dataset; `None` removes its labels.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Edit`] when there is no such dataset or axis, or the number of labels is not the
    /// extent of the axis.
    pub fn set_labels(
        &mut self,
        id: usize,
        axis: usize,
        labels: Option<Vec<String>>,
    ) -> Result<()> {
        let (entry, about) = self.about(id)?;
        let Some(&extent) = entry.grid.shape().get(axis) else {
            return Err(Error::Edit { what: format!("{:?} has no axis {axis}", entry.name) });
        };
        about::set_labels(about, entry.grid.rank(), axis, extent, labels)
    }

    /// Packs the payloads: unused space between them is left out.
    pub fn compact(&mut self) {
        self.is_compact = true;
    }

    /// Adds a row to the history of the file. At the number of rows that readers take, the oldest row is
    /// left out.
    pub fn record(&mut self, row: HistoryRow) {
        let excess = self.history.len().saturating_add(1).saturating_sub(HISTORY_COUNT_MAX);
        self.history.drain(..excess.min(self.history.len()));
        self.history.push(row);
    }

    /// The new file.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Layout`] when a name is repeated or cannot be written, [`Error::Edit`] when the index
    /// is damaged or a dataset is of an unknown type, [`Error::FooterLimit`], and errors of the source.
    pub fn image(&self, progress: &Progress) -> Result<Image> {
        let names = self.file.datasets().iter().map(|entry| entry.name.as_str());
        let is_same = !self.is_compact && names.eq(self.names());
        let arranged = if is_same {
            Arranged { image: Image::from_source(self.file.source()), rows: None }
        } else {
            let datasets = self.datasets.iter();
            let kept = datasets.map(|(&id, name)| KeptDataset { id, name: name.clone() });
            arrange(&self.file, &kept.collect::<Vec<_>>(), self.is_compact)?
        };
        let known = self.digests(arranged.rows.as_deref())?;
        let mut footer = self.footer.clone();
        if !is_same {
            // They are about datasets and chunks of the old file.
            footer
                .members
                .retain(|(key, _)| key != "zone_maps_ref" && key != "secondary_index_ref");
        }
        self.set_members(&mut footer)?;
        let is_empty = footer.members.is_empty() && footer.digests == DigestChoice::Left;
        let footer = (!is_empty).then_some(&footer);
        let limits = Limits::default();
        // Spills are where the old file has them.
        let (image, footer) = with_spills(&arranged.image, &self.file, footer)?;
        with_known_digests(&image, footer.as_ref(), known.as_deref(), &limits, progress)
    }

    /// Writes the new file, and returns its length.
    ///
    /// # Errors
    ///
    /// Returns what [`image`](FileDraft::image) returns, and [`Error::Io`] when the new file cannot be
    /// written or the old one has changed. The target is unchanged then.
    pub fn save(&self, output: Output<'_>, publish: &Publish, progress: &Progress) -> Result<u64> {
        let source = self.file.source();
        let publisher = output.begin(source, publish)?;
        publisher.commit_image(&self.image(progress)?, source, progress)
    }

    /// The metadata under the names that the datasets have in the new file.
    fn renamed_metadata(&self) -> Metadata {
        let mut metadata = self.metadata.clone();
        let described: Vec<&str> = self.file.datasets().iter().map(|it| it.name.as_str()).collect();
        // Metadata of datasets of which nothing remains goes too.
        described.iter().for_each(|name| drop(metadata.datasets.remove(*name)));
        for (id, name) in &self.datasets {
            let old = described.get(*id).and_then(|old| self.metadata.dataset(old));
            match old.filter(|about| !about.is_empty()) {
                Some(about) => metadata.datasets.insert(name.clone(), about.clone()),
                None => metadata.datasets.remove(name),
            };
        }
        metadata
    }

    /// Puts metadata and history into the members of a footer.
    fn set_members(&self, footer: &mut FooterEdit) -> Result<()> {
        let metadata = self.renamed_metadata();
        if metadata != *self.file.metadata() {
            footer.members.retain(|(key, _)| key != "metadata" && key != "metadata_ref");
            let text = if metadata.is_empty() { String::new() } else { encode(&metadata)? };
            bound("metadata, in bytes,", text.len(), SPILL_LEN_MAX)?;
            let member = match text.len() {
                0 => None,
                len if len <= JSON_LEN_MAX / 2 => Some(("metadata", Member::Text(text))),
                _ => Some(("metadata_ref", Member::New(text.into_bytes().into()))),
            };
            footer.members.extend(member.map(|(key, member)| (key.to_owned(), member)));
        }
        if self.history != self.file.history() {
            footer.members.retain(|(key, _)| key != "history");
            let text = encode_history(&self.history)?;
            footer.members.insert(0, ("history".to_owned(), Member::Text(text)));
        }
        Ok(())
    }

    /// The digests of payloads in the order of the new rows; `rows` are the numbers of the old rows, or
    /// `None` for all in their order. `None` where the file has no digests.
    fn digests(&self, rows: Option<&[u64]>) -> Result<Option<Vec<Digest>>> {
        let Protection::Digests(digests) = self.file.protection() else { return Ok(None) };
        let (index, mut old) = (self.file.index(), Vec::new());
        index.rows(0..index.row_count(), &mut old)?;
        let all = (0..index.row_count()).map(|row| digests.of_row(row));
        let all = all.collect::<Result<Vec<Digest>>>()?;
        // Digests that were damaged must not be sealed anew.
        let root = rows_digest(old.into_iter().zip(all.iter().copied()));
        if let Some((found, wanted)) = root.differs(digests.key().chunks) {
            let (rule, at) = (Rule::ChunksDigest, digests.block().chunk_at(0));
            return Err(Fault { rule, at, found, wanted }.into());
        }
        let Some(rows) = rows else { return Ok(Some(all)) };
        let known = |row: &u64| all.get(usize::try_from(*row).ok()?).copied();
        let known: Option<Vec<Digest>> = rows.iter().map(known).collect();
        known.map(Some).ok_or_else(|| unsound(&self.file))
    }

    /// The position of a dataset in the new file.
    /// A dataset and its metadata, for changes.
    fn about(&mut self, id: usize) -> Result<(&DatasetEntry, &mut DatasetMetadata)> {
        let entry = self.file.datasets().get(id).filter(|_| self.datasets.contains_key(&id));
        let entry = entry.ok_or_else(|| no_dataset(id))?;
        let datasets: &mut BTreeMap<String, DatasetMetadata> = &mut self.metadata.datasets;
        Ok((entry, datasets.entry(entry.name.clone()).or_default()))
    }
}

/// The error for a position at which the new file has no dataset.
fn no_dataset(id: usize) -> Error {
    Error::Edit { what: format!("it has no dataset #{id}") }
}

/// The image with the spills that a footer refers to at its end, and the footer that refers to them there.
fn with_spills(
    image: &Image,
    file: &TetFile,
    footer: Option<&FooterEdit>,
) -> Result<(Image, Option<FooterEdit>)> {
    let (mut image, mut footer) = (image.clone(), footer.cloned());
    for (_, member) in footer.iter_mut().flat_map(|footer| &mut footer.members) {
        if let Member::Spill(span, ..) = member {
            let start = image.len();
            image.append_span(file.source(), *span);
            *span = Span::new(start, span.len()).ok_or_else(|| unsound(file))?;
        }
    }
    Ok((image, footer))
}
