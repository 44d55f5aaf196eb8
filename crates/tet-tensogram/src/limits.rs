//! Limits on what a reader accepts from a file.

/// Limits of a reader. The caller may change them; nothing in a file can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest CBOR of a frame, in bytes.
    pub cbor_len_max: u64,
    /// The deepest nesting of items.
    pub depth_max: u32,
    /// The most items in the CBOR of a frame.
    pub item_count_max: usize,
    /// The most frames of a message.
    pub frame_count_max: u64,
    /// The most messages of a file.
    pub message_count_max: u64,
    /// The longest object, in bytes, of a codec that can expand a few bytes to any length.
    pub inflated_len_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            cbor_len_max: 1 << 30,
            depth_max: 256,
            item_count_max: 1 << 22,
            frame_count_max: 1 << 20,
            message_count_max: 1 << 21,
            inflated_len_max: 16 << 30,
        }
    }
}

impl Limits {
    /// Sets the longest CBOR of a frame, in bytes.
    #[must_use]
    pub const fn with_cbor_len_max(mut self, cbor_len_max: u64) -> Self {
        self.cbor_len_max = cbor_len_max;
        self
    }

    /// Sets the deepest nesting of items.
    #[must_use]
    pub const fn with_depth_max(mut self, depth_max: u32) -> Self {
        self.depth_max = depth_max;
        self
    }

    /// Sets the most items in the CBOR of a frame.
    #[must_use]
    pub const fn with_item_count_max(mut self, item_count_max: usize) -> Self {
        self.item_count_max = item_count_max;
        self
    }

    /// Sets the most frames of a message.
    #[must_use]
    pub const fn with_frame_count_max(mut self, frame_count_max: u64) -> Self {
        self.frame_count_max = frame_count_max;
        self
    }

    /// Sets the most messages of a file.
    #[must_use]
    pub const fn with_message_count_max(mut self, message_count_max: u64) -> Self {
        self.message_count_max = message_count_max;
        self
    }

    /// Sets the longest object of a codec that can expand a few bytes to any length.
    #[must_use]
    pub const fn with_inflated_len_max(mut self, inflated_len_max: u64) -> Self {
        self.inflated_len_max = inflated_len_max;
        self
    }
}
