//! `tet.convert/1`: what a conversion wrote.

use serde::Serialize;

/// Results of a conversion.
#[derive(Debug, Serialize)]
pub(crate) struct Converted {
    /// `tet.convert/1`.
    pub(crate) schema: &'static str,
    /// The input, as the user wrote it.
    pub(crate) input: String,
    /// The output, as the user wrote it.
    pub(crate) output: String,
    /// Bytes of the input.
    pub(crate) input_len: u64,
    /// Bytes of the elements.
    pub(crate) decoded_len: u64,
    /// Bytes of the output.
    pub(crate) output_len: u64,
    /// The datasets written.
    pub(crate) datasets: Vec<ConvertedDataset>,
    /// Differences of the output from the input.
    pub(crate) notes: Vec<String>,
}

/// One dataset of a conversion.
#[derive(Debug, Serialize)]
pub(crate) struct ConvertedDataset {
    /// Its name.
    pub(crate) name: String,
    /// Its dtype.
    pub(crate) dtype: String,
    /// Its shape.
    pub(crate) shape: Vec<u64>,
    /// Its chunk shape.
    pub(crate) chunk_shape: Vec<u64>,
}
