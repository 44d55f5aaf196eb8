//! A full check of the structure: every object, attribute, heap and chunk index is read, with all checksums,
//! and no two pieces of data may share bytes.

use tet_format::Span;

use crate::error::{Error, Result, StoredFault, fault};
use crate::file::{Hdf5File, StoredLayout};
use crate::header::{self, Message, kind};
use crate::heap::fractal::FractalHeap;
use crate::message::link::{self, Dense};
use crate::rule;
use crate::walk::{ObjectKind, StoredObject};

/// How many pieces of data are compared with each other.
const SPAN_COUNT_MAX: usize = 1 << 21;

/// A check that is under way.
struct Check<'c> {
    file: &'c Hdf5File,
    found: &'c mut dyn FnMut(StoredFault),
    /// Stored data: the first byte, the end, and the number of the object.
    spans: Vec<(u64, u64, usize)>,
    is_full: bool,
}

impl Hdf5File {
    /// Checks the whole structure: all objects, attributes, heaps, indexes and their checksums, and where
    /// the data is. `found` receives what is wrong; chunks are not decoded.
    ///
    /// # Errors
    ///
    /// Returns an error when the file cannot be read.
    pub fn check(&self, found: &mut dyn FnMut(StoredFault)) -> Result<()> {
        for &fault in self.findings() {
            found(StoredFault { fault, path: None, attribute: None });
        }
        let (objects, faults) = match self.objects() {
            Err(Error::Fault(fault)) => {
                found(StoredFault { fault, path: None, attribute: None });
                return Ok(());
            }
            objects => objects?,
        };
        faults.into_iter().for_each(&mut *found);
        let begin = self.work();
        let mut check = Check { file: self, found, spans: Vec::new(), is_full: false };
        for (number, object) in objects.iter().enumerate() {
            if matches!(object.kind, ObjectKind::Unreadable(_)) {
                continue;
            }
            let done = check.object(number, object);
            check.note(done, &object.path)?;
            if let Err(error) = self.check_work(begin) {
                check.note(Err(error), &object.path)?;
                break;
            }
        }
        check.overlaps(&objects);
        Ok(())
    }
}

impl Check<'_> {
    /// Reports a fault; other errors end the check.
    fn note(&mut self, done: Result<()>, path: &str) -> Result<()> {
        match done {
            Err(Error::Fault(fault)) => {
                (self.found)(StoredFault { fault, path: Some(path.to_owned()), attribute: None });
                Ok(())
            }
            done => done,
        }
    }

    fn object(&mut self, number: usize, object: &StoredObject) -> Result<()> {
        let file = self.file;
        for it in file.attributes(object.address)?.1 {
            (self.found)(StoredFault { path: Some(object.path.clone()), ..it });
        }
        for message in header::read(file.reader(), file.shared(), object.address)?.messages {
            let done = self.heap(&message, &object.path);
            self.note(done, &object.path)?;
        }
        match object.kind {
            ObjectKind::Dataset => {}
            ObjectKind::Datatype => return file.datatype(object.address).map(drop),
            _ => return Ok(()),
        }
        match file.dataset(object.address)?.layout {
            StoredLayout::Contiguous(Some(span)) => self.add(span, number, object),
            StoredLayout::Chunked(chunks) => chunks.visit(&mut |_, place| {
                match chunks.stored(place) {
                    Ok(chunk) => self.add(chunk.span, number, object),
                    Err(error) => self.note(Err(error), &object.path)?,
                }
                Ok(true)
            })?,
            _ => {}
        }
        Ok(())
    }

    /// The blocks of a heap of links or attributes.
    fn heap(&mut self, message: &Message, path: &str) -> Result<()> {
        let mut fields = message.body.fields().with_rule(&rule::MESSAGE_CUT);
        let dense = match message.kind {
            kind::LINK_INFO => link::link_info(&mut fields)?,
            kind::ATTRIBUTE_INFO => link::attribute_info(&mut fields)?,
            _ => None,
        };
        let Some(Dense { heap, .. }) = dense else { return Ok(()) };
        let reader = self.file.reader();
        FractalHeap::read(reader, heap)?.check(reader, &mut |error| self.note(Err(error), path))
    }

    fn add(&mut self, span: Span, number: usize, object: &StoredObject) {
        if span.is_empty() {
            return;
        }
        if self.spans.len() < SPAN_COUNT_MAX {
            self.spans.push((span.start(), span.end(), number));
        } else if !self.is_full {
            self.is_full = true;
            let (rule, wanted) = (&rule::LIMIT_SPANS, SPAN_COUNT_MAX as u64);
            let done = self.note(Err(fault(rule, span.start(), wanted, wanted)), &object.path);
            debug_assert!(done.is_ok(), "a fault is reported");
        }
    }

    /// Data that shares bytes with other data.
    fn overlaps(&mut self, objects: &[StoredObject]) {
        self.spans.sort_unstable();
        let mut reached = 0;
        for &(start, end, number) in &self.spans {
            if start < reached
                && let Error::Fault(fault) = fault(&rule::PAYLOAD_OVERLAP, start, start, reached)
            {
                let path = objects.get(number).map(|object| object.path.clone());
                (self.found)(StoredFault { fault, path, attribute: None });
            }
            reached = reached.max(end);
        }
    }
}
