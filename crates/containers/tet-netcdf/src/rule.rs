//! The rules of NetCDF classic files: what the specification and its library ask for.

tet_format::foreign_rules! { pub(crate),
    "NC-H1" HEADER_CUT "header" Error Structure Decimal:
        "the header must end inside the file",
        "the file is cut short: fetch or copy it again";
    "NC-H2" TAG "header" Error Structure Hexadecimal:
        "a list must begin with its tag, or be absent",
        "the header is damaged: fetch or copy the file again";
    "NC-H3" NUMBER "header" Error Structure Decimal:
        "a length or number must be below 2^63",
        "the header is damaged: fetch or copy the file again";
    "NC-H4" RECORD_TWICE "header" Error Structure Decimal:
        "only one dimension may be the record dimension",
        "the header is damaged: fetch or copy the file again";
    "NC-A1" ATTRIBUTE_TYPE "header" Error Structure Decimal:
        "an attribute must be of a type of its version: 1 to 6, in CDF-5 1 to 11",
        "the header is damaged: fetch or copy the file again";
    "NC-V1" VARIABLE_TYPE "header" Error Structure Decimal:
        "a variable must be of a type of its version: 1 to 6, in CDF-5 1 to 11",
        "the header is damaged: fetch or copy the file again";
    "NC-V2" DIMENSION "header" Error Structure Decimal:
        "a variable must name dimensions of the file",
        "the header is damaged: fetch or copy the file again";
    "NC-V3" RECORD_AXIS "header" Error Structure Decimal:
        "the record dimension must be the first of a variable",
        "the header is damaged: fetch or copy the file again";
    "NC-V4" SHAPE_PRODUCT "header" Error Structure Decimal:
        "the elements of a variable must fill fewer than 2^63 bytes",
        "";
    "NC-V5" RECORD_UNKNOWN "header" Error Structure Hidden:
        "the length of a record needs all variables to be sound",
        "";
    "NC-D1" DATA_BOUNDS "data" Error Structure Decimal:
        "a variable must end inside the file",
        "the file is cut short: fetch or copy it again";
    "NC-D2" DATA_HEADER "data" Error Structure Decimal:
        "a variable must begin after the header",
        "the header is damaged: fetch or copy the file again";
    "NC-D3" DATA_OVERLAP "data" Error Structure Decimal:
        "variables must not overlap",
        "the header is damaged: fetch or copy the file again";
    "NC-L1" LIMIT_HEADER "header" Error Structure Decimal:
        "the header may be at most 268435456 bytes long",
        "";
    "NC-D4" DATA_OF_NOTHING "data" Error Structure Decimal:
        "a file without variables must end with its header",
        "the header is damaged: fetch or copy the file again";
    "NC-N1" NAME_UTF8 "header" Warning Structure Hidden:
        "a name must be UTF-8",
        "other bytes are replaced: select the variable by its number, as #N";
    "NC-N2" NAME_TWICE "header" Warning Structure Hidden:
        "a name must be the name of one variable",
        "a repeated name selects the first one: select by number, as #N";
}
