//! The rules of tables of text: what RFC 4180 asks for, and what this reader bounds.

tet_format::foreign_rules! { pub(crate),
    "CSV-E1" ENCODING "text" Error Structure Hidden:
        "the text must be UTF-8, or another encoding in which no byte is 0",
        "save the file as UTF-8 text";
    "CSV-R1" ROW_LONG "rows" Error Structure Decimal:
        "a row must not have more fields than the first one",
        "look at the line: a field with the delimiter in it must be between quotes";
    "CSV-R2" NO_ROWS "rows" Error Structure Hidden:
        "there must be a row",
        "the file is empty, or has only comments: fetch or copy it again";
    "CSV-R3" UNCLOSED "rows" Error Structure Hidden:
        "a field that begins with a quote must end with one",
        "close the quote in the file, or copy or download the file again if it is cut off";
    "CSV-R4" ROW_SHORT "rows" Error Structure Decimal:
        "a row must not have fewer fields than the first one",
        "look at the line: write a delimiter for each value that is missing, or copy the file again if it is cut off";
    "CSV-L1" LIMIT_ROW "rows" Error Structure Hidden:
        "a row may be at most 16777216 bytes long",
        "if the rows are shorter, a quote is not closed: look at the line; else split its texts";
    "CSV-L2" LIMIT_COLUMNS "rows" Error Structure Hidden:
        "there may be at most 131072 columns",
        "write rows as columns, or save the array in another format, as .npy";
    "CSV-N1" NAME_UTF8 "header" Warning Structure Hidden:
        "the name of a column must be UTF-8",
        "other bytes are replaced: select the column by its number, as #N";
    "CSV-N2" NAME_TWICE "header" Warning Structure Hidden:
        "two columns have the same name",
        "the name selects neither: select them by their positions, as #N";
}
