//! The rules of FITS files: what the standard asks for.

tet_format::foreign_rules! { pub(crate),
    "FITS-H1" HEADER_CUT "header" Error Structure Hidden:
        "a header must end with an END card, inside the file",
        "the file is cut short or damaged: fetch or copy it again";
    "FITS-H2" FIRST_CARD "header" Error Structure Hidden:
        "the file must begin with the card SIMPLE = T",
        "the file is damaged, or of a program that does not follow the standard";
    "FITS-H3" BITPIX "header" Error Structure Decimal:
        "BITPIX must be 8, 16, 32, 64, -32 or -64",
        "the header is damaged: fetch or copy the file again";
    "FITS-H4" AXES "header" Error Structure Decimal:
        "NAXIS must be from 0 to 999, and NAXISn, PCOUNT and GCOUNT must not be negative",
        "the header is damaged: fetch or copy the file again";
    "FITS-H5" SHAPE_PRODUCT "header" Error Structure Decimal:
        "the data of a unit must be fewer than 2^63 bytes",
        "the header is damaged: fetch or copy the file again";
    "FITS-H6" EXTENSION "header" Error Structure Decimal:
        "a unit behind the first must begin with the card XTENSION",
        "the header is damaged, and hides all units behind it: fetch or copy the file again";
    "FITS-D1" DATA_BOUNDS "data" Error Structure Decimal:
        "the data of a unit must end inside the file",
        "the file is cut short: fetch or copy it again";
    "FITS-D2" DATA_SUM "data" Error Elements Hexadecimal:
        "the sum of the data must be that of the card DATASUM",
        "the data are damaged, or were changed by a program that does not update DATASUM";
    "FITS-D3" CHECK_SUM "header" Error Elements Hexadecimal:
        "the sum of a unit with the card CHECKSUM must be zero",
        "the unit is damaged, or was changed by a program that does not update CHECKSUM";
    "FITS-C1" TILE_CARDS "header" Error Structure Hidden:
        "a compressed image must state its ZBITPIX, ZCMPTYPE, positive ZTILEn and the columns of its tiles",
        "the header is damaged: fetch or copy the file again";
    "FITS-C2" TILE_ROWS "header" Error Structure Decimal:
        "the table of a compressed image must have a row for each tile",
        "the header is damaged: fetch or copy the file again";
    "FITS-C3" TILE_BOUNDS "data" Error Structure Decimal:
        "the bytes of a tile must end inside its unit",
        "the row of the tile is damaged: the other tiles are read";
    "FITS-C4" TILE_EMPTY "data" Error Structure Hidden:
        "a tile must have bytes in one of its columns",
        "the row of the tile is damaged: the other tiles are read";
    "FITS-C5" TILE_DECODES "data" Error Elements Hidden:
        "a tile must decode to its pixels",
        "the tile is damaged: the others are read";
    "FITS-L1" LIMIT_HEADER "header" Error Structure Decimal:
        "the headers of a file may be at most 67108864 bytes long",
        "";
    "FITS-L2" LIMIT_TILE "data" Warning Elements Hidden:
        "a tile should fit into the memory limit: a longer one is not decoded",
        "";
    "FITS-K1" CARD_FORM "header" Warning Structure Hidden:
        "a card must be a name of 8 letters or fewer, and a value that the standard describes",
        "the card is shown as text";
    "FITS-K2" KEY_TWICE "header" Warning Structure Hidden:
        "a keyword with a value must be there once",
        "the first value is shown";
    "FITS-K3" SCALE_FORM "header" Warning Structure Hidden:
        "BSCALE and BZERO must be numbers, and BLANK an integer of images of integers",
        "the card does not change the values";
    "FITS-K4" SUM_FORM "header" Warning Structure Hidden:
        "DATASUM must be a decimal number of 32 bits",
        "the data are not compared with it";
    "FITS-K5" END_BLANK "header" Warning Structure Hidden:
        "spaces alone may follow END in its block",
        "the header is damaged: what follows END is not read";
    "FITS-N1" NAME_TWICE "header" Warning Structure Hidden:
        "EXTNAME and EXTVER must be those of one unit",
        "a repeated name selects the first one: select by number, as #N";
    "FITS-P1" PADDING "data" Warning Structure Decimal:
        "a unit must be padded to a multiple of 2880 bytes",
        "the data are complete: other programs may warn";
    "FITS-P2" TRAILING "data" Warning Structure Decimal:
        "the file must end behind its last unit",
        "the bytes behind it are not shown";
}
