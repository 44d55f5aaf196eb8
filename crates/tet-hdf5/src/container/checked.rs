//! The checked regions of an HDF5 file: chunks whose last filter is a checksum, Fletcher-32.

use crate::{Error as ReadError, Hdf5File, rule};
use tet_io::Source;

use super::{Hdf5, catalog, environment};
use tet_container::Result;
use tet_container::read::checked::checked_chunks;
use tet_container::{Repairer, TakeRegion};

impl Repairer for Hdf5 {
    fn regions(&self, source: &Source, take: &mut TakeRegion<'_>) -> Result<()> {
        let listed = Hdf5File::open(source.clone()).and_then(|file| {
            let contents = catalog::contents(&file, &mut |_| {})?;
            Ok(catalog::catalog(&file, &contents).catalog)
        });
        match listed {
            Ok(catalog) => checked_chunks(&catalog, &rule::PAYLOAD_CHECKSUM, take),
            // Nothing leads to the chunks of a file without its structure.
            Err(ReadError::Fault(_)) => Ok(()),
            Err(error) => Err(environment(error)),
        }
    }
}
