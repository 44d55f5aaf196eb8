//! `tet plot`: pixels of files, whatever the dtype, the chunks, the threads and the memory.

use std::fs;
use std::path::Path;

use tet_cli::Exit;
use tet_plot::Palette;

use crate::fixtures;

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

/// Where the values of a picture are, within the first frame: x, y, width, height.
fn area(colors: &[[u8; 3]], width: usize) -> [usize; 4] {
    const INK: [u8; 3] = [38; 3];
    let ink = |x: usize, y: usize| colors.get(y * width + x) == Some(&INK);
    let mut edges = (0..width).filter(|&x| (50..90).all(|y| ink(x, y)));
    let (left, right) = (edges.next().unwrap() + 1, edges.next().unwrap());
    let mut edges = (0..colors.len() / width).filter(|&y| (left..left + 40).all(|x| ink(x, y)));
    let (top, bottom) = (edges.next().unwrap() + 1, edges.next().unwrap());
    [left, top, right - left, bottom - top]
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
        let [left, top, across, down] = area(&colors, width);
        for nth in 0..6_u8 {
            let (row, column) = (usize::from(nth) / 3, usize::from(nth) % 3);
            let (x, y) = (left + (2 * column + 1) * across / 6, top + (2 * row + 1) * down / 4);
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
    let [left, top, area_width, area_height] = area(&colors, width);
    assert!(area_width > 200 && area_height > 300, "{area_width} {area_height}");
    let nan: Vec<usize> = (0..area_width * area_height)
        .filter(|at| {
            let (x, y) = (left + at % area_width, top + at / area_width);
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
    let [left, top, area_width, area_height] = area(&colors, width);
    // Blue half way up is the spike alone.
    let row = &colors[(top + area_height / 2) * width..][left + 1..left + area_width - 1];
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

/// An array of a Zarr folder: its axes and its attributes as JSON.
fn zarr(folder: &Path, name: &str, dims: &[(&str, usize)], attrs: &str, values: &[f64]) {
    let array = folder.join(name);
    fs::create_dir_all(&array).unwrap();
    fs::write(folder.join(".zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    let lens: Vec<String> = dims.iter().map(|(_, len)| len.to_string()).collect();
    let names: Vec<String> = dims.iter().map(|(dim, _)| format!("\"{dim}\"")).collect();
    let (shape, names) = (lens.join(", "), names.join(", "));
    let document = format!(
        r#"{{"zarr_format": 2, "shape": [{shape}], "chunks": [{shape}], "dtype": "<f8", "compressor": null, "fill_value": null, "order": "C", "filters": null}}"#
    );
    fs::write(array.join(".zarray"), document).unwrap();
    let attrs = if attrs.is_empty() { String::new() } else { format!(", {attrs}") };
    fs::write(array.join(".zattrs"), format!(r#"{{"_ARRAY_DIMENSIONS": [{names}]{attrs}}}"#))
        .unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    fs::write(array.join(vec!["0"; dims.len()].join(".")), bytes).unwrap();
}

/// The texts of an SVG document, in order.
fn svg_texts(folder: &Path, args: &[&str]) -> (Vec<String>, String) {
    let (exit, _, err) = fixtures::tet_in(folder, &[args, &["-o", "out.svg", "--force"]].concat());
    assert_eq!(exit, Exit::Done, "{args:?}: {err}");
    let svg = fs::read_to_string(folder.join("out.svg")).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    (texts.filter_map(|node| node.text().map(str::to_owned)).collect(), err)
}

#[allow(clippy::cast_precision_loss, reason = "few positions")]
fn numbers(count: usize, first: f64, step: f64) -> Vec<f64> {
    (0..count).map(|nth| first + step * nth as f64).collect()
}

#[test]
fn times_of_every_calendar_are_dates() {
    // Days from 2001-01-01T12:00 on: the first days of July and of the next year, as cftime counts them.
    let folder = tempfile::tempdir().unwrap();
    let calendars = [
        "standard",
        "gregorian",
        "proleptic_gregorian",
        "julian",
        "noleap",
        "365_day",
        "all_leap",
        "366_day",
        "360_day",
    ];
    for calendar in calendars {
        let name = format!("{calendar}.zarr");
        let at = folder.path().join(&name);
        let attrs = format!(
            r#""units": "days since 2001-01-01", "calendar": "{calendar}", "long_name": "valid time""#
        );
        zarr(&at, "time", &[("time", 730)], &attrs, &numbers(730, 0.5, 1.0));
        zarr(
            &at,
            "x",
            &[("time", 730)],
            r#""units": "K", "standard_name": "air_temperature""#,
            &numbers(730, 0.0, 1.0),
        );
        let (texts, err) = svg_texts(folder.path(), &["plot", &name, "x"]);
        assert!(
            ["2001-01", "2001-07", "2002-01"].iter().all(|it| texts.iter().any(|text| text == it)),
            "{calendar}: {texts:?}"
        );
        assert!(texts.contains(&"valid time".to_owned()), "{calendar}: {texts:?}");
        assert!(
            texts.contains(&"air_temperature (K)".to_owned()) && err.is_empty(),
            "{texts:?} {err}"
        );
        let (texts, _) =
            svg_texts(folder.path(), &["plot", &name, "x", "--mean", "--window", "time:30"]);
        assert!(
            texts.contains(&"2001-07".to_owned()) && !texts.iter().any(|text| text.contains("..")),
            "{texts:?}"
        );
        let (texts, _) = svg_texts(folder.path(), &["plot", &name, "x[time=2001-07]"]);
        assert!(
            texts.contains(&"07-11".to_owned()) && texts.contains(&"valid time (2001)".to_owned()),
            "{texts:?}"
        );
    }
}

#[test]
fn pressures_are_drawn_downwards() {
    let folder = tempfile::tempdir().unwrap();
    for (name, levels, attrs) in [
        ("falling", [100_000.0, 50_000.0, 10_000.0], r#""units": "Pa", "positive": "down""#),
        ("rising", [10_000.0, 50_000.0, 100_000.0], r#""units": "hPa", "axis": "Z""#),
        ("depth", [10_000.0, 50_000.0, 100_000.0], r#""units": "m", "positive": "down""#),
    ] {
        let file = format!("{name}.zarr");
        let at = folder.path().join(&file);
        zarr(&at, "level", &[("level", 3)], attrs, &levels);
        zarr(&at, "u", &[("level", 3), ("y", 2)], "", &levels.map(|level| [level; 2]).concat());
        zarr(&at, "v", &[("y", 2), ("level", 3)], "", &[levels, levels].concat());
        for (dataset, more, top) in
            [("u", &[][..], 0.0), ("v", &[], 0.0), ("u", &["--invert-y"], 1.0)]
        {
            let out = format!("{name}{dataset}{}.png", more.len());
            let args = [&["plot", &file, dataset, "-o", &out], more].concat();
            let (colors, width) = pixels(&run(folder.path(), &args));
            let [left, top_edge, _, height] = area(&colors, width);
            let color = |y: usize| colors[y * width + left + 50];
            let ends = [color(top_edge + 20), color(top_edge + height - 20)];
            let wanted = [top, 1.0 - top].map(|part| Palette::default().color(part));
            assert_eq!(ends, wanted, "{name} {dataset} {more:?}");
        }
    }
}

#[test]
fn curvilinear_grids_are_maps() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("ocean.zarr");
    // Latitudes fall with j, and values are latitudes.
    let cells = || (0..40).flat_map(|j| (0..80).map(move |i| (j, i)));
    let lat: Vec<f64> = cells().map(|(j, _)| 58.5 - 3.0 * f64::from(j)).collect();
    let lon: Vec<f64> =
        cells().map(|(j, i)| 2.0 + 4.5 * f64::from(i) + 0.02 * f64::from(j)).collect();
    let dims = [("j", 40), ("i", 80)];
    zarr(&at, "nav_lat", &dims, r#""units": "degrees_north", "long_name": "latitude""#, &lat);
    zarr(&at, "nav_lon", &dims, r#""units": "degrees_east", "long_name": "longitude""#, &lon);
    zarr(&at, "tos", &dims, r#""coordinates": "nav_lat nav_lon""#, &lat);
    let args = ["plot", "ocean.zarr", "tos", "--no-coastlines"];
    let (texts, err) = svg_texts(folder.path(), &args);
    assert!(err.contains("note: drawn at the nearest points of nav_lat and nav_lon"), "{err}");
    for wanted in ["latitude (degrees_north)", "longitude (degrees_east)", "30", "360"] {
        assert!(texts.iter().any(|text| text == wanted), "{wanted}: {texts:?}");
    }
    let (exit, _, _) = fixtures::tet_in(folder.path(), &[&args[..], &["-o", "o.png"]].concat());
    assert_eq!(exit, Exit::Done);
    let (colors, width) = pixels(&fs::read(folder.path().join("o.png")).unwrap());
    // 120 degrees of latitude and 360 of longitude.
    let [_, top, across, height] = area(&colors, width);
    assert!(height.abs_diff(across * 120 / 360) <= 3, "{across} {height}");
    for (part, wanted) in [(0.02, 1.0), (0.25, 0.75), (0.98, 0.0)] {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a pixel"
        )]
        let y = top + (part * height as f64) as usize;
        let [color, wanted] = [colors[y * width + 300], Palette::default().color(wanted)];
        let far = color.iter().zip(wanted).map(|(a, b)| a.abs_diff(b)).max().unwrap();
        assert!(far <= 12, "{part}: {color:?} {wanted:?}");
    }
    // Coordinates of each time, as of WRF: those of the time that is selected.
    let at = folder.path().join("wrf.zarr");
    let dims = [("t", 2), ("j", 40), ("i", 80)];
    let both = |cells: &[f64]| [cells, cells].concat();
    zarr(&at, "XLAT", &dims, r#""units": "degree_north""#, &both(&lat));
    zarr(&at, "XLONG", &dims, r#""units": "degree_east""#, &both(&lon));
    zarr(&at, "T2", &dims, "", &both(&lat));
    let (texts, err) = svg_texts(folder.path(), &["plot", "wrf.zarr", "T2[t=1]"]);
    assert!(texts.contains(&"XLAT (degree_north)".to_owned()), "{texts:?}");
    assert!(err.contains("nearest points of XLAT and XLONG"), "{err}");
    let (texts, err) = svg_texts(folder.path(), &["plot", "wrf.zarr", "T2", "--mean", "t"]);
    assert!(texts.contains(&"j".to_owned()) && err.is_empty(), "{texts:?} {err}");
    let (texts, err) = svg_texts(folder.path(), &["plot", "ocean.zarr", "tos", "--x", "i"]);
    assert!(texts.contains(&"j".to_owned()) && err.is_empty(), "{texts:?} {err}");
    let args = ["cat", "ocean.zarr", "tos", "--format", "heatmap"];
    let (_, out, err) = fixtures::tet_in(folder.path(), &args);
    assert!(out.contains("latitude") && err.contains("nearest points"), "{out} {err}");
}
