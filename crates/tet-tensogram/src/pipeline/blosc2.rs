//! blosc2: one contiguous frame, which `tet_codec::blosc2` decodes.

use tet_codec::blosc2::{self, FrameFault};

use crate::error::{Error, Fault, Result};
use crate::rule;

pub(super) use tet_codec::blosc2::inflates;

/// Decodes a payload into exactly `out`.
pub(crate) fn decode(payload: &[u8], out: &mut [u8], at: u64) -> Result<()> {
    let wanted = out.len() as u64;
    blosc2::decode(payload, out).map_err(|(place, broken)| {
        let rule = match broken {
            FrameFault::Frame => &rule::BLOSC2_FRAME,
            FrameFault::NotBuilt => &rule::BLOSC2_BUILT,
            FrameFault::Memory => return Error::Memory { len: wanted },
            _ => &rule::BLOSC2_CHUNK,
        };
        let found = payload.len() as u64;
        Fault { rule, at: at.saturating_add(place), found, wanted }.into()
    })
}
