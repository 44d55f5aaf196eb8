//! A full check of the structure: every object, attribute, heap and chunk index is read, with all checksums,
//! and no two pieces of data may share bytes.

use tet_format::Span;

use crate::error::{Error, Found, Result, fault};
use crate::file::{Hdf5File, Layout};
use crate::header::{self, Message, kind};
use crate::heap::fractal::FractalHeap;
use crate::message::link::{self, Dense};
use crate::rule;
use crate::walk::{Object, ObjectKind};

/// How many pieces of data are compared with each other.
const SPAN_COUNT_MAX: usize = 1 << 21;

/// A check that is under way.
struct Check<'c> {
    file: &'c Hdf5File,
    found: &'c mut dyn FnMut(Found),
    /// Stored data: the first byte, the end, and the number of the object.
    spans: Vec<(u64, u64, usize)>,
    is_full: bool,
}

/// Checks a file; `found` receives all that is wrong.
pub(crate) fn check(file: &Hdf5File, found: &mut dyn FnMut(Found)) -> Result<()> {
    for &fault in file.findings() {
        found(Found { fault, path: None });
    }
    let (objects, faults) = match file.objects() {
        Err(Error::Fault(fault)) => {
            found(Found { fault, path: None });
            return Ok(());
        }
        objects => objects?,
    };
    faults.into_iter().for_each(&mut *found);
    let mut check = Check { file, found, spans: Vec::new(), is_full: false };
    for (number, object) in objects.iter().enumerate() {
        let done = check.object(number, object);
        check.note(done, &object.path)?;
    }
    check.overlaps(&objects);
    Ok(())
}

impl Check<'_> {
    /// Reports a fault; other errors end the check.
    fn note(&mut self, done: Result<()>, path: &str) -> Result<()> {
        match done {
            Err(Error::Fault(fault)) => {
                (self.found)(Found { fault, path: Some(path.to_owned()) });
                Ok(())
            }
            done => done,
        }
    }

    fn object(&mut self, number: usize, object: &Object) -> Result<()> {
        let file = self.file;
        for fault in file.attributes(object.address)?.1 {
            self.note(Err(Error::Fault(fault)), &object.path)?;
        }
        for message in header::read(file.reader(), file.shared(), object.address)? {
            let done = self.heap(&message, &object.path);
            self.note(done, &object.path)?;
        }
        if object.kind != ObjectKind::Dataset {
            return Ok(());
        }
        match file.dataset(object.address)?.layout {
            Layout::Contiguous(Some(span)) => self.add(span, (number, object)),
            Layout::Chunked(chunks) => chunks.visit(&mut |_, place| {
                match chunks.stored(place) {
                    Ok(chunk) => self.add(chunk.span, (number, object)),
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

    fn add(&mut self, span: Span, (number, object): (usize, &Object)) {
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
    fn overlaps(&mut self, objects: &[Object]) {
        self.spans.sort_unstable();
        let mut reached = 0;
        for &(start, end, number) in &self.spans {
            if start < reached
                && let Error::Fault(fault) = fault(&rule::PAYLOAD_OVERLAP, start, start, reached)
            {
                let path = objects.get(number).map(|object| object.path.clone());
                (self.found)(Found { fault, path });
            }
            reached = reached.max(end);
        }
    }
}
