//! The units of a file, one after the other: what each contains, and where its data are.
//!
//! A first header that breaks a rule of its form makes the file unreadable. A later one hides itself and what
//! follows; the units before it are read.

use std::collections::HashSet;

use tet_format::{ForeignFault, ForeignRule};
use tet_io::Source;
use tet_verify::ForeignFound;

use super::header::{BLOCK_LEN, Header, OnFinding, warn};
use super::rule;
use super::tiles::{Layout, Refused};
use tet_container::Result;
use tet_container::entry::byte_len;
use tet_container::read::header::{HeaderError, Parsed};

/// The most axes of the standard.
const AXES_MAX: u64 = 999;

/// Contents of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Image,
    /// Random groups, an old form of the primary unit.
    Groups,
    /// A binary table whose rows are the compressed tiles of an image.
    Compressed,
    /// A table, binary or of text.
    Table(&'static str),
    /// An extension of another type.
    Other(String),
}

/// A unit: a header and its data.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) header: Header,
    /// Bits of a number; negative for floats.
    pub(super) bitpix: i64,
    /// The extents, the outer one first.
    pub(super) shape: Vec<u64>,
    /// Bytes of the data, without padding.
    pub(super) data_len: u64,
    pub(super) fault: Option<ForeignFault>,
    /// The tiles of a compressed image, or the end of the sentence why they are not read.
    pub(super) tiles: Option<Result<Layout, String>>,
}

/// The units of a file.
#[derive(Debug, Default)]
pub(super) struct Units {
    pub(super) units: Vec<Unit>,
    /// Why the units from here on cannot be found.
    pub(super) lost: Option<ForeignFault>,
}

/// Finds the units; the inner error is the rule that the first header breaks.
pub(super) fn read(source: &Source, found: OnFinding<'_>) -> Result<Result<Units, ForeignFault>> {
    let mut out = Units::default();
    match walk(source, &mut out, found) {
        Ok(()) => {}
        Err(HeaderError::Fault(fault)) if out.units.is_empty() => return Ok(Err(fault)),
        Err(HeaderError::Fault(fault)) => out.lost = Some(fault),
        Err(HeaderError::Io(error)) => return Err(error.into()),
    }
    check_names(&out, found);
    Ok(Ok(out))
}

fn walk(source: &Source, out: &mut Units, found: OnFinding<'_>) -> Parsed<()> {
    let (file_len, mut at, mut seen) = (source.len(), 0_u64, 0_u64);
    loop {
        let header = Header::read(source, at, seen, found)?;
        seen = seen.saturating_add(header.len);
        let mut unit = Unit::from_header(header, out.units.len())?;
        let data_at = unit.header.end();
        let end = data_at.saturating_add(unit.data_len);
        if file_len < end {
            let rule = &rule::DATA_BOUNDS;
            unit.fault = Some(ForeignFault { rule, at: data_at, found: file_len, wanted: end });
            out.units.push(unit);
            return Ok(());
        }
        out.units.push(unit);
        at = end.checked_next_multiple_of(BLOCK_LEN).unwrap_or(u64::MAX);
        let mut odd = |rule: &'static ForeignRule, at, is, wanted| {
            let fault = ForeignFault { rule, at, found: is, wanted };
            found(ForeignFound { fault, field: "data", len: 0, dataset: None });
            Ok(())
        };
        match file_len.checked_sub(at) {
            None => return odd(&rule::PADDING, end, file_len, at),
            Some(0) => return Ok(()),
            // Tapes and tools fill files up with zeros; anything else was a unit.
            Some(rest) if is_filler(source, at, rest)? => {
                return odd(&rule::TRAILING, at, file_len, at);
            }
            Some(rest) if source.read_vec(at, rest.min(8))? != b"XTENSION" => {
                let (rule, found, wanted) = (&rule::EXTENSION, file_len, at);
                return Err(HeaderError::Fault(ForeignFault { rule, at, found, wanted }));
            }
            Some(_) => {}
        }
    }
}

/// Whether the file goes on with zeros: as far as one block, which would have the header of a unit.
fn is_filler(source: &Source, at: u64, rest: u64) -> Parsed<bool> {
    Ok(source.read_vec(at, rest.min(BLOCK_LEN))?.iter().all(|&byte| byte == 0))
}

/// Reports units that have the name of another one.
fn check_names(units: &Units, found: OnFinding<'_>) {
    let mut names = HashSet::new();
    for (unit, number) in units.datasets().zip(0..) {
        if !names.insert(unit.name.as_str()) {
            let (rule, at) = (&rule::NAME_TWICE, unit.header.place("EXTNAME"));
            let fault = ForeignFault { rule, at, found: 0, wanted: 0 };
            let dataset = Some((number, unit.name.clone()));
            found(ForeignFound { fault, field: "card", len: 80, dataset });
        }
    }
}

impl Units {
    /// Name of a unit whose header cannot be read, and all behind it.
    pub(super) fn lost_name(&self) -> String {
        format!("HDU{}", self.units.len())
    }

    /// The units that are listed: all but a primary unit without data.
    pub(super) fn datasets(&self) -> impl Iterator<Item = &Unit> {
        self.units.iter().filter(|unit| unit.is_listed())
    }
}

impl Unit {
    /// The unit of a header, which is the `position`-th one.
    fn from_header(header: Header, position: usize) -> Parsed<Unit> {
        if position == 0 && !header.is_set("SIMPLE") {
            let (at, found, wanted) = (0, 0, 0);
            return Err(HeaderError::Fault(ForeignFault {
                rule: &rule::FIRST_CARD,
                at,
                found,
                wanted,
            }));
        }
        let fault = |rule: &'static ForeignRule, key: &str, found, wanted| {
            HeaderError::Fault(ForeignFault { rule, at: header.place(key), found, wanted })
        };
        let bitpix = header.integer("BITPIX").unwrap_or(0);
        if ![8, 16, 32, 64, -32, -64].contains(&bitpix) {
            return Err(fault(&rule::BITPIX, "BITPIX", bitpix.unsigned_abs(), 64));
        }
        let shape = shape(&header, "NAXIS")?;
        let kind = Kind::from_header(&header, position, &shape);
        // Only these two have no parameters or groups beside their array.
        let is_plain = position == 0 && kind == Kind::Image;
        let [groups, parameters] = [("GCOUNT", 1), ("PCOUNT", 0)].map(|(key, usual)| {
            let count = if is_plain { Some(usual) } else { header.count(key, usual) };
            count.ok_or_else(|| fault(&rule::AXES, key, 0, 0))
        });
        let (groups, parameters) = (groups?, parameters?);
        let counted = match kind {
            Kind::Groups => shape.split_last().map_or(&[][..], |(_, others)| others),
            _ => &shape,
        };
        let elements = if shape.is_empty() { Some(0) } else { byte_len(counted, 1, 1) };
        let size = bitpix.unsigned_abs() / 8;
        let data_len =
            elements.and_then(|count| count.checked_add(parameters)?.checked_mul(groups));
        let data_len =
            data_len.and_then(|count| count.checked_mul(size)).filter(|len| *len < 1 << 63);
        let data_len =
            data_len.ok_or_else(|| fault(&rule::SHAPE_PRODUCT, "NAXIS", u64::MAX, 1 << 63))?;
        let mut unit = Unit {
            name: String::new(),
            kind,
            header,
            bitpix,
            shape,
            data_len,
            fault: None,
            tiles: None,
        };
        unit.name = unit.name_of(position);
        unit.describe_table();
        // Fewer groups than one leave no room for an image.
        if unit.kind == Kind::Image && unit.data_len < unit.image_len() {
            let (at, rule) = (unit.header.place("GCOUNT"), &rule::DATA_BOUNDS);
            let (found, wanted) = (unit.data_len, unit.image_len());
            unit.fault = Some(ForeignFault { rule, at, found, wanted });
        }
        Ok(unit)
    }

    /// The name that selects it: EXTNAME, with EXTVER where that is not 1, as astropy writes it.
    fn name_of(&self, position: usize) -> String {
        let version = self.header.integer("EXTVER").filter(|version| *version != 1);
        let name = self.header.text("EXTNAME").filter(|name| !name.is_empty());
        match (name, version) {
            (Some(name), Some(version)) => format!("{name},{version}"),
            (Some(name), None) => name.to_owned(),
            (None, _) if position == 0 => "PRIMARY".to_owned(),
            (None, _) => format!("HDU{position}"),
        }
    }

    /// The shape of a table is its number of rows; that of a compressed image is that of the image.
    fn describe_table(&mut self) {
        match self.kind {
            Kind::Compressed => {
                self.shape.clear();
                let read = shape(&self.header, "ZNAXIS").map(|image| self.shape = image);
                let read = read.map_err(|stop| match stop {
                    HeaderError::Fault(fault) => Refused::Fault(fault),
                    HeaderError::Io(error) => Refused::Unsupported(error.to_string()),
                });
                let tiles =
                    read.and_then(|()| Layout::read(&self.header, &self.shape, self.data_len));
                match tiles {
                    Ok(tiles) => {
                        self.bitpix = tiles.bitpix();
                        self.tiles = Some(Ok(tiles));
                    }
                    Err(Refused::Unsupported(why)) => self.tiles = Some(Err(why)),
                    Err(Refused::Fault(fault)) => self.fault = Some(fault),
                }
            }
            Kind::Table(_) => self.shape.truncate(1),
            Kind::Image | Kind::Groups | Kind::Other(_) => {}
        }
    }

    /// Bytes of the pixels of an image.
    pub(super) fn image_len(&self) -> u64 {
        let size = self.bitpix.unsigned_abs() / 8;
        if self.shape.is_empty() { 0 } else { byte_len(&self.shape, 1, size).unwrap_or(u64::MAX) }
    }

    /// Whether it is a dataset.
    fn is_listed(&self) -> bool {
        self.header.at != 0 || !self.shape.is_empty()
    }

    /// The offset of what follows the padding of the data.
    pub(super) fn padded_end(&self) -> u64 {
        let end = self.header.end().saturating_add(self.data_len);
        end.checked_next_multiple_of(BLOCK_LEN).unwrap_or(u64::MAX)
    }

    /// The sum that the card DATASUM states; `None` if it is absent or no such number.
    pub(super) fn data_sum(&self) -> Option<u32> {
        self.header.text("DATASUM")?.trim().parse().ok()
    }

    /// Whether the sum of all of the unit is stated.
    pub(super) fn has_check_sum(&self) -> bool {
        self.header.text("CHECKSUM").is_some_and(|text| text.len() == 16)
    }

    /// Reports cards that have no effect.
    pub(super) fn check_cards(&self, found: OnFinding<'_>) {
        let header = &self.header;
        let is_odd_sum = header.value("DATASUM").is_some() && self.data_sum().is_none();
        // An empty text is how the standard writes that the sum is not known.
        if is_odd_sum && header.text("DATASUM") != Some("") {
            warn(&rule::SUM_FORM, header.place("DATASUM"), found);
        }
        if self.kind != Kind::Image && self.kind != Kind::Compressed {
            return;
        }
        for key in ["BSCALE", "BZERO"] {
            if header.value(key).is_some_and(|value| value.number().is_none()) {
                warn(&rule::SCALE_FORM, header.place(key), found);
            }
        }
        let is_blank = self.bitpix > 0 && header.integer("BLANK").is_some();
        if header.value("BLANK").is_some() && !is_blank {
            warn(&rule::SCALE_FORM, header.place("BLANK"), found);
        }
    }
}

/// The extents of an array, the outer one first.
fn shape(header: &Header, key: &str) -> Parsed<Vec<u64>> {
    let fault = |key: &str, found| {
        let (at, wanted) = (header.place(key), AXES_MAX);
        HeaderError::Fault(ForeignFault { rule: &rule::AXES, at, found, wanted })
    };
    let rank = header.integer(key).and_then(|rank| u64::try_from(rank).ok());
    let rank = rank.filter(|rank| *rank <= AXES_MAX).ok_or_else(|| fault(key, 0))?;
    let mut shape = Vec::new();
    for axis in (1..=rank).rev() {
        let key = format!("{key}{axis}");
        let extent = header.integer(&key).and_then(|extent| u64::try_from(extent).ok());
        shape.push(extent.ok_or_else(|| fault(&key, 0))?);
    }
    Ok(shape)
}

impl Kind {
    fn from_header(header: &Header, position: usize, shape: &[u64]) -> Kind {
        if position == 0 {
            let is_groups = shape.last() == Some(&0) && header.is_set("GROUPS");
            return if is_groups { Kind::Groups } else { Kind::Image };
        }
        match header.text("XTENSION").unwrap_or_default() {
            "IMAGE" | "IUEIMAGE" => Kind::Image,
            "BINTABLE" | "A3DTABLE" if header.is_set("ZIMAGE") => Kind::Compressed,
            "BINTABLE" | "A3DTABLE" => Kind::Table("binary table"),
            "TABLE" => Kind::Table("table of text"),
            other => Kind::Other(other.to_owned()),
        }
    }
}
