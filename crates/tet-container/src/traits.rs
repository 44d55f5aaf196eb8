//! What a container and its writer bring.

use std::path::{Path, PathBuf};

use tet_format::ForeignRule;
use tet_io::Source;
use tet_query::{Catalog, Dataset, Execution};
use tet_verify::{Report, VerifyOptions};

use crate::bound::Bound;
use crate::editor::Editor;
use crate::model::attribute_types::AttrTypes;
use crate::model::cf::{Decoding, ValueChoice};
use crate::model::logical;
use crate::read::opened::{OpenOptions, Opened, path_of};
use crate::repairer::Repairer;
use crate::write::conversion::{Conversion, ConvertOptions};
use crate::write::options::TextLayout;
use crate::write::write_option::WriteOption;
use crate::{Error, Format, Note, Result};

/// The beginning of a file.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The first bytes of the file, 16 if it has as many.
    pub bytes: &'a [u8],
    /// All of it.
    pub source: &'a Source,
}

/// A kind of file that holds arrays.
pub trait Container: Sync {
    /// What it is called.
    fn format(&self) -> Format;

    /// How names of such files end, without the dot; the usual one first.
    fn suffixes(&self) -> &'static [&'static str];

    /// Those of the suffixes that messages name: one for each kind of output.
    fn usual_suffixes(&self) -> &'static [&'static str] {
        self.suffixes().get(..1).unwrap_or_default()
    }

    /// How names of such files end, without the dot, where their bytes do not show what they are.
    fn known_by(&self) -> &'static [&'static str] {
        &[]
    }

    /// The bytes that such files begin with, if all begin with one of these.
    fn magics(&self) -> &'static [&'static [u8]] {
        &[]
    }

    /// The documents of which a folder has one that is of this kind.
    fn folder_documents(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a file is of this kind that does not begin with a magic, or whose magic other kinds have
    /// too.
    ///
    /// # Errors
    /// The file cannot be read.
    fn matches(&self, head: &Head<'_>) -> Result<bool> {
        let _ = head;
        Ok(false)
    }

    /// The version of the container that is read, where it has one.
    fn version(&self) -> Option<u32> {
        None
    }

    /// Whether the elements of such files are the parameters of models.
    fn holds_models(&self) -> bool {
        false
    }

    /// Opens a file of this kind.
    ///
    /// # Errors
    /// The file cannot be read or is damaged; such files are only written.
    fn open(&self, input: Input<'_>, options: &OpenOptions) -> Result<Opened> {
        let _ = options;
        Err(Error::NotReadable { path: input.path.to_path_buf(), format: self.format() })
    }

    /// A way to make a file that is read of one of this kind, which is only written.
    fn reading_advice(&self) -> Option<&'static str> {
        None
    }

    /// Checks a file of this kind; what is wrong with its bytes is in the report.
    ///
    /// # Errors
    /// The file cannot be read; such files are not checked.
    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        let _ = options;
        Err(Error::NotVerifiable { path: path_of(source), format: self.format() })
    }

    /// Whether [`Container::verify`] opens a file as [`Container::open`] does: one without findings is not opened again, to
    /// see whether it can be.
    fn is_opened_to_verify(&self) -> bool {
        false
    }

    /// The rules that its checks have in addition to those of `.tet`.
    fn rules(&self) -> &'static [&'static ForeignRule] {
        &[]
    }

    /// The ids of the rules that are about the form of a file alone: all of the file can be read.
    fn form_rules(&self) -> &'static [&'static str] {
        &[]
    }

    /// The names of the codecs and filters that are decoded in such files, as messages have them; none where elements are
    /// stored as they are.
    fn codecs(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// The bounds of its own that such files are read and written within.
    fn bounds(&self) -> &'static [Bound] {
        &[]
    }

    /// Whether such files have checksums of stored bytes, or may have them: without any a file is never verified.
    fn has_checksums(&self) -> bool {
        self.repairer().is_some()
    }

    /// The header of a file of this kind, where the writer would not make the same one of its catalog: other containers
    /// keep it, so that the file can be made again.
    ///
    /// # Errors
    /// The file cannot be read.
    fn header_to_keep(&self, catalog: &Catalog) -> Result<Option<String>> {
        let _ = catalog;
        Ok(None)
    }

    /// Notes of datasets of such a file that share their bytes there, for outputs in which they do not: tied weights.
    ///
    /// # Errors
    /// The file cannot be read again.
    fn untied(&self, catalog: &Catalog, datasets: &[&Dataset]) -> Result<Vec<Note>> {
        let _ = (catalog, datasets);
        Ok(Vec::new())
    }

    /// The catalog of such a file in which datasets that share a name are one, along a new axis; and notes.
    ///
    /// # Errors
    /// In such files no datasets share a name; those that do are of several types or shapes; the file cannot be read
    /// again.
    fn stacked(&self, path: &Path, catalog: &Catalog, axis: &str) -> Result<(Catalog, Vec<Note>)> {
        let _ = (catalog, axis);
        Err(Error::NoStack { path: path.to_path_buf(), format: self.format() })
    }

    /// What writes such files; `None` where they are only read.
    fn writer(&self) -> Option<&dyn Writer> {
        None
    }

    /// What edits such files without changing their payloads; `None` where nothing does.
    fn editor(&self) -> Option<&dyn Editor> {
        None
    }

    /// The list of checksums of such files, by which flipped bits are repaired; `None` where they have none.
    fn repairer(&self) -> Option<&dyn Repairer> {
        None
    }
}

/// A file that is to be opened.
#[derive(Debug)]
pub struct Input<'a> {
    /// Its path, for messages and for the name of a dataset; `(memory)` where it has none.
    pub path: &'a Path,
    /// Its bytes.
    pub source: Source,
}

/// Writes the datasets of any catalog into a file of one kind.
pub trait Writer: Sync {
    /// What such a file can hold, and which options apply to it.
    fn can(&self) -> Capabilities;

    /// What an output of this name holds, where files of several conventions have one writer.
    fn can_as(&self, output: &Path) -> Capabilities {
        let _ = output;
        self.can()
    }

    /// Checks that such a file can hold the elements of a dataset of numbers; messages name the format `encoding`.
    ///
    /// # Errors
    /// The dataset cannot be read, or its type cannot be stored.
    fn check(&self, dataset: &Dataset, encoding: &'static str) -> Result<()> {
        logical::to_physical(dataset, encoding, |_| true).map(drop)
    }

    /// The types that numbers of attributes have in a file of this name.
    fn attr_types(&self, name: &Path) -> AttrTypes {
        let _ = name;
        self.can().attr_types
    }

    /// Whether datasets that share their bytes go on to share them.
    fn keeps_shared_bytes(&self, options: &ConvertOptions) -> bool {
        let _ = options;
        false
    }

    /// Writes and publishes the file: it appears complete or not at all.
    ///
    /// # Errors
    /// A dataset cannot be stored in such a file, or the file cannot be written.
    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output>;
}

/// What a file can hold, and which options apply to it. What a file cannot hold is left out with a note.
#[derive(Clone, Copy, Debug)]
pub struct Capabilities {
    /// Whether it holds several arrays.
    pub several: bool,
    /// Whether the writer takes care of dimension names, labels and attributes: it writes them, or adds
    /// notes of those that it drops. Otherwise all are left out, with notes.
    pub metadata: bool,
    /// Whether it holds sparse tensors as they are.
    pub sparse: bool,
    /// Whether it holds datasets of text. Otherwise they become labels of axes, or are left out with a note.
    pub text: bool,
    /// Whether it holds the characters of texts of NetCDF along an axis of their own.
    pub chars: bool,
    /// Whether several arrays may have one name.
    pub same_names: bool,
    /// Whether it has a place for attributes of a dataset and of the file.
    pub attributes: bool,
    /// Whether those who read such files decode packed and masked values by the attributes of a dataset: they are
    /// written as they are stored then, unless the caller asks otherwise.
    pub decodes: bool,
    /// The types that numbers of attributes have there.
    pub attr_types: AttrTypes,
    /// Whether it has a history, besides attributes.
    pub history: bool,
    /// Whether it keeps the header that a file was read with, where [`Container::header_to_keep`] has one.
    pub keeps_header: bool,
    /// How it lays out one array as text, with labels of axes in the same text; none where it is no text.
    pub layouts: &'static [TextLayout],
    /// The options that it has a use for.
    pub options: &'static [WriteOption],
}

impl Capabilities {
    /// Several dense arrays and their names, and attributes, without options.
    pub const ARRAYS: Capabilities = Capabilities {
        several: true,
        metadata: false,
        sparse: false,
        text: false,
        chars: false,
        same_names: false,
        attributes: true,
        decodes: false,
        attr_types: AttrTypes::None,
        history: false,
        keeps_header: false,
        layouts: &[],
        options: &[],
    };
}

impl Capabilities {
    /// Whether such a file gets decoded values, and no attributes that decode them.
    #[must_use]
    pub const fn is_decoded(&self, decoding: Decoding) -> bool {
        match decoding.values {
            ValueChoice::Auto => !self.decodes,
            ValueChoice::Decoded => true,
            ValueChoice::Raw => false,
        }
    }

    /// The datasets with the values that such a file gets: times are dates in text.
    #[must_use]
    pub fn view(&self, catalog: Catalog, decoding: Decoding, how: &Execution) -> Catalog {
        match (self.is_decoded(decoding), self.layouts) {
            (false, _) => catalog,
            (true, []) => decoding.compared(catalog),
            (true, _) => decoding.printed(catalog, how),
        }
    }
}

/// What was written.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// Bytes of the file, or of all files.
    pub len: u64,
    /// The chunk shapes of the datasets, where the file has chunks of its own.
    pub chunk_shapes: Vec<Vec<u64>>,
    /// Shards, if the output is an index; 0 where the output is one file.
    pub shard_count: usize,
    /// The file of the index, if the output is one.
    pub index: Option<PathBuf>,
}
