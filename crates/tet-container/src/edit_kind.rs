//! Kinds of edits, and their names in messages.

/// The kind of an edit, by the part of a file that it changes.
///
/// # Examples
///
/// ```
/// use tet_container::EditKind;
///
/// assert_eq!(EditKind::FileAttr.text(), "setting attributes of the file");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditKind {
    /// Names of datasets.
    Rename,
    /// Which datasets there are.
    Drop,
    /// Attributes of datasets.
    Attr,
    /// Attributes of the file.
    FileAttr,
    /// Names of axes.
    Dims,
    /// Labels of axes.
    Labels,
    /// Unused space.
    Compact,
    /// The extents of datasets along an axis.
    Append,
    /// How datasets are stored.
    Repack,
    /// Room for more chunks in the index.
    Reserve,
}

impl EditKind {
    /// In words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            EditKind::Rename => "renaming datasets",
            EditKind::Drop => "removing datasets",
            EditKind::Attr => "setting attributes of datasets",
            EditKind::FileAttr => "setting attributes of the file",
            EditKind::Dims => "naming axes",
            EditKind::Labels => "labeling axes",
            EditKind::Compact => "reclaiming unused space",
            EditKind::Append => "growing along an axis",
            EditKind::Repack => "repacking",
            EditKind::Reserve => "reserving rows of the index",
        }
    }

    /// The hint with the command that writes a changed copy of any file.
    #[must_use]
    pub const fn instead(self) -> &'static str {
        match self {
            EditKind::Rename => "`tet convert --rename OLD=NEW` writes a copy with other names",
            EditKind::Drop => "`tet convert --exclude NAME` writes a copy without datasets",
            EditKind::Attr | EditKind::FileAttr => {
                "`tet convert --attr NAME:KEY=VALUE` writes a copy with other attributes"
            }
            EditKind::Dims => "`tet convert --dims` writes a copy with other names of axes",
            EditKind::Labels => "`tet convert --labels` writes a copy with labels",
            EditKind::Append => "`tet convert --concat AXIS` writes one file of several",
            EditKind::Repack => "`tet convert --chunks --codec` writes a copy that is stored so",
            EditKind::Compact | EditKind::Reserve => "`tet convert` makes such a file",
        }
    }
}
