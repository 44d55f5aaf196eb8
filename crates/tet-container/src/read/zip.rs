//! Zip archives, whose directory is not trusted: of `.npz`, PyTorch and Zarr files.

mod archive;
mod checked;
mod directory;
mod fault;
mod seal;

pub use self::archive::{Archive, Member, Members, OpenMember};
pub use self::checked::checked_members;
pub use self::fault::ZipFault;
pub use self::seal::MemberSeal;
