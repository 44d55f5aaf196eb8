//! PyTorch checkpoints: what is checked, opened and read of any pickle agrees. A tensor may have more elements than its
//! storage: a stride may be zero.

use super::agree::{DatasetLen, agree};

/// The first pickle of files of before version 1.6.
const MAGIC: &[u8] = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

/// A checkpoint of the bytes as its pickle, and storages of fixed bytes; zip archives, and files of before version 1.6,
/// are taken as they are.
pub fn torch(bytes: &[u8]) {
    if !bytes.starts_with(b"PK\x03\x04") && !bytes.starts_with(MAGIC) {
        return agree(&checkpoint(bytes), DatasetLen::Unbounded);
    }
    let format = tet_convert::sniff(&tet_io::Source::from_bytes(bytes));
    if format.is_ok_and(|format| format == tet_convert::Format::TORCH) {
        agree(bytes, DatasetLen::Unbounded);
    }
}

/// A zip archive of stored members, as `torch.save` writes it.
pub(super) fn checkpoint(pickle: &[u8]) -> Vec<u8> {
    let storage: Vec<u8> = (0..96).collect();
    let members = [
        ("m/data.pkl", pickle),
        ("m/byteorder", b"little"),
        ("m/data/0", &storage),
        ("m/data/1", &storage),
    ];
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let len = |len: usize| u32::try_from(len).expect("a short member").to_le_bytes();
        let crc = crc32(bytes).to_le_bytes();
        let name_len = [u8::try_from(name.len()).expect("a short name"), 0];
        // Versions, flags, method, time and date are zero; then the CRC-32, both lengths, and that of the name.
        let fields =
            [&[0; 10][..], &crc, &len(bytes.len()), &len(bytes.len()), &name_len, &[0; 2]].concat();
        let at = len(out.len());
        out.extend([b"PK\x03\x04", &fields[..], name.as_bytes(), bytes].concat());
        directory.extend([b"PK\x01\x02\0\0", &fields[..], &[0; 10], &at, name.as_bytes()].concat());
    }
    let count = [u8::try_from(members.len()).expect("a few"), 0];
    let (dir_len, dir_at) = (directory.len(), out.len());
    let number = |number: usize| u32::try_from(number).expect("a short file").to_le_bytes();
    out.extend(directory);
    let end =
        [b"PK\x05\x06\0\0\0\0", &count[..], &count, &number(dir_len), &number(dir_at), &[0; 2]];
    out.extend(end.concat());
    out
}

/// The CRC-32 of zip archives, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    !crc
}

fn text(text: &str) -> Vec<u8> {
    let len = u8::try_from(text.len()).expect("a short text");
    [&[0x8c, len], text.as_bytes()].concat()
}

fn tuple(numbers: &[u8]) -> Vec<u8> {
    let numbers = numbers.iter().flat_map(|&number| [b'K', number]);
    [vec![b'('], numbers.collect(), vec![b't']].concat()
}

/// A function that rebuilds tensors.
fn rebuild(kind: &str) -> Vec<u8> {
    format!("c{}\n_rebuild_{kind}\n", concat!("torch._util", "s")).into_bytes()
}

/// A tensor of this class; storages have 96 bytes.
fn tensor(class: &str, offset: u8, shape: &[u8], strides: &[u8]) -> Vec<u8> {
    let class = format!("ctorch\n{class}\n").into_bytes();
    let storage =
        [&b"("[..], &text("storage"), &class, &text("1"), &text("cpu"), b"K\x60tQ"].concat();
    let place = [vec![b'K', offset], tuple(shape), tuple(strides)].concat();
    let hooks = b"\x89ccollections\nOrderedDict\n)RtR";
    [&rebuild("tensor_v2")[..], b"(", &storage, &place, hooks].concat()
}

/// Pickles of every opcode that is read.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let classes = [
        "FloatStorage",
        "BoolStorage",
        "ComplexDoubleStorage",
        "BFloat16Storage",
        "QInt8Storage",
        "HalfStorage",
    ];
    let views: [(u8, &[u8], &[u8]); 5] = [
        (0, &[2, 3], &[3, 1]),
        (1, &[3, 2], &[1, 3]),
        (0, &[], &[]),
        (2, &[4, 2], &[0, 1]),
        (0, &[0, 5], &[5, 1]),
    ];
    let mut seeds = Vec::new();
    for class in classes {
        for (offset, shape, strides) in views {
            let one = [&b"\x80\x02}q\x00("[..], &text("a"), &tensor(class, offset, shape, strides)]
                .concat();
            seeds.push([&one[..], &text("lr"), b"G\x3f\xe0\0\0\0\0\0\0u."].concat());
        }
    }
    let third = [
        &b"("[..],
        &text("storage"),
        b"ctorch.storage\nUntypedStorage\n",
        &text("0"),
        &text("cpu"),
        b"K\x60tQ",
    ]
    .concat();
    let place = [vec![b'K', 1], tuple(&[4]), tuple(&[2])].concat();
    let hooks = b"\x89}ctorch\nuint16\ntR.";
    seeds.push([&rebuild("tensor_v3")[..], b"(", &third, &place, hooks].concat());
    let keys = [&b"]"[..], &text("1"), b"a.\x03\0\0\0\0\0\0\0", &[1; 12]].concat();
    let old = [&tensor("FloatStorage", 0, &[3], &[1])[..], b".", &keys].concat();
    seeds.push([MAGIC, b"K\x01.}.", &old].concat());
    for values in [
        &b"](K\x01M\x02\x00J\xff\xff\xff\xff\x8a\x01\xff\x88\x89Ne."[..],
        b"\x80\x05\x95\x00\x00\x00\x00\x00\x00\x00\x00\x8f\x94(K\x01\x90\x8c\x01a\x94\x93.",
        b"\x8c\x05torch\x8c\x04Size\x93K\x01K\x02\x86\x85R.",
        b"]q\x00h\x00a.",
        b"](h\x00h\x00e.",
        b"ccollections\nOrderedDict\n]\x8c\x01a]\x86a\x85R}b.",
        b"(c__main__\nA\nK\x01o0(l(t(d2100.",
        b"B\x02\x00\x00\x00abC\x01a\x96\x01\x00\x00\x00\x00\x00\x00\x00a\x87r\x01\x00\x00\x00j\x01\x00\x00\x00.",
    ] {
        seeds.push(values.to_vec());
    }
    seeds
}
