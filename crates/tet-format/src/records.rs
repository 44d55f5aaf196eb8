//! The tables of all fixed-length records: superblock, directory, index and tail of the footer
//! (format sections 2, 3, 4 and 6).

record! {
    /// The superblock as stored, valid or not.
    pub struct WireSuperblock[32] {
        /// Always `TETR`.
        0  magic: [u8; 4],
        /// Always 1.
        4  layout_version: u32,
        /// Records in the directory; 0 means there is neither directory nor index.
        8  dataset_count: u32,
        /// Bit 0: the file ends in a footer.
        12 flags: u32,
        /// The offset of the index.
        16 index_offset: u64,
        /// The length of the index.
        24 index_len: u64,
    }
}

record! {
    /// The header of the directory.
    pub struct WireDirectory[8] {
        /// The length of all records together.
        0 records_len: u64,
    }
}

record! {
    /// The fixed fields of a record. After them come the name, zero bytes up to a multiple of 8,
    /// the shape and the chunk shape.
    pub struct WireRecord[16] {
        /// The name's length in bytes.
        0  name_len: u32,
        /// The tag of the type of the elements.
        4  dtype: u32,
        /// The number of axes.
        8  rank: u32,
        /// Written as zero.
        12 reserved: u32,
    }
}

record! {
    /// The header of the index.
    pub struct IndexHeader[32] {
        /// Always `TIDX`.
        0  magic: [u8; 4],
        /// Always 1.
        4  index_version: u32,
        /// The number of rows.
        8  row_count: u64,
        /// A hint: how much of a host's memory a reader should use, in 1/100 percent; 0 is none.
        16 memory_budget_bps: u16,
        /// Written as zero.
        18 reserved: u16,
        /// A hint: how many bytes of memory a reader should use; 0 is none.
        20 memory_budget_len: u32,
        /// Written as zero.
        24 reserved_tail: u64,
    }
}

record! {
    /// The position of a chunk.
    pub struct IndexRow[104] {
        /// The dataset's position in the directory.
        0   dataset_id: u64,
        /// The chunk's coordinate in the grid; slots past the rank are written as zero.
        8   coord: [u64; 8],
        /// The file offset of the payload.
        72  payload_offset: u64,
        /// The decoded length of the chunk.
        80  raw_len: u64,
        /// The stored length of the payload.
        88  stored_len: u64,
        /// The tag of the codec.
        96  codec: u32,
        /// Written as zero.
        100 reserved: u32,
    }
}

record! {
    /// The last 16 bytes of a file with a footer.
    pub struct WireTail[16] {
        /// The length of the JSON.
        0  json_len: u64,
        /// 1 or 2.
        8  footer_version: u32,
        /// Always `THST`.
        12 magic: [u8; 4],
    }
}
