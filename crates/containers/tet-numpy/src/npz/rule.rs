//! The rules of `.npz` archives.

tet_format::foreign_rules! { pub(super),
    "NPZ-A1" ARCHIVE "archive" Error Structure Hidden:
        "the file must be a zip archive whose members are stored or deflated, and do not overlap",
        "the archive is damaged: fetch or copy it again";
    "NPZ-A2" SEVERAL "archive" Error Structure Hidden:
        "an archive must begin at the first byte of the file, and its directory end at its last end record",
        "the file is several archives in a row: write each to a file of its own (a folder of .distcp files: torch.distributed.checkpoint.format_utils.dcp_to_torch_save)";
    "NPZ-A3" NO_ARRAYS "archive" Error Structure Hidden:
        "a member of the archive must be an array of NumPy",
        "the file is another zip archive: unpack it, then open what it contains";
    "NPZ-M1" MEMBER_DATA "member" Error Structure Decimal:
        "a member must unpack to as many bytes as the archive lists",
        "the archive is damaged: fetch or copy it again";
    "NPZ-C1" MEMBER_CRC "member" Error Elements Hexadecimal:
        "the CRC-32 of a member must be the one that the archive has",
        "`tet repair` puts one flipped bit back: else fetch or copy the file again";
    "NPZ-N1" NAME_TWICE "archive" Warning Structure Hidden:
        "a name must be the name of one array",
        "a repeated name selects the first one: select by number, as #N";
    "NPZ-N2" MEMBER_TWICE "archive" Warning Structure Hidden:
        "a name must be the name of one member: the last one is read, as NumPy reads it",
        "unpack the archive to get the others";
    "NPZ-N4" MISNAMED "archive" Error Structure Hidden:
        "a member must have the name of its entry in the directory",
        "the archive is damaged: fetch or copy it again";
    "NPZ-N3" OTHER_MEMBER "archive" Note Structure Hidden:
        "a member that is no array is not listed",
        "unpack the archive to get it";
}
