//! Memory of Python that is filled from a file, or written to one: a contiguous buffer.
//!
//! The only file of the crate with `unsafe`: reading into the memory of NumPy takes half the time of handing over
//! memory of our own, which the system clears page by page first.

#![allow(unsafe_code, reason = "the memory of another language is a pointer and a length")]

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A buffer that is held, so that it neither moves nor goes away.
pub(crate) struct Memory(PyUntypedBuffer);

impl Memory {
    /// The memory of an array.
    ///
    /// # Errors
    ///
    /// The object has no buffer, or one that is read-only or not contiguous in row-major order.
    pub(crate) fn from_object(object: &Bound<'_, PyAny>) -> PyResult<Memory> {
        let buffer = PyUntypedBuffer::get(object).or_else(|_| {
            // An array without axes has no shape in its buffer; seen with one axis it does.
            let one = object.call_method1("reshape", (1,));
            one.and_then(|one| PyUntypedBuffer::get(&one)).map_err(|_| {
                PyTypeError::new_err("out has no buffer that can be written: pass a NumPy array")
            })
        })?;
        if buffer.readonly() {
            return Err(PyValueError::new_err("out is read-only"));
        }
        if !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("out is not contiguous in row-major order"));
        }
        Ok(Memory(buffer))
    }

    /// Its bytes. Threads of Python that use the array meanwhile see parts of what is written, as with any function of
    /// NumPy that runs without the lock.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        let len = self.0.len_bytes();
        if len == 0 {
            return &mut [];
        }
        // SAFETY: the buffer protocol promises `len` bytes from this pointer on, writable and contiguous as was checked,
        // for as long as the buffer is held, which `self` does. Nothing else of Rust has a reference to them: `Memory`
        // is made for one call, and lends them once at a time. They are bytes, so any content is valid.
        unsafe { std::slice::from_raw_parts_mut(self.0.buf_ptr().cast::<u8>(), len) }
    }
}

/// A buffer that is read: that of an array which is contiguous in row-major order.
pub(crate) struct ReadMemory(PyUntypedBuffer);

impl ReadMemory {
    /// The memory of an object.
    ///
    /// # Errors
    ///
    /// The object has no buffer, or one that is not contiguous in row-major order.
    pub(crate) fn from_object(object: &Bound<'_, PyAny>) -> PyResult<ReadMemory> {
        let buffer = PyUntypedBuffer::get(object)?;
        if !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("memory is not contiguous in row-major order"));
        }
        Ok(ReadMemory(buffer))
    }

    /// Its bytes. A thread of Python that writes to the array meanwhile decides which of its values are read, as with any
    /// function of NumPy that runs without the lock.
    pub(crate) fn bytes(&self) -> &[u8] {
        let len = self.0.len_bytes();
        if len == 0 {
            return &[];
        }
        // SAFETY: the buffer protocol promises `len` bytes from this pointer on, contiguous as was checked, for as long as
        // the buffer is held, which `self` does. They are bytes, so any content is valid.
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast::<u8>(), len) }
    }
}
