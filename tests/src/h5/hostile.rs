//! Small HDF5 files with large claims, each with the rule that it breaks.

use super::{
    Message, Sheet, bytes_type, chunked, contiguous, continuation, deflate, hard_link, header, key,
    node, sealed, slot, soft_link, space, symbol_table, tree_chunks,
};

/// A hostile file.
#[derive(Clone, Debug)]
pub struct HostileFile {
    /// Name of the claim.
    pub name: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
    /// The rule that `verify` finds broken; `None` where nothing is wrong but that it is large.
    pub rule: Option<&'static str>,
}

/// No bound.
const NONE: u64 = u64::MAX;

/// All hostile files. Each has the dataset `good`, which can be read.
#[must_use]
pub fn hostile_files() -> Vec<HostileFile> {
    let mut all = Vec::new();
    let mut add = |name, rule, sheet: Sheet| {
        all.push(HostileFile { name, bytes: sheet.assemble(), rule });
    };
    grids(&mut add);
    headers(&mut add);
    cycles(&mut add);
    links(&mut add);
    shared(&mut add);
    attributes(&mut add);
    all
}

type Add<'a> = &'a mut dyn FnMut(&'static str, Option<&'static str>, Sheet);

/// A dataset of bytes, the second object.
fn dataset(shape: &[u64], max_shape: &[u64], layout: Message) -> Sheet {
    Sheet::new().object(b"bad", vec![bytes_type(), space(shape, max_shape), layout])
}

/// Shapes and chunks.
fn grids(add: Add<'_>) {
    let data = slot(1) + 1024;
    let single = chunked(&[1], 0, 1, &[], data);
    add("2^40 chunks of an index of one", Some("H5-M5"), dataset(&[1 << 40], &[], single.clone()));
    add("one chunk of an index of one", None, dataset(&[1], &[], single).part(data, &[7]));
    let implicit = |max: &[u64]| dataset(&[1 << 40, 1], max, chunked(&[1, 1], 0, 2, &[], data));
    add("chunks numbered along two axes without a bound", Some("H5-M5"), implicit(&[NONE, NONE]));
    add("chunks past the largest shape", Some("H5-M5"), implicit(&[1, 1]));
    add("2^40 chunks of no index", Some("H5-P1"), implicit(&[]));
    for (name, rule, count) in
        [("2^60 chunks, four of them listed", None, 4), ("2^60 chunks", Some("H5-I1"), 1 << 60)]
    {
        let array = chunked(&[1], 0, 3, &[10], data);
        let head = fixed_array(count, data + 64);
        let list = sealed([b"FADB\0\0", &data.to_le_bytes()[..], &[0xFF; 32]].concat());
        let sheet = dataset(&[1 << 60], &[], array).part(data, &head).part(data + 64, &list);
        add(name, rule, sheet);
    }
    let tree = |shape: &[u32], entries: &[(Vec<u8>, u64)]| {
        dataset(&[1 << 40], &[], tree_chunks(shape, data)).part(data, &node(1, 0, entries))
    };
    add("2^40 chunks, one of them stored", None, tree(&[1], &[(key(1, 9), data)]));
    add(
        "a chunk that is larger than the file",
        Some("H5-P1"),
        tree(&[1 << 31], &[(key(9, 0), data)]),
    );
    add("an offset between two chunks", Some("H5-I4"), tree(&[2], &[(key(2, 3), data)]));
    add("a chunk of no extent", Some("H5-M5"), tree(&[0], &[]));
    let wide = [1 << 40, 1 << 40];
    add("2^80 elements", Some("H5-M4"), dataset(&wide, &[], contiguous(data, 1)));
    add("2^40 elements of one byte", Some("H5-P2"), dataset(&[1 << 40], &[], contiguous(data, 1)));
    bombs(add, data);
}

/// Chunks that decode to more than they should, or than fits in memory.
fn bombs(add: Add<'_>, data: u64) {
    let masked = |extent: u64, stored: &[u8], mask: u8| {
        let place = [&(stored.len() as u64).to_le_bytes()[..], &[mask, 0, 0, 0]].concat();
        let layout = chunked(&[extent], 2, 1, &place, data);
        let messages = vec![bytes_type(), space(&[extent], &[]), layout, deflate()];
        Sheet::new().object(b"bad", messages).part(data, stored)
    };
    let filtered = |extent: u64, stored: &[u8]| masked(extent, stored, 0);
    add("a chunk without its filter", None, masked(8, &[1; 8], 1));
    add("a chunk without its filter that is too short", Some("H5-P5"), masked(9, &[1; 8], 1));
    // A stored block of deflate: 8 bytes, and their checksum.
    let eight = [&[0x78, 1, 1, 8, 0, 0xF7, 0xFF][..], &[5; 8], &[0, 188, 0, 41]].concat();
    add("a chunk of 8 bytes in 19", None, filtered(8, &eight));
    add("a chunk of 2^40 bytes in 19", Some("H5-P5"), filtered(1 << 40, &eight));
    add("a chunk of 512 MiB in 1 MiB", Some("H5-L9"), filtered(1 << 29, &vec![0; 1 << 20]));
    add("a chunk that decodes to more than its length", Some("H5-P5"), filtered(4, &eight));
    add("a chunk that decodes to less than its length", Some("H5-P5"), filtered(900, &eight));
}

/// The head of a fixed array of chunks without filters.
fn fixed_array(count: u64, block: u64) -> Vec<u8> {
    let numbers = [count, block].map(u64::to_le_bytes).concat();
    sealed([b"FAHD", &[0, 0, 8, 10][..], &numbers].concat())
}

/// Messages of headers, and types that are objects.
fn headers(add: Add<'_>) {
    let data = slot(1) + 1024;
    let messages = [bytes_type(), space(&[4], &[]), contiguous(data, 4)];
    let sheet = |more| Sheet::new().longer(b"bad", &messages, more).part(data, &[5; 4]);
    add("a header that counts as many messages as it has", None, sheet(0));
    add("a header that counts one message more than it has", Some("H5-O9"), sheet(1));
    // The length of the first message: the next one would begin within it.
    for (name, rule, len) in [
        ("a message of 16 bytes in a header of version 1", None, 16),
        ("a message of 12 bytes in a header of version 1", Some("H5-O8"), 12),
    ] {
        add(name, rule, sheet(0).part(slot(1) + 18, &[len]));
    }
    // A datatype message that another object has: version 3, in the header at an address.
    let shared = [&[3, 2][..], &slot(1).to_le_bytes()].concat();
    let wide = (3, vec![0x10, 0, 0, 0, 2, 0, 0, 0, 0, 0, 16, 0]);
    let typed = Sheet::new().object(b"kind", vec![wide]);
    add("a committed datatype of no dataset", Some("H5-G7"), typed.clone());
    let mut of_type = header(&[(3, shared), space(&[4], &[]), contiguous(data, 8)], 0);
    // The flag of its first message.
    of_type[16 + 4] = 2;
    let typed = typed.object(b"typed", Vec::new()).part(slot(2), &of_type).part(data, &[6; 8]);
    add("a committed datatype of a dataset", None, typed);
}

/// Structures that lead to themselves.
fn cycles(add: Add<'_>) {
    let data = slot(1) + 1024;
    let at = slot(1);
    let head = [bytes_type(), space(&[4], &[]), contiguous(data, 4)];
    let longer = |place: u64, len: u64| {
        let messages = [&head[..], &[continuation(place, len)]].concat();
        Sheet::new().longer(b"bad", &messages, 1)
    };
    let twice = header(&[continuation(data, 24)], 0).split_off(16);
    let sheet = longer(data, 24).part(data, &twice);
    add("a header that is continued at its continuation", Some("H5-O4"), sheet);
    add("a header that is continued for 2^50 bytes", Some("H5-L1"), longer(data, 1 << 50));
    add("a header that is continued behind the file", Some("H5-O1"), longer(1 << 50, 64));
    let loops = vec![hard_link(b"good", slot(0)), hard_link(b"own", at)];
    let sheet = Sheet::new().object(b"group", loops);
    add("groups that contain themselves", None, sheet);
    let sheet = Sheet::new().link(soft_link(b"a", b"b")).link(soft_link(b"b", b"/a"));
    add("soft links that lead to each other", Some("H5-G3"), sheet);
    let sheet = Sheet::new().link(soft_link(b"a", b"a/a/a/a"));
    add("a soft link that becomes longer", Some("H5-G3"), sheet);
    let tree = dataset(&[64], &[], tree_chunks(&[4], data));
    let own = tree.clone().part(data, &node(1, 1, &[(key(0, 0), data)]));
    add("a node that is its own child", Some("H5-T3"), own);
    let children = [(key(0, 0), data + 512), (key(0, 4), data + 512)];
    let leaf = node(1, 0, &[(key(4, 0), data + 1024)]);
    let twins = tree.part(data, &node(1, 1, &children)).part(data + 512, &leaf);
    add("a node with one child twice", Some("H5-T5"), twins.part(data + 1024, &[1; 4]));
}

/// Names, and what groups claim.
fn links(add: Add<'_>) {
    let data = slot(1) + 1024;
    let names: [&[u8]; 7] =
        [b"..", b"../../x", b"/etc/passwd", b"a\0b", b"\x1b[2J\x07", b"\xff\xfe", b""];
    let mut sheet = Sheet::new();
    for (number, name) in (1..).zip(names) {
        let data = slot(number) + 1024;
        let messages = vec![bytes_type(), space(&[4], &[]), contiguous(data, 4)];
        sheet = sheet.object(name, messages).part(data, &[1, 2, 3, 4]);
    }
    add("names that are paths, controls, no text and nothing", Some("H5-G2"), sheet);
    let old = Sheet::new().object(b"old", vec![symbol_table(data, data + 256)]);
    let heap = [b"HEAP\0\0\0\0", &numbers(&[64, 1, data + 512])[..]].concat();
    let tree = node(0, 0, &[(vec![0; 8], data + 1024)]);
    let old = old.part(data, &tree).part(data + 256, &heap).part(data + 512, &[b'n'; 64]);
    let table = |count: u16| [b"SNOD\x01\0", &count.to_le_bytes()[..]].concat();
    add("65,535 links in no bytes", Some("H5-G1"), old.clone().part(data + 1024, &table(65_535)));
    add(
        "a name without an end",
        Some("H5-H3"),
        old.part(data + 1024, &table(1)).part(data + 1088, &[0; 8]),
    );
}

fn numbers(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Bytes that many structures share, so that a small file is read as a large one.
fn shared(add: Add<'_>) {
    let data = slot(1) + 1024;
    // 900 links with one name of 60,000 bytes.
    let entry = numbers(&[0, 256, 0, 0, 0]);
    let mut table = [b"SNOD\x01\0", &900_u16.to_le_bytes()[..]].concat();
    (0..900).for_each(|_| table.extend(&entry));
    let [heap, name, at] = [data + 64, data + 256, data + 65_536];
    let tree = node(0, 0, &[(vec![0; 8], at)]);
    let heap_head = [b"HEAP\0\0\0\0", &numbers(&[60_001, 1, name])[..]].concat();
    let sheet = Sheet::new().object(b"old", vec![symbol_table(data, heap)]);
    let sheet = sheet.part(data, &tree).part(heap, &heap_head).part(name, &[b'n'; 60_000]);
    add("900 links with one name", Some("H5-G5"), sheet.part(at, &table));
    // Headers that go on in one block of 512 KiB.
    let mut block = Vec::new();
    for _ in 0..8 {
        block.extend(header(&[(0, vec![0; 65_000])], 0).split_off(16));
    }
    let mut sheet = Sheet::new().object(b"first", vec![]).part(slot(900), &block);
    for number in 0..600 {
        let at = slot(2) + 64 * number;
        let goes_on = header(&[continuation(slot(900), block.len() as u64)], 8);
        let name = format!("shared {number}");
        sheet = sheet.part(at, &goes_on).link(hard_link(name.as_bytes(), at));
    }
    add("600 headers that share 512 KiB", Some("H5-L7"), sheet);
}

/// Attributes whose values are read again and again.
fn attributes(add: Add<'_>) {
    let data = slot(1) + 2048;
    let good = [bytes_type(), space(&[4], &[]), contiguous(data, 4)];
    let object = |attributes: Vec<Message>| {
        let all = good.iter().cloned().chain(attributes).collect();
        Sheet::new().object(b"bad", all).part(data, &[1, 2, 3, 4])
    };
    // 100 members at the same byte, and 50 elements of it.
    let mut compound = vec![0x36, 100, 0, 0, 1, 0, 0, 0];
    for _ in 0..100 {
        compound.extend(b"m\0\0");
        compound.extend(bytes_type().1);
    }
    let many = |count: u64| attribute(b"many", &compound, &[count], &vec![1; 4_000]);
    add("members at the same byte", None, object(vec![many(50)]).part(slot(9), &[0]));
    add("2^62 elements of an attribute", Some("H5-M1"), object(vec![many(1 << 62)]));
    // A list of lists of lists, in a heap whose object refers to itself.
    let bytes = bytes_type().1;
    let list = |base: &[u8]| [&[0x19, 0, 0, 0, 16, 0, 0, 0][..], base].concat();
    let nested = (0..7).fold(bytes, |base, _| list(&base));
    let reference = |count: u32| {
        [&count.to_le_bytes()[..], &slot(3).to_le_bytes(), &1_u32.to_le_bytes()].concat()
    };
    let object_len = 16 * 64_u64;
    let mut heap = [b"GCOL\x01\0\0\0", &numbers(&[4096])[..], &[1, 0, 0, 0, 0, 0, 0, 0]].concat();
    heap.extend(numbers(&[object_len]));
    (0..64).for_each(|_| heap.extend(reference(64)));
    let value = attribute(b"nested", &nested, &[1], &reference(64));
    add(
        "a list that contains itself",
        None,
        object(vec![value]).part(slot(3), &heap).part(slot(4), &[0]),
    );
}

/// An attribute of version 3.
fn attribute(name: &[u8], datatype: &[u8], shape: &[u64], value: &[u8]) -> Message {
    let space = space(shape, &[]).1;
    let mut body = vec![3, 0];
    for len in [name.len() + 1, datatype.len(), space.len()] {
        body.extend(u16::try_from(len).unwrap().to_le_bytes());
    }
    body.push(0);
    (0x0c, [&body, name, &[0], datatype, &space, value].concat())
}
