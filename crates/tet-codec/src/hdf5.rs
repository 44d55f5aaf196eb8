//! The filters of HDF5 by their registered numbers.

use std::sync::Arc;

use crate::checksum::{ChecksumKind, ChecksumPlace, Checksummed};
use crate::filter::{
    Bitshuffle, Blosc, Deflate, Lz4, Lzf, NBit, ScaleOffset, Shuffle, Szip, ZfpStage,
};
use crate::pipeline::Stage;
use crate::{Blosc2, Unsupported};

/// The filters that are decoded: registered numbers and names.
pub const HDF5_FILTERS: &[(u16, &str)] = &[
    (1, "deflate"),
    (2, "shuffle"),
    (3, "fletcher32"),
    (4, "szip"),
    (5, "nbit"),
    (6, "scaleoffset"),
    #[cfg(feature = "bzip2")]
    (307, "bzip2"),
    (32_000, "lzf"),
    (32_001, "blosc"),
    (32_004, "lz4"),
    (32_008, "bitshuffle"),
    (32_013, "zfp"),
    #[cfg(feature = "zstd")]
    (32_015, "zstd"),
    #[cfg(feature = "zstd")]
    (32_024, "sz3"),
    (32_026, "blosc2"),
];

/// The stage of an HDF5 filter with the client data of the file, for elements of `element_size`
/// bytes.
///
/// ```
/// let stage = tet_codec::hdf5_stage(2, &[4], 4)?;
/// assert_eq!(stage.name(), "shuffle");
/// assert!(tet_codec::hdf5_stage(32017, &[], 4).is_err());
/// # Ok::<(), tet_codec::Unsupported>(())
/// ```
///
/// # Errors
///
/// Returns [`Unsupported`] for a filter that is not supported, or options that it cannot have.
pub fn hdf5_stage(
    id: u16,
    values: &[u32],
    element_size: u64,
) -> Result<Arc<dyn Stage>, Unsupported> {
    let value = |at: usize| values.get(at).copied().map(u64::from);
    let options = |name: &str| Unsupported::options(name);
    Ok(match id {
        1 => Arc::new(Deflate::zlib()),
        2 => Arc::new(Shuffle::new(value(0).unwrap_or(element_size))),
        3 => Arc::new(Checksummed::new(ChecksumKind::Fletcher32, ChecksumPlace::End)),
        4 => Arc::new(Szip::new(values).ok_or_else(|| options("szip"))?),
        5 => Arc::new(NBit::new(values).ok_or_else(|| options("nbit"))?),
        6 => Arc::new(ScaleOffset::new(values).ok_or_else(|| options("scaleoffset"))?),
        #[cfg(feature = "bzip2")]
        307 => Arc::new(crate::Bzip2),
        32_000 => Arc::new(Lzf),
        32_001 => Arc::new(Blosc),
        32_004 => Arc::new(Lz4::Hdf5),
        32_008 => {
            let size = value(2).unwrap_or(element_size);
            let compressor = values.get(4).copied().unwrap_or(0);
            let stage = Bitshuffle::new(size, value(3).unwrap_or(0), compressor);
            Arc::new(stage.ok_or_else(|| options("bitshuffle"))?)
        }
        32_013 => Arc::new(ZfpStage::hdf5(values).ok_or_else(|| options("zfp"))?),
        #[cfg(feature = "zstd")]
        32_015 => Arc::new(crate::ZstdStage),
        #[cfg(feature = "zstd")]
        32_024 => Arc::new(crate::Sz3Stage::hdf5(values).ok_or_else(|| options("sz3"))?),
        32_026 => Arc::new(Blosc2),
        id => return Err(Unsupported::filter(name(id))),
    })
}

/// The name of a filter that is not built in, or its number.
fn name(id: u16) -> String {
    let known = match id {
        305 => "lzo",
        307 => "bzip2",
        32_002 => "mafisc",
        32_003 => "snappy",
        32_014 => "fpzip",
        32_015 => "zstd",
        32_016 => "b3d",
        32_017 => "sz",
        32_018 => "fcidecomp",
        32_019 => "jpeg",
        32_022 => "granular bitround",
        32_024 => "sz3",
        32_028 => "sperr",
        _ => return format!("HDF5 filter {id}"),
    };
    format!("{known} (HDF5 filter {id})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filters_of_the_list_are_decoded_and_no_others() {
        for id in 0..=u16::MAX {
            let listed = HDF5_FILTERS.iter().find(|(it, _)| *it == id);
            // Without client data a filter that is built in has invalid options at most.
            match (hdf5_stage(id, &[], 4), listed) {
                (Ok(stage), Some((_, name))) => assert_eq!(stage.name(), *name, "{id}"),
                (Err(error), Some(_)) => assert!(error.to_string().contains("options"), "{error}"),
                (stage, None) => assert!(stage.is_err(), "{id}"),
            }
        }
    }
}
