//! Notes on what an import or export changed: values stay exact, but a container may lack a word for them.

use std::fmt;

use tet_format::{DType, Integrity};
use tet_query::{LazyArray, SelectionNote};

/// One thing that differs in the output from the input; the values are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The output's container lacks the dtype; every value fits the one written.
    Widened {
        /// The dataset.
        dataset: String,
        /// The dtype in the input.
        from: String,
        /// The dtype in the output.
        to: DType,
    },
    /// The output holds the elements' bits under an integer dtype.
    AsBits {
        /// The dataset.
        dataset: String,
        /// The dtype in the input.
        from: String,
        /// The dtype in the output.
        to: DType,
    },
    /// Quantized blocks are written as the numbers that they are decoded to.
    Dequantized {
        /// The types of the blocks.
        types: Vec<String>,
        /// The number of datasets.
        count: u64,
    },
    /// Packed and masked values are written as the numbers that they are decoded to.
    Decoded {
        /// The datasets.
        datasets: Vec<String>,
        /// The attributes by which they are decoded.
        attrs: Vec<String>,
    },
    /// An array of rank 0 became shape (1).
    Scalar {
        /// The dataset.
        dataset: String,
    },
    /// The dataset has no elements.
    NoElements {
        /// The dataset.
        dataset: String,
    },
    /// An assumption of a selection.
    Selection(SelectionNote),
    /// Times are stored as integers, with an attribute that says of what.
    Times {
        /// The dataset.
        dataset: String,
        /// The value of the attribute `units`.
        units: String,
    },
    /// The input breaks a rule that costs nothing of it; other programs may refuse it.
    Malformed {
        /// The rule, and where.
        what: String,
    },
    /// A part of the input cannot be read or is not as it should be, and no dataset is lost by it.
    Warned {
        /// The finding.
        what: String,
    },
    /// Times of a file begin later after those of the file before than any two of them are apart.
    Gap {
        /// The file before.
        before: String,
        /// Its last time.
        end: String,
        /// The file behind it.
        path: String,
        /// Its first time.
        begin: String,
    },
    /// Another program has the input open for writing, and its values have no checksums to compare.
    BeingWritten,
    /// A zip member that is no array was left out.
    LeftOut {
        /// The member's name.
        member: String,
    },
    /// The file is one of the parts of a model.
    PartOf {
        /// The number of the part, from 1; 0 where it has none.
        number: u32,
        /// The number of parts.
        count: u32,
        /// The file that opens all of them; empty where there is none.
        whole: String,
    },
    /// The dataset was left out, because it cannot be read or stored.
    Skipped {
        /// The dataset.
        dataset: String,
        /// Why.
        why: String,
    },
    /// Elements that cannot be read became missing values, or the dataset was left out.
    Damaged {
        /// The dataset; empty for parts of the file whose datasets are not known.
        dataset: String,
        /// The positions, by axis.
        positions: String,
        /// How many they are; of a dataset that was left out what writes more of it.
        share: String,
        /// Why they cannot be read.
        why: String,
        /// The missing value; `None` for a dataset that was left out.
        value: Option<String>,
    },
    /// The name was escaped so that it is safe as a member of an archive.
    Renamed {
        /// The dataset's name.
        from: String,
        /// The member's name, without its `.npy`.
        to: String,
    },
    /// Several datasets have the name: behind the first one they have a number too.
    Numbered {
        /// The name.
        dataset: String,
        /// The last number.
        last: usize,
    },
    /// Cells without a value became NaN.
    NullsAsNan {
        /// The dataset.
        dataset: String,
        /// How many there are.
        count: u64,
        /// The dtype in the output.
        to: DType,
    },
    /// Elements became NaN because they would be divided by zero.
    ZeroDenominators {
        /// The dataset.
        dataset: String,
        /// The transform.
        method: &'static str,
        /// How many there are.
        count: u64,
    },
    /// Some values were not compared with the checksums that the input has of them.
    Unchecked,
    /// The output has no place for metadata of a dataset, or of the file.
    LeftBehind {
        /// The dataset; empty for the file.
        dataset: String,
        /// Their kind, in the plural.
        what: &'static str,
        /// How many there are.
        count: usize,
    },
    /// Values of a file that are not listed.
    NotListed {
        /// Their kind, in the plural.
        what: &'static str,
        /// The first of them.
        names: Vec<String>,
        /// How many there are.
        count: usize,
    },
    /// Types of elements have names in a file, which outputs lack.
    TypeNames {
        /// The names.
        names: Vec<String>,
    },
    /// Attributes of the file that are no text, which the output writes as text.
    AsText {
        /// How many there are.
        count: usize,
    },
    /// Attributes of a dataset, or of the file, that the output has no type for are JSON text.
    AttrsAsJson {
        /// The dataset; empty for the file.
        dataset: String,
        /// How many there are.
        count: usize,
    },
    /// An axis has another name in the output, or the only one.
    AxisRenamed {
        /// The dataset.
        dataset: String,
        /// The axis, counted from 0.
        axis: usize,
        /// Its name in the output.
        to: String,
    },
    /// The labels of an axis became an array of the name of the axis.
    LabelsAsArray {
        /// The dataset.
        dataset: String,
        /// The name of the array.
        array: String,
    },
    /// The dataset shared its bytes with another one; in the output each has its own.
    Untied {
        /// The dataset.
        dataset: String,
        /// The other one.
        of: String,
    },
    /// The dataset is sparse, and written as its parts.
    InParts {
        /// The dataset.
        dataset: String,
        /// Their names.
        parts: Vec<String>,
    },
    /// The dataset is of structures, whose members are written as datasets.
    Members {
        /// The dataset.
        dataset: String,
        /// The names of those that are written.
        parts: Vec<String>,
    },
    /// Values are stored as whole multiples of a step.
    Packed {
        /// The dataset.
        dataset: String,
        /// Bits of each.
        bits: u32,
        /// The step.
        step: String,
    },
    /// Elements that are not finite are stored as they are, since masks would change some of them.
    Unmasked {
        /// The dataset.
        dataset: String,
        /// How many there are.
        count: u64,
    },
    /// Elements under masks lose the bits of their NaN, or of one of their parts.
    PlainNan {
        /// The dataset.
        dataset: String,
        /// How many do.
        count: u64,
    },
    /// Some texts of a dataset are not, or will not be read as, what they were.
    Texts {
        /// The dataset.
        dataset: String,
        /// How many there are.
        count: u64,
        /// The property that they have.
        what: &'static str,
    },
    /// Attributes of the dataset name others that are not in the output: these names are left out.
    NamesLeftOut {
        /// The dataset.
        dataset: String,
        /// The attributes.
        attrs: Vec<String>,
        /// The datasets that they name.
        names: Vec<String>,
    },
    /// The bytes of removed datasets stay in the file.
    DroppedStay {
        /// How many datasets there are.
        count: usize,
    },
    /// Dimension names were given for all datasets, and this one has another rank.
    DimsSkipped {
        /// The dataset.
        dataset: String,
        /// Its rank.
        rank: usize,
        /// How many names were given.
        names: usize,
    },
}

// Names are shown through `Debug`, which escapes control, bidi and separator characters.
impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Widened { dataset, from, to } => {
                write!(f, "{dataset:?}: {from} is stored as {}; every value is kept", to.name())
            }
            Self::AsBits { dataset, from, to } => {
                let hint =
                    if is_float_name(from) { "; --dtype float32 writes numbers" } else { "" };
                write!(f, "{dataset:?}: {from} is written as its {} bits{hint}", to.name())
            }
            Self::Scalar { dataset } => {
                write!(f, "{dataset:?}: a scalar is stored as shape (1) with tet:scalar = \"1\"")
            }
            Self::Times { dataset, units } => {
                write!(f, "{dataset:?}: times are stored as int64, units = {units:?}")
            }
            Self::Skipped { why, .. } => write!(f, "skipped: {why}"),
            Self::Damaged { .. } => write_damaged(self, f),
            Self::LeftOut { member } => write!(f, "{member:?} is not an array: left out"),
            Self::Renamed { from, to } => write!(f, "{from:?} is written as {to:?}"),
            Self::Numbered { dataset, last } => {
                write!(
                    f,
                    "several are named {dataset:?}: they are written as {dataset:?}, and with"
                )?;
                write!(f, " .1 to .{last} behind it, unless they are stacked")
            }
            Self::NullsAsNan { dataset, count, to } => {
                write!(f, "{dataset:?}: {count} cells without a value are NaN, as {}", to.name())
            }
            Self::ZeroDenominators { dataset, method, count } => {
                write!(f, "{dataset:?}: {count} elements are NaN: {method} divides them by zero")
            }
            Self::LeftBehind { dataset, what, count } if dataset.is_empty() => {
                write!(f, "{what} ({count}) are left out")
            }
            Self::LeftBehind { dataset, what, count } => {
                write!(f, "{dataset:?}: {what} ({count}) are left out")
            }
            Self::NotListed { what, names, count } => {
                write!(f, "{what} ({count}) are left out: {}", listed(names))
            }
            Self::AsText { count } => {
                write!(f, "attributes of the file ({count}) that are no text are written as text")
            }
            Self::AttrsAsJson { dataset, count } if dataset.is_empty() => {
                write!(f, "attributes of the file ({count}) are written as JSON text")
            }
            Self::AttrsAsJson { dataset, count } => {
                write!(f, "{dataset:?}: attributes ({count}) are written as JSON text")
            }
            Self::AxisRenamed { dataset, axis, to } => {
                write!(f, "{dataset:?}: axis {axis} is named {to:?}")
            }
            Self::LabelsAsArray { dataset, array } => {
                write!(f, "{dataset:?}: labels of an axis are written as the array {array:?}")
            }
            Self::Untied { dataset, of } => {
                write!(f, "{dataset:?} has the bytes of {of:?}: they are written a second time")
            }
            other => other.fmt_lists(f),
        }
    }
}

/// The elements of a dataset that are missing values, or the dataset that was left out, of a note [`Note::Damaged`].
fn write_damaged(note: &Note, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Note::Damaged { dataset, positions, share, why, value } = note else { return Ok(()) };
    if dataset.is_empty() {
        return f.write_str(
            "parts of the file cannot be read, and which datasets they have is not known: left out",
        );
    }
    write!(f, "{dataset:?}")?;
    if !positions.is_empty() {
        write!(f, ": {positions}")?;
    }
    write!(f, " cannot be read ({why}): ")?;
    match value {
        Some(value) => write!(f, "{share}, are missing values ({value})"),
        None if share.is_empty() => f.write_str("left out"),
        None => write!(f, "left out; {share}"),
    }
}

/// Whether a type that is written as bits is of floats that can be converted to others.
fn is_float_name(name: &str) -> bool {
    matches!(DType::from_name(name), Some(DType::BFloat16 | DType::Float16))
        || tet_codec::NumberBlock::from_name(name).is_some()
}

/// Names, escaped; the first of many.
pub fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(16).map(|name| format!("{name:?}")).collect();
    let more = if shown.len() < names.len() { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// The note that values of some arrays were not compared with the checksums that there are.
pub fn unchecked<'l>(arrays: impl IntoIterator<Item = &'l LazyArray>) -> Option<Note> {
    arrays.into_iter().find_map(|lazy| of_integrity(lazy.integrity()))
}

/// The note that values of this integrity were not compared.
pub fn of_integrity(integrity: Integrity) -> Option<Note> {
    (integrity == Integrity::Unchecked).then_some(Note::Unchecked)
}

impl Note {
    /// Whether the output lacks something of the input, or has values that are not sure to be those of the input.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        matches!(
            self,
            Self::LeftOut { .. }
                | Self::Skipped { .. }
                | Self::Damaged { .. }
                | Self::LeftBehind { .. }
                | Self::Texts { .. }
                | Self::Unchecked
        )
    }

    /// The note that parts of a damaged file are left out, whatever they are.
    pub fn damaged_parts() -> Note {
        let (positions, share, why) = Default::default();
        Note::Damaged { dataset: String::new(), positions, share, why, value: None }
    }

    /// Whether it tells what of a file, or of its model, has no dataset and no attribute.
    pub fn is_of_file(&self) -> bool {
        matches!(self, Self::NotListed { .. } | Self::LeftOut { .. } | Self::PartOf { .. })
    }

    /// The note that `count` parts of a dataset, or of the file, are left out; `None` for no parts.
    pub fn left_behind(dataset: &str, what: &'static str, count: usize) -> Option<Note> {
        let dataset = dataset.to_owned();
        (count != 0).then_some(Note::LeftBehind { dataset, what, count })
    }

    /// The text of a note on several names.
    fn fmt_lists(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PartOf { number: 0, .. } => f.write_str(
                "the file is one part of a checkpoint of torch.distributed.checkpoint: \
                 torch.distributed.checkpoint.format_utils.dcp_to_torch_save makes one file of the folder",
            ),
            Self::PartOf { number, count, whole } => {
                write!(f, "the file is part {number} of {count} of a model")?;
                if whole.is_empty() { Ok(()) } else { write!(f, ": open {whole:?} for all of it") }
            }
            Self::InParts { dataset, parts } => {
                write!(f, "{dataset:?} is sparse, and written as {}", listed(parts))
            }
            Self::Decoded { datasets, attrs } => {
                let (of, attrs) = (listed(datasets), attrs.join(", "));
                write!(f, "{of}: decoded ({attrs}); --raw-values writes the stored values")
            }
            Self::Members { dataset, parts } => {
                write!(f, "{dataset:?} is of structures, and written as {}", listed(parts))
            }
            Self::TypeNames { names } => {
                write!(f, "names of datatypes ({}) are left out: {}", names.len(), listed(names))
            }
            Self::NamesLeftOut { dataset, attrs, names } => {
                let (attrs, names) = (listed(attrs), listed(names));
                write!(
                    f,
                    "{dataset:?}: {names} of the attributes {attrs} are not in the output: left out"
                )
            }
            other => other.fmt_values(f),
        }
    }

    /// The notes that are of values and of axes.
    fn fmt_values(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { what } => write!(f, "the input is malformed: {what}"),
            Self::Dequantized { types, count } => {
                let (s, verb) = if *count == 1 { ("", "is") } else { ("s", "are") };
                let types = types.join(", ");
                write!(f, "{count} dataset{s} of {types} {verb} written as decoded numbers")
            }
            Self::Warned { what } => f.write_str(what),
            Self::Gap { before, end, path, begin } => {
                write!(
                    f,
                    "{before} ends at {end} and {path} begins at {begin}: is a file between them missing?"
                )
            }
            Self::BeingWritten => f.write_str(
                "another program has the input open for writing: this may mix two states of it",
            ),
            Self::Unchecked => f.write_str(
                "some values were written that were not compared with their checksums; \
                 --digests always compares them",
            ),
            Self::Selection(note) => write!(f, "{note}"),
            Self::NoElements { dataset } => write!(
                f,
                "{dataset:?} has no elements: other programs may refuse the .tet file for it"
            ),
            Self::DroppedStay { count } => {
                let s = if *count == 1 { "" } else { "s" };
                write!(
                    f,
                    "the bytes of {count} removed dataset{s} stay in the file, unused: `tet convert` writes a smaller one"
                )
            }
            Self::DimsSkipped { dataset, rank, names } => {
                write!(f, "{dataset:?} has {rank} axes: the {names} dimension names are not set")
            }
            Self::Texts { dataset, count, what } => {
                write!(f, "{dataset:?}: {count} of its texts {what}")
            }
            Self::Packed { dataset, bits: 0, .. } => {
                write!(f, "{dataset:?}: all values become one")
            }
            Self::Packed { dataset, bits, step } => {
                write!(f, "{dataset:?}: values are rounded to {bits} bits, in steps of {step}")
            }
            Self::Unmasked { dataset, count } => {
                write!(
                    f,
                    "{dataset:?}: {count} elements that are not finite are stored without masks, \
                     which would change bits of them; other programs may find them odd"
                )
            }
            Self::PlainNan { dataset, count } => {
                write!(
                    f,
                    "{dataset:?}: {count} elements under masks become plain NaN or infinity: signs \
                     and payloads of NaN are lost"
                )
            }
            _ => Ok(()),
        }
    }
}
