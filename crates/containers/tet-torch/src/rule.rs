//! The rules of PyTorch files.

tet_format::foreign_rules! { pub(crate),
    "PT-A1" MEMBER "archive" Error Structure Hidden:
        "the members of the archive must be readable, and data.pkl be one of them",
        "the file is cut short or damaged: fetch or copy it again";
    "PT-A2" BYTE_ORDER "archive" Error Structure Hidden:
        "the member byteorder must be little or big",
        "the file is damaged: fetch or copy it again";
    "PT-P1" PICKLE_CUT "pickle" Error Structure Decimal:
        "an opcode must end inside the pickle, and the last one be STOP",
        "the file is damaged: fetch or copy it again";
    "PT-P2" OPCODE "pickle" Error Structure Hexadecimal:
        "an opcode must be one of the protocols 0 to 5 that torch.save writes",
        "save the file again with torch.save";
    "PT-P3" PROTOCOL "pickle" Error Structure Decimal:
        "the protocol must be at most 5",
        "save the file again with torch.save";
    "PT-P4" STACK "pickle" Error Structure Hidden:
        "an opcode must find its operands on the stack",
        "the file is damaged: fetch or copy it again";
    "PT-P5" MEMO "pickle" Error Structure Hidden:
        "a memo must be written before it is read",
        "the file is damaged: fetch or copy it again";
    "PT-P6" STORAGE "pickle" Error Structure Hidden:
        "a persistent id must be that of a storage: class, key and number of elements",
        "the file is damaged, or of a later version of PyTorch";
    "PT-P7" TENSOR "pickle" Error Structure Hidden:
        "a tensor must have a storage, an offset, a shape, and as many strides",
        "the file is damaged, or of a later version of PyTorch";
    "PT-P8" LINE "pickle" Error Structure Hidden:
        "a line of the protocols 0 and 1 must be a number, a text or the number of a memo",
        "the file is damaged: fetch or copy it again";
    "PT-L1" LIMIT_PICKLE "pickle" Error Structure Decimal:
        "a pickle may be at most 33554432 bytes long",
        "";
    "PT-L2" LIMIT_VALUES "pickle" Error Structure Decimal:
        "a pickle may build at most 4194304 values",
        "";
    "PT-L3" LIMIT_NAMES "pickle" Error Structure Decimal:
        "the names of all tensors and values may have at most 67108864 bytes",
        "";
    "PT-D1" STORAGE_MISSING "data" Error Structure Hidden:
        "the storage of a tensor is missing: the archive must have it as a member",
        "the file is incomplete: fetch or copy it again";
    "PT-D2" STORAGE_BOUNDS "data" Error Structure Decimal:
        "a tensor must end inside its storage",
        "the file is damaged: fetch or copy it again";
    "PT-D3" SHAPE_PRODUCT "data" Error Structure Decimal:
        "the elements of a tensor must fill fewer than 2^63 bytes",
        "the file is damaged: fetch or copy it again";
    "PT-D4" MEMBER_CRC "data" Error Elements Hexadecimal:
        "a member must have the CRC-32 that the archive lists",
        "the file is damaged, or was saved without checksums (torch.serialization.set_crc32_options)";
    "PT-D5" STORAGE_PACKED "data" Error Structure Hidden:
        "the storage of a tensor must be a member that is stored or deflated, and inside the file",
        "an archive of another program: save it again with torch.save";
    "PT-D6" MEMBER_DATA "data" Error Elements Decimal:
        "a compressed member must unpack to the bytes that the archive lists",
        "the file is damaged: fetch or copy it again";
    "PT-N1" NAME_TWICE "pickle" Warning Structure Hidden:
        "a name must be the name of one tensor",
        "a repeated name selects the first one: select by number, as #N";
    "PT-N2" DEEP "pickle" Warning Structure Decimal:
        "values may be at most 64 deep, and contain no value twice over",
        "what is deeper is not shown";
    "PT-N3" LEFT_OUT "pickle" Note Structure Decimal:
        "values that are no tensors, arrays, numbers or short texts are not listed",
        "load the file with torch.load to get them";
    "PT-N4" STORAGE_UNUSED "data" Warning Structure Decimal:
        "every storage must be that of a tensor that is listed",
        "load the file with torch.load, and save the tensors in a dictionary";
    "PT-N5" UNREAD "pickle" Note Structure Hidden:
        "a tensor or array must be of a kind that is read",
        "the others can be read; tet info lists the reason";
}
