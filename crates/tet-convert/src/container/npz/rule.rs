//! The rules of `.npz` archives.

tet_format::foreign_rules! { pub(super),
    "NPZ-A1" ARCHIVE "archive" Error Structure Hidden:
        "the file must be a zip archive whose members are stored or deflated, and do not overlap",
        "the archive is damaged: fetch or copy it again";
    "NPZ-M1" MEMBER_DATA "member" Error Structure Decimal:
        "a member must unpack to as many bytes as the archive lists",
        "the archive is damaged: fetch or copy it again";
    "NPZ-C1" MEMBER_CRC "member" Error Elements Hexadecimal:
        "the CRC-32 of a member must be the one that the archive has",
        "the archive is damaged: fetch or copy it again";
}
