//! The elements' way from the input into the writer.

use std::io::{self, Read};
use std::path::Path;

use tet_file::write::{WriteOptions, Writer, ZeroExtents};
use tet_format::write::DatasetSpec;
use tet_io::Source;

use super::declare::Declared;
use super::element;
use super::fault::NpyFault;
use super::gather::{Elements, GROUP_LEN_MAX, Gather, Grouping};
use super::npy::{ElementOrder, Header};
use super::options::ImportOptions;
use super::region::Region;
use super::store::{Piece, SourceReader, Store};
use super::{Container, Error, Input, Result, of_member, spool};

/// Where else than in the stream the elements lie as they are.
enum Place {
    /// Nowhere: the stream is compressed.
    Nowhere,
    /// In a file that nothing vouches for.
    File(Source, u64),
    /// In an archive whose checksum is compared at the stream's end.
    Checked(Source, u64),
}

/// Writes the elements of the output, which is then to be finished.
pub(crate) fn transfer(
    declared: &Declared,
    container: &mut Container,
    source: &Source,
    (input, output): (&Path, &Path),
    options: &ImportOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Writer> {
    let folder = match output.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let specs = declared.datasets.iter().map(|(_, spec)| spec.clone()).collect();
    let mut writer = Writer::create(output, specs, &write_options(options, source))?;
    let (mut done, total) = (0, declared.decoded_len());
    for (id, (array, spec)) in declared.datasets.iter().enumerate() {
        let mut into = Into {
            writer: &mut writer,
            id,
            folder,
            options,
            progress: &mut |within| progress(done + within, total),
        };
        match container {
            Container::Npy => {
                let offset = array.header.header_len;
                let mut stream = SourceReader::buffered(source, offset);
                into.write(array, spec, &mut stream, Place::File(source.clone(), offset))?;
            }
            Container::Npz(archive) => {
                let of_member = |fault| of_member(input, &array.name, fault);
                let mut member = archive.member(array.position).map_err(of_member)?;
                let place = match member.offset {
                    Some(at) => Place::Checked(source.clone(), at + array.header.header_len),
                    None => Place::Nowhere,
                };
                skip_header(&mut member, array)?;
                into.write(array, spec, &mut member, place)?;
            }
        }
        let count = spec.shape.element_count().unwrap_or_default();
        done += count * spec.dtype.size().unwrap_or_default();
        progress(done, total);
    }
    source.check_unchanged()?;
    if options.is_canceled() {
        return Err(Error::Canceled);
    }
    Ok(writer)
}

fn write_options(options: &ImportOptions, source: &Source) -> WriteOptions {
    WriteOptions {
        encoder: options.codec,
        threads: options.threads,
        align: options.align,
        digests: options.digests,
        sync: options.sync,
        overwrite: options.overwrite,
        zero_extents: ZeroExtents::Allow,
        inputs: source.stamp().into_iter().collect(),
    }
}

/// Reads past the header, which must be the one that was declared.
fn skip_header(stream: &mut dyn Read, array: &Input) -> Result<()> {
    let fault = match Header::read(stream) {
        Ok(header) if header == array.header => return Ok(()),
        Ok(_) => NpyFault::Read(io::ErrorKind::InvalidData.into()),
        Err(fault) => fault,
    };
    Err(Error::Array { array: array.name.clone(), fault })
}

/// The dataset of the output that is being written.
struct Into<'a> {
    writer: &'a mut Writer,
    id: usize,
    folder: &'a Path,
    options: &'a ImportOptions,
    progress: &'a mut dyn FnMut(u64),
}

impl Into<'_> {
    /// Writes all chunks of `array`, whose elements `stream` is about to give.
    fn write(
        &mut self,
        array: &Input,
        spec: &DatasetSpec,
        stream: &mut dyn Read,
        place: Place,
    ) -> Result<()> {
        let (header, descr) = (&array.header, &array.header.descr);
        let of_elements = |error| Error::of_elements(&array.name, error);
        let mut stream = Stoppable { stream, options: self.options };
        let is_checked = !matches!(place, Place::File(..));
        if header.elements_len == 0 {
            self.writer.write_dataset(self.id, &mut |_, _| Ok(()), &mut *self.progress)?;
            return if is_checked { ended(&mut stream).map_err(of_elements) } else { Ok(()) };
        }
        // A complex element moves as one, though its two numbers are an axis of the output.
        let rank = spec.shape.rank() - usize::from(descr.part().is_some());
        let (shape, chunk_shape) = (&spec.shape[..rank], &spec.chunk_shape[..rank]);
        let grouping = Grouping::new(shape, chunk_shape, descr.size, GROUP_LEN_MAX);
        let elements = prepare(&mut stream, place, header, shape, grouping, self.folder);
        let elements = elements.map_err(of_elements)?;
        let mut gather = Gather::new(elements, shape, chunk_shape, descr.size, grouping);
        let mut gathered = Vec::new();
        // The writer hands on an error of ours as a box; it is kept here as it was.
        let mut fault = None;
        let written = self.writer.write_dataset(
            self.id,
            &mut |chunk, out| {
                if self.options.is_canceled() {
                    return Err("canceled".into());
                }
                let coord = chunk.coord.get(..rank).unwrap_or(chunk.coord);
                let outcome = if descr.is_widened() {
                    gather
                        .chunk(coord, &mut gathered)
                        .map(|()| element::convert_into(descr, &gathered, out))
                } else {
                    gather.chunk(coord, out).map(|()| element::order(descr, out))
                };
                outcome.map_err(|error| {
                    fault = Some(error);
                    "the input failed".into()
                })
            },
            &mut *self.progress,
        );
        match fault {
            Some(error) => return Err(of_elements(error)),
            None => written?,
        }
        drop(gather);
        // A stream that was used up by groups has not been asked for its checksum yet.
        if is_checked { ended(&mut stream).map_err(of_elements) } else { Ok(()) }
    }
}

/// A stream that fails once the caller wants to stop.
struct Stoppable<'a> {
    stream: &'a mut dyn Read,
    options: &'a ImportOptions,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.options.is_canceled() {
            Err(io::ErrorKind::Other.into())
        } else {
            self.stream.read(out)
        }
    }
}

/// Puts the elements where chunks can be gathered from them within bounds.
fn prepare<'a>(
    stream: &'a mut dyn Read,
    place: Place,
    header: &Header,
    shape: &[u64],
    grouping: Grouping,
    folder: &Path,
) -> io::Result<Elements<'a>> {
    let size = header.descr.size;
    let is_a_line = shape.iter().filter(|&&extent| extent > 1).count() <= 1;
    if header.order == ElementOrder::ColumnMajor && !is_a_line {
        let store = spool::columns(stream, shape, size, folder, GROUP_LEN_MAX)?;
        return Ok(Elements::Stored(store));
    }
    if grouping.is_contiguous() {
        return Ok(Elements::Stream(stream));
    }
    let (source, offset) = match place {
        Place::Nowhere => return Ok(Elements::Stored(spool::rows(stream, shape, size, folder)?)),
        Place::File(source, offset) => (source, offset),
        Place::Checked(source, offset) => {
            // Read once for the checksum, and then again by position.
            let skipped = io::copy(&mut stream.take(header.elements_len), &mut io::sink())?;
            if skipped != header.elements_len {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            ended(stream)?;
            (source, offset)
        }
    };
    let pieces = vec![Piece { offset, region: Region::whole(shape) }];
    Ok(Elements::Stored(Store::new(source, pieces, size)))
}

/// Nothing follows in `stream`; asking is what makes an archive compare its checksum.
fn ended(stream: &mut dyn Read) -> io::Result<()> {
    match stream.read(&mut [0])? {
        0 => Ok(()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}
