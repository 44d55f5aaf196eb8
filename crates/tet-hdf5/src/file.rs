//! An open file: its objects, what they are, and their attributes.

use std::cell::RefCell;
use std::sync::Arc;

use tet_format::{ForeignFault, Span};
use tet_io::Source;

use crate::error::{Error, Result, StoredFault, fault};
use crate::header::{self, Header, Message, SharedMessages, kind};
use crate::heap::fractal::FractalHeap;
use crate::heap::global::GlobalHeaps;
use crate::heap::local::LocalHeap;
use crate::index::StoredIndex;
use crate::message::attribute::{self, StoredAttribute};
use crate::message::datatype::{self, Datatype};
use crate::message::filters::{self, StoredFilter};
use crate::message::layout::{self, ExternalPart, Stored};
use crate::message::space::{self, Space};
use crate::message::{fill, link};
use crate::reader::Reader;
use crate::rule;
use crate::superblock::{self, Superblock};
use crate::tree::v2::TreeV2;

/// The most bytes of attributes that are read of an object.
pub(crate) const ATTRIBUTES_LEN_MAX: usize = 16 << 20;

/// An open HDF5 file, shared by cheap clones.
///
/// # Examples
///
/// ```no_run
/// use tet_hdf5::{Hdf5File, ObjectKind};
/// use tet_io::Source;
///
/// let file = Hdf5File::open(Source::open("x.h5")?)?;
/// let (objects, _findings) = file.objects()?;
/// for object in objects.iter().filter(|it| it.kind == ObjectKind::Dataset) {
///     println!("{}: {:?}", object.path, file.dataset(object.address)?.space.shape);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hdf5File(Arc<Opened>);

#[derive(Debug)]
struct Opened {
    reader: Arc<Reader>,
    superblock: Superblock,
    shared: SharedMessages,
    heaps: GlobalHeaps,
    found: Vec<ForeignFault>,
}

/// A dataset: its shape, its type, and where its elements are.
#[derive(Clone, Debug)]
pub struct Described {
    /// The extents.
    pub space: Space,
    /// The type of the elements.
    pub datatype: Datatype,
    /// The bytes of an element that is not stored; `None` for zeros.
    pub fill: Option<Vec<u8>>,
    /// The filters that chunks go through when they are written, in this order.
    pub filters: Vec<StoredFilter>,
    /// Where the elements are.
    pub layout: StoredLayout,
}

/// Where the elements of a dataset are.
///
/// # Examples
///
/// ```
/// use tet_hdf5::StoredLayout;
///
/// let absent = StoredLayout::Contiguous(None);
/// assert!(matches!(absent, StoredLayout::Contiguous(None)));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StoredLayout {
    /// In one piece; `None` where nothing was stored.
    Contiguous(Option<Span>),
    /// In chunks.
    Chunked(Box<StoredIndex>),
    /// In other files.
    External(Vec<ExternalPart>),
    /// Put together of parts of other datasets.
    Virtual,
}

impl Hdf5File {
    /// Reads the superblock of a file.
    ///
    /// # Errors
    ///
    /// Returns an error when there is none, or it is damaged.
    pub fn open(source: Source) -> Result<Hdf5File> {
        let superblock = superblock::read(&source)?;
        let file_len = source.len();
        let reader = Reader::new(source, superblock.base, superblock.sizes);
        let mut found = Vec::new();
        let end = superblock.end;
        if file_len < end {
            found.push(ForeignFault {
                rule: &rule::FILE_CUT,
                at: file_len,
                found: file_len,
                wanted: end,
            });
        }
        if superblock.is_open {
            let at = superblock.base.saturating_add(11);
            found.push(ForeignFault { rule: &rule::FILE_OPEN, at, found: 0, wanted: 0 });
        }
        let shared = match superblock.extension.map(|at| SharedMessages::read(&reader, at)) {
            None => SharedMessages::default(),
            Some(Ok(shared)) => shared,
            Some(Err(Error::Fault(fault))) => {
                found.push(fault);
                SharedMessages::default()
            }
            Some(Err(error)) => return Err(error),
        };
        let (reader, heaps) = (Arc::new(reader), GlobalHeaps::default());
        Ok(Hdf5File(Arc::new(Opened { reader, superblock, shared, heaps, found })))
    }

    pub(crate) fn reader(&self) -> &Arc<Reader> {
        &self.0.reader
    }

    pub(crate) fn shared(&self) -> &SharedMessages {
        &self.0.shared
    }

    pub(crate) fn superblock(&self) -> &Superblock {
        &self.0.superblock
    }

    /// The source of the bytes.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.0.reader.source
    }

    /// Faults of the superblock, and notes on it.
    #[must_use]
    pub fn findings(&self) -> &[ForeignFault] {
        &self.0.found
    }

    /// The version of the superblock.
    #[must_use]
    pub fn version(&self) -> u8 {
        self.0.superblock.version
    }

    /// Bytes of metadata that were read so far. Structures that share bytes can be read again and again:
    /// [`Hdf5File::check_work`] bounds that.
    #[must_use]
    pub fn work(&self) -> u64 {
        self.reader().given()
    }

    /// Bounds what is read since [`Hdf5File::work`] was `begin`.
    ///
    /// # Errors
    ///
    /// Returns an error when more than 64 MiB and 16 times the length of the file were read since then.
    pub fn check_work(&self, begin: u64) -> Result<()> {
        self.reader().check_work(begin)
    }

    /// The byte that addresses count from: the length of the user block.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.0.superblock.base
    }

    /// The address of the root group.
    #[must_use]
    pub fn root(&self) -> u64 {
        self.0.superblock.root
    }

    pub(crate) fn heaps(&self) -> &GlobalHeaps {
        &self.0.heaps
    }

    fn header(&self, address: u64) -> Result<Header> {
        header::read(self.reader(), self.shared(), address)
    }

    /// The dataset whose header is at this address.
    ///
    /// # Errors
    ///
    /// Returns an error when a message is missing or breaks a rule.
    pub fn dataset(&self, address: u64) -> Result<Described> {
        let messages = self.header(address)?.messages;
        let at = self.base().saturating_add(address);
        let get = |wanted: u16| messages.iter().find(|message| message.kind == wanted);
        let missing = |kind: u16| fault(&rule::INCOMPLETE, at, 0, kind.into());
        let need = |kind: u16| get(kind).map(|it| &it.body).ok_or_else(|| missing(kind));
        let datatype = need(kind::DATATYPE)?;
        let datatype = datatype::read(&mut datatype.fields().with_rule(&rule::MESSAGE_CUT))?;
        let space = need(kind::DATASPACE)?;
        let space = space::read(&mut space.fields().with_rule(&rule::MESSAGE_CUT))?;
        let fields = |kind: u16| get(kind).map(|it| it.body.fields().with_rule(&rule::MESSAGE_CUT));
        let new = fields(kind::FILL).map(|mut it| fill::read(&mut it)).transpose()?.flatten();
        let old = fields(kind::FILL_OLD).map(|mut it| fill::old(&mut it)).transpose()?.flatten();
        let size = usize::try_from(datatype.size).unwrap_or(usize::MAX);
        let fill = new.or(old).filter(|fill| fill.len() == size);
        let filters = fields(kind::FILTERS).map(|mut it| filters::read(&mut it)).transpose()?;
        let filters = filters.unwrap_or_default();
        let stored = layout::read(need(kind::LAYOUT)?)?;
        let layout = if let Some(mut fields) = fields(kind::EXTERNAL_FILES) {
            self.external(layout::external(&mut fields)?)?
        } else {
            self.layout(stored, &space, &datatype, !filters.is_empty())?
        };
        Ok(Described { space, datatype, fill, filters, layout })
    }

    /// The committed datatype whose header is at this address.
    ///
    /// # Errors
    ///
    /// Returns an error when its message is missing or breaks a rule.
    pub fn datatype(&self, address: u64) -> Result<Datatype> {
        let messages = self.header(address)?.messages;
        let at = self.base().saturating_add(address);
        let message = messages.iter().find(|message| message.kind == kind::DATATYPE);
        let message =
            message.ok_or_else(|| fault(&rule::INCOMPLETE, at, 0, kind::DATATYPE.into()))?;
        datatype::read(&mut message.body.fields().with_rule(&rule::MESSAGE_CUT))
    }

    fn layout(
        &self,
        stored: Stored,
        space: &Space,
        datatype: &Datatype,
        has_filters: bool,
    ) -> Result<StoredLayout> {
        let wanted = space.element_count().and_then(|it| it.checked_mul(datatype.size.into()));
        let wanted = wanted.filter(|&len| len < 1 << 63);
        let wanted =
            wanted.ok_or_else(|| fault(&rule::DATASPACE, self.base(), u64::MAX, 1 << 63))?;
        Ok(match stored {
            // A length of 0 is that of a dataset that was never written.
            Stored::Compact { len: 0, .. } => StoredLayout::Contiguous(None),
            Stored::Compact { at, len } if wanted <= len => {
                StoredLayout::Contiguous(Span::new(at, wanted))
            }
            Stored::Compact { at, len } => {
                return Err(fault(&rule::PAYLOAD_LEN, at, len, wanted));
            }
            Stored::Contiguous { address: None, .. } => StoredLayout::Contiguous(None),
            Stored::Contiguous { address: Some(address), len } => {
                let at = self.base().saturating_add(address);
                if len.is_some_and(|len| len < wanted) {
                    return Err(fault(&rule::PAYLOAD_LEN, at, len.unwrap_or(0), wanted));
                }
                let span = self.reader().span(address, wanted, &rule::PAYLOAD_BOUNDS)?;
                StoredLayout::Contiguous(Some(span))
            }
            Stored::Chunked(chunked) => {
                if chunked.element_size != u64::from(datatype.size) {
                    let (found, wanted) = (chunked.element_size, u64::from(datatype.size));
                    return Err(fault(&rule::LAYOUT, self.base(), found, wanted));
                }
                let index = StoredIndex::new(self.reader(), chunked, space, has_filters)?;
                StoredLayout::Chunked(Box::new(index))
            }
            Stored::Virtual => StoredLayout::Virtual,
        })
    }

    fn external(&self, external: layout::ExternalSlots) -> Result<StoredLayout> {
        let (heap, slots) = external;
        let heap = LocalHeap::read(self.reader(), heap)?;
        let mut parts = Vec::new();
        for (name, offset, len) in slots {
            parts.push(ExternalPart { file: heap.text(name)?, offset, len });
        }
        Ok(StoredLayout::External(parts))
    }

    /// The attributes of the object at this address, in the order of making where that is kept, else by
    /// name; and what is wrong with those that cannot be read, with their names where these are known.
    ///
    /// # Errors
    ///
    /// Returns an error when the header of the object cannot be read.
    pub fn attributes(&self, address: u64) -> Result<(Vec<StoredAttribute>, Vec<StoredFault>)> {
        let begin = self.reader().given();
        let found = RefCell::new(Vec::new());
        let note = |name: Option<String>, done: Result<()>| match done {
            Err(Error::Fault(fault)) => {
                let attribute = Some(name.unwrap_or_default());
                found.borrow_mut().push(StoredFault { fault, path: None, attribute });
                Ok(())
            }
            done => done,
        };
        let mut attributes: Vec<(Option<u16>, StoredAttribute)> = Vec::new();
        let (mut len, mut unread) = (0_usize, None);
        // An attribute that is damaged leaves the others readable.
        let mut take = |order: Option<u16>, body: &crate::reader::Piece| -> Result<()> {
            let read = attribute::read(self.reader(), self.shared(), body);
            let read = read.and_then(|(attribute, cost)| {
                len = len.saturating_add(cost);
                if ATTRIBUTES_LEN_MAX < len {
                    let (rule, wanted) = (&rule::LIMIT_ATTRIBUTES, ATTRIBUTES_LEN_MAX as u64);
                    return Err(fault(rule, attribute.at, len as u64, wanted));
                }
                attributes.push((order, attribute));
                Ok(())
            });
            let is_full = ATTRIBUTES_LEN_MAX < len;
            if is_full { read } else { note(attribute::name(&body.bytes), read) }
        };
        let header = self.header(address)?;
        for message in header.messages {
            self.reader().check_work(begin)?;
            match message.kind {
                kind::ATTRIBUTE if message.is_shared => {
                    let body = self.shared().resolve(self.reader(), message.kind, &message.body);
                    note(None, body.and_then(|body| take(message.order, &body)))?;
                }
                kind::ATTRIBUTE => note(None, take(message.order, &message.body))?,
                kind::ATTRIBUTE_INFO => note(None, self.dense_attributes(&message, &mut take))?,
                other if !kind::is_of_library(other) => {
                    let (at, found) = (message.body.at, other.into());
                    let rule = &rule::MESSAGE_UNREAD;
                    unread.get_or_insert(ForeignFault { rule, at, found, wanted: 0 });
                }
                _ => {}
            }
        }
        if attributes.iter().all(|(order, _)| order.is_some()) {
            attributes.sort_by_key(|(order, _)| *order);
        } else {
            attributes.sort_by(|(_, one), (_, next)| one.name.cmp(&next.name));
        }
        let attributes = attributes.into_iter().map(|(_, attribute)| attribute).collect();
        let of_object = |fault| StoredFault { fault, path: None, attribute: None };
        let of_object = header.lack.into_iter().chain(unread).map(of_object);
        Ok((attributes, found.into_inner().into_iter().chain(of_object).collect()))
    }

    /// Attributes in a heap.
    pub(crate) fn dense_attributes(
        &self,
        message: &Message,
        take: &mut dyn FnMut(Option<u16>, &crate::reader::Piece) -> Result<()>,
    ) -> Result<()> {
        let mut fields = message.body.fields().with_rule(&rule::MESSAGE_CUT);
        let Some(dense) = link::attribute_info(&mut fields)? else { return Ok(()) };
        let heap = FractalHeap::read(self.reader(), dense.heap)?;
        let damaged = heap.fault(self.reader())?;
        TreeV2::read(self.reader(), dense.names, 8)?.each(self.reader(), &mut |record| {
            let mut fields = record.fields();
            let id = fields.take(8)?;
            let flags = fields.byte()?;
            // The highest number: the order is not kept.
            let order = u16::try_from(fields.u32()?).ok().filter(|&it| it != u16::MAX);
            if flags & 2 != 0 {
                let mut shared = message.body.part(0, 0, &rule::MESSAGE_CUT)?;
                shared.bytes = [&[3, 1], id].concat();
                let body = self.shared().resolve(self.reader(), kind::ATTRIBUTE, &shared)?;
                return take(order, &body);
            }
            take(order, &heap.object(self.reader(), id)?)
        })?;
        damaged.map_or(Ok(()), Err)
    }
}
