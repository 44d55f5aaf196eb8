//! `tet plot`: pixels of files, whatever the dtype, the chunks, the threads and the memory.

#![allow(clippy::unwrap_used, reason = "a test")]

mod fixtures;

use std::fs;
use std::path::Path;

use tet_cli::Exit;
use tet_plot::Palette;

/// The margin to the left.
const LEFT: usize = 104;
/// Where the cells of a heatmap are in a file of the default size.
const AREA: [usize; 4] = [LEFT, 36, 584, 412];

/// The bytes of an element.
type Encode = fn(u8) -> Vec<u8>;

/// The dtypes that have pictures: their names in safetensors, and an element for each of these numbers.
const DTYPES: [(&str, Encode); 13] = [
    ("F16", |n| {
        [0_u16, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500][usize::from(n)].to_le_bytes().to_vec()
    }),
    ("BF16", |n| f32::from(n).to_le_bytes()[2..].to_vec()),
    ("F32", |n| f32::from(n).to_le_bytes().to_vec()),
    ("F64", |n| f64::from(n).to_le_bytes().to_vec()),
    ("I8", |n| vec![n]),
    ("I16", |n| i16::from(n).to_le_bytes().to_vec()),
    ("I32", |n| i32::from(n).to_le_bytes().to_vec()),
    ("I64", |n| i64::from(n).to_le_bytes().to_vec()),
    ("U8", |n| vec![n]),
    ("U16", |n| u16::from(n).to_le_bytes().to_vec()),
    ("U32", |n| u32::from(n).to_le_bytes().to_vec()),
    ("U64", |n| u64::from(n).to_le_bytes().to_vec()),
    ("BOOL", |n| vec![u8::from(n > 2)]),
];

fn run(folder: &Path, args: &[&str]) -> Vec<u8> {
    let (exit, out, err) = fixtures::tet_in(folder, args);
    assert_eq!((exit, out.as_str()), (Exit::Done, ""), "{args:?}: {err}");
    let at = args.iter().position(|arg| *arg == "-o").map(|at| args[at + 1]).unwrap();
    fs::read(folder.join(at)).unwrap()
}

/// The colors of a PNG file, row by row, and how many are in a row.
fn pixels(bytes: &[u8]) -> (Vec<[u8; 3]>, usize) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut buffer).unwrap();
    let pixel = buffer.chunks_exact(info.color_type.samples());
    (pixel.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect(), info.width as usize)
}

fn npy(path: &Path, descr: &str, shape: &str, elements: &[u8]) {
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let text = format!("{dict:<117}\n");
    fs::write(path, [&b"\x93NUMPY\x01\x00\x76\x00"[..], text.as_bytes(), elements].concat())
        .unwrap();
}

#[test]
fn every_dtype_has_the_colors_of_its_values() {
    let folder = tempfile::tempdir().unwrap();
    let (mut header, mut buffer) = (Vec::new(), Vec::new());
    for (name, element) in DTYPES {
        let start = buffer.len();
        buffer.extend((0..6).flat_map(element));
        let end = buffer.len();
        header.push(format!(
            "\"{name}\":{{\"dtype\":\"{name}\",\"shape\":[2,3],\"data_offsets\":[{start},{end}]}}"
        ));
    }
    let header = format!("{{{}}}", header.join(","));
    let header = format!("{header:<len$}", len = header.len().next_multiple_of(8));
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &buffer].concat();
    fs::write(folder.path().join("all.safetensors"), file).unwrap();
    for (name, _) in DTYPES {
        let out = format!("{name}.png");
        let (colors, width) =
            pixels(&run(folder.path(), &["plot", "all.safetensors", name, "-o", &out]));
        for nth in 0..6_u8 {
            let (row, column) = (usize::from(nth) / 3, usize::from(nth) % 3);
            let (x, y) =
                (AREA[0] + (2 * column + 1) * AREA[2] / 6, AREA[1] + (2 * row + 1) * AREA[3] / 4);
            let part =
                if name == "BOOL" { f64::from(u8::from(nth > 2)) } else { f64::from(nth) / 5.0 };
            assert_eq!(colors[y * width + x], Palette::default().color(part), "{name} {nth}");
        }
    }
}

#[test]
fn complex_numbers_have_no_picture() {
    let folder = tempfile::tempdir().unwrap();
    npy(&folder.path().join("c.npy"), "<c8", "(2,)", &[0; 16]);
    let (exit, _, err) = fixtures::tet_in(folder.path(), &["plot", "c.npy", "c"]);
    assert_eq!(exit, Exit::Unsupported, "{err}");
    assert!(err.contains("complex64") && err.contains("tet cat"), "{err}");
}

#[test]
fn one_nan_of_sixteen_million_elements_is_seen_within_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (row, column) = (1234_usize, 3210_usize);
    let mut elements = vec![0_u8; 4000 * 4000 * 4];
    let at = (row * 4000 + column) * 4;
    elements[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    npy(&folder.path().join("big.npy"), "<f4", "(4000, 4000)", &elements);
    let convert = ["convert", "big.npy", "big.tet", "--chunks", "700,900"];
    assert_eq!(fixtures::tet_in(folder.path(), &convert).0, Exit::Done);
    let mut files = Vec::new();
    for (nth, more) in [&[][..], &["--memory", "16MiB"], &["--threads", "1"]].iter().enumerate() {
        for input in ["big.npy", "big.tet"] {
            let out = format!("{nth}-{input}.png");
            let args = ["plot", input, "#0", "--size", "400x400", "--title", "", "-o", &out];
            files.push(run(folder.path(), &[&args[..], more].concat()));
        }
    }
    assert!(files.iter().all(|file| *file == files[0]), "the same bytes in any way");
    let (colors, width) = pixels(&files[0]);
    let (area_width, area_height) = (400 - LEFT - 112, 400 - 36 - 52);
    let nan: Vec<usize> = (0..area_width * area_height)
        .filter(|at| {
            let (x, y) = (LEFT + at % area_width, 36 + at / area_width);
            colors[y * width + x] == Palette::default().nan()
        })
        .collect();
    assert_eq!(nan, [row * area_height / 4000 * area_width + column * area_width / 4000]);
}

#[test]
fn the_highest_of_a_long_line_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let mut elements = vec![0_u8; 3_000_000];
    elements[2_000_001] = 255;
    npy(&folder.path().join("long.npy"), "|u1", "(3000000,)", &elements);
    let out = run(folder.path(), &["plot", "long.npy", "--memory", "1MiB", "-o", "long.png"]);
    let (colors, width) = pixels(&out);
    let area_width = 800 - LEFT - 24;
    // Blue half way up is the spike alone.
    let row = &colors[(36 + 206) * width..][LEFT + 1..LEFT + area_width - 1];
    let blue: Vec<usize> = (0..row.len()).filter(|&at| row[at][0] < 250).map(|at| at + 1).collect();
    let wanted = area_width * 2 / 3;
    assert!(!blue.is_empty() && blue.iter().all(|at| at.abs_diff(wanted) <= 2), "{blue:?}");
}

#[test]
fn names_of_a_file_are_text_in_svg() {
    let folder = tempfile::tempdir().unwrap();
    fixtures::make(folder.path());
    let hostile = ["</text><script>", "a&b", "\"'"];
    for (nth, name) in hostile.iter().enumerate() {
        let (input, out) = (format!("{nth}.tet"), format!("{nth}.svg"));
        let args = ["convert", "columns.npy", &input, "--name", name, "--dims", "<y>,&x"];
        let (exit, _, err) = fixtures::tet_in(folder.path(), &args);
        assert_eq!(exit, Exit::Done, "{err}");
        let svg = String::from_utf8(run(folder.path(), &["plot", &input, "-o", &out])).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
        assert!(
            texts.contains(name) && texts.contains(&"<y>") && texts.contains(&"&x"),
            "{texts:?}"
        );
        assert_eq!(run(folder.path(), &["plot", &input, "-o", &out, "--force"]), svg.into_bytes());
    }
    for dataset in ["#0", "#1"] {
        let svg = run(folder.path(), &["plot", "hostile.tet", dataset, "-o", "h.svg", "--force"]);
        roxmltree::Document::parse(std::str::from_utf8(&svg).unwrap()).unwrap();
    }
}

#[test]
fn a_refused_picture_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    fixtures::make(folder.path());
    let commands: [&[&str]; 3] = [
        &["plot", "climate.tet", "temp", "-o", "x.png"],
        &["plot", "climate.tet", "temp[0:0]", "-o", "x.png"],
        &["plot", "corrupt.tet", "temp[0]", "-o", "x.png"],
    ];
    for args in commands {
        assert_ne!(fixtures::tet_in(folder.path(), args).0, Exit::Done);
        assert!(!folder.path().join("x.png").exists(), "{args:?}");
    }
}
