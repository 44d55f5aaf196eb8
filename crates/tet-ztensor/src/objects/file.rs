//! Opens a file: reads its footer, its manifest, and the footers of its shards.

use tet_cbor::Value;
use tet_format::Span;
use tet_io::Source;

use super::container::{Container, Version};
use super::manifest::{self, Manifest};
use super::object::ManifestObject;
use super::part::ObjectPart;
use super::shard::{OpenShard, Shard};
use super::{judge, overlap};
use crate::error::Result;
use crate::frames::{self, Frames};
use crate::limits::Limits;

/// An opened file of version 1 or 2, with its manifest in memory.
///
/// ```no_run
/// use tet_io::Source;
/// use tet_ztensor::{Limits, objects::ObjectFile};
///
/// let source = Source::open("model.zt")?;
/// let file = ObjectFile::open(source, &Limits::default(), &|_| None)?;
/// for object in file.objects() {
///     println!("{} {:?}", object.name, object.shape);
/// }
/// # Ok::<(), tet_ztensor::Error>(())
/// ```
#[derive(Debug)]
pub struct ObjectFile {
    source: Source,
    version: Version,
    manifest_span: Option<Span>,
    data_end: u64,
    manifest: Manifest,
    limits: Limits,
}

impl ObjectFile {
    /// Opens a file, and its shards by `open`. An object that cannot be read stores its fault and does
    /// not affect the others.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Format`](crate::Error::Format) for the first rule broken by the container or by the
    /// manifest as a whole, and [`Error::Io`](crate::Error::Io) when bytes cannot be read.
    pub fn open(source: Source, limits: &Limits, open: OpenShard<'_>) -> Result<Self> {
        let container = Container::read(&source, limits)?;
        let Container { version, manifest: manifest_span, data_end, .. } = container;
        let mut manifest = Manifest::default();
        if let Some(span) = manifest_span {
            let bytes = source.read_vec(span.start(), span.len())?;
            container.check_hash(span.start(), &bytes)?;
            manifest = manifest::read(version, &bytes, span, limits)?;
            check_places(version, &mut manifest, data_end);
            if version == Version::Two {
                overlap::find(&mut manifest.objects, span);
            }
        }
        for shard in &mut manifest.shards {
            shard.open(open, limits)?;
        }
        for object in &mut manifest.objects {
            let mut shards = object.parts.iter().filter_map(|part| part.shard);
            let fault = shards.find_map(|at| manifest.shards.get(at)?.fault);
            object.fault = object.fault.or(fault);
        }
        source.check_unchanged()?;
        let limits = *limits;
        Ok(ObjectFile { source, version, manifest_span, data_end, manifest, limits })
    }

    /// The bytes of the file itself.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Its version.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.version
    }

    /// Where its manifest is; `None` if it has none, and only holds blobs of another file.
    #[must_use]
    pub const fn manifest(&self) -> Option<Span> {
        self.manifest_span
    }

    /// Where its footer is.
    #[must_use]
    pub fn footer(&self) -> Option<Span> {
        Span::from_range(self.data_end..self.source.len())
    }

    /// Its objects, in the order of the manifest.
    #[must_use]
    pub fn objects(&self) -> &[ManifestObject] {
        &self.manifest.objects
    }

    /// Its shards, in the order of the manifest.
    #[must_use]
    pub fn shards(&self) -> &[Shard] {
        &self.manifest.shards
    }

    /// The attributes of the whole file.
    #[must_use]
    pub fn attributes(&self) -> &[(String, Value)] {
        &self.manifest.attributes
    }

    /// The file that holds the blob of a part; `None` if it was not found.
    #[must_use]
    pub fn source_of(&self, part: &ObjectPart) -> Option<&Source> {
        match part.shard {
            None => Some(&self.source),
            Some(at) => self.manifest.shards.get(at)?.source.as_ref(),
        }
    }

    /// The zstd frames of a part; `None` if they can only be decoded as a whole.
    ///
    /// # Errors
    ///
    /// Returns an error when the file cannot be read.
    pub fn frames(&self, part: &ObjectPart) -> Result<Option<Frames>> {
        match self.source_of(part) {
            Some(source) => frames::frames(source, part.stored, part.decoded_len),
            None => Ok(None),
        }
    }

    pub(super) const fn limits(&self) -> &Limits {
        &self.limits
    }
}

/// Checks every object that has no fault yet.
fn check_places(version: Version, manifest: &mut Manifest, data_end: u64) {
    let Manifest { objects, shards, .. } = manifest;
    let ends: Vec<u64> = shards.iter().map(|shard| shard.data_end().unwrap_or(0)).collect();
    let end_of = |shard: Option<usize>| match shard {
        None => data_end,
        Some(at) => ends.get(at).copied().unwrap_or(0),
    };
    for object in objects.iter_mut().filter(|object| object.fault.is_none()) {
        let checked = judge::places(version, object, &end_of);
        object.fault = checked.and_then(|()| judge::layout(version, object)).err();
    }
}
