//! Zip archives, whose directory is not trusted: of `.npz`, PyTorch and Zarr files.

mod archive;
mod checked;
mod directory;
mod fault;
mod seal;

pub(crate) use self::archive::{Archive, Member, Members, OpenMember};
pub(crate) use self::checked::checked_members;
pub use self::fault::ZipFault;
pub(crate) use self::seal::MemberSeal;
