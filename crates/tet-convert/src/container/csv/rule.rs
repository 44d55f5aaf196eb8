//! The rules of tables of text: what RFC 4180 asks for, and what this reader bounds.

tet_format::foreign_rules! { pub(crate),
    "CSV-E1" ENCODING "text" Error Structure Decimal:
        "the text must be UTF-8, or another encoding in which no byte is 0",
        "save the file as UTF-8 text";
    "CSV-R1" ROW_FIELDS "rows" Error Structure Decimal:
        "each row must have as many fields as the first one",
        "look at the row: a field with the delimiter in it must be between quotes";
    "CSV-R2" NO_ROWS "rows" Error Structure Decimal:
        "there must be a row",
        "the file is empty, or has only comments: fetch or copy it again";
    "CSV-L1" LIMIT_ROW "rows" Error Structure Decimal:
        "a row may be at most 16777216 bytes long",
        "a quote that is not closed may be the cause";
    "CSV-L2" LIMIT_COLUMNS "rows" Error Structure Decimal:
        "there may be at most 131072 columns",
        "";
    "CSV-N1" NAME_UTF8 "header" Warning Structure Hidden:
        "the name of a column must be UTF-8",
        "other bytes are replaced: select the column by its number, as #N";
    "CSV-N2" NAME_TWICE "header" Warning Structure Hidden:
        "a name must be the name of one column",
        "a repeated name selects the first one: select by number, as #N";
}
