//! Memory for what a header lists, which is claimed before it is used: an allocation that fails ends the process.

use crate::Result;

/// Bytes of a dataset with its name, while it is read and listed: twice as many as were measured.
const DATASET_LEN: usize = 1280;

/// Checks that there is memory for this many datasets.
///
/// # Errors
/// There is not.
pub fn check_datasets(count: usize) -> Result<()> {
    let len = count.saturating_mul(DATASET_LEN);
    let wanted = u64::try_from(len).unwrap_or(u64::MAX);
    let room = Vec::<u8>::new().try_reserve_exact(len);
    room.map_err(|_| tet_query::Error::NoMemory { wanted }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_any_machine_has_is_refused() {
        assert!(check_datasets(100_000).is_ok());
        assert!(check_datasets(usize::MAX).is_err());
    }
}
