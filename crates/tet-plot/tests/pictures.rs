//! Pictures as others see them: pixels of PNG files, SVG as XML, lines of text.

#![allow(clippy::unwrap_used, reason = "a test")]

use proptest::prelude::*;
use tet_plot::{
    BinFold, Depth, FieldFold, Palette, Picture, PlotAxis, PlotMedium, PlotSize, Scale, SeriesFold,
    Shown,
};
use tet_query::{Calendar, CoordinateRole, Moments};

/// The pixels of a PNG file, row by row.
struct Pixels {
    width: usize,
    height: usize,
    colors: Vec<[u8; 3]>,
}

impl Pixels {
    fn decode(png: &[u8]) -> Pixels {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        let channels = info.color_type.samples();
        let colors = bytes.chunks_exact(channels).map(|pixel| [pixel[0], pixel[1], pixel[2]]);
        let (width, height) = (info.width as usize, info.height as usize);
        Pixels { width, height, colors: colors.take(width * height).collect() }
    }

    fn at(&self, x: usize, y: usize) -> [u8; 3] {
        self.colors[y * self.width + x]
    }

    /// The colors in a part of the picture: x, y, width, height.
    fn part(&self, [x, y, width, height]: [usize; 4]) -> Vec<[u8; 3]> {
        (y..y + height)
            .flat_map(|y| (x..x + width).map(move |x| (x, y)))
            .map(|(x, y)| self.at(x, y))
            .collect()
    }
}

fn heatmap(rows: u64, columns: u64, values: &[f64], size: PlotSize) -> Shown {
    let (y, x) =
        (PlotAxis::positions("row", rows, 0, 1), PlotAxis::positions("column", columns, 0, 1));
    let mut fold = FieldFold::new([rows, columns], PlotMedium::File(size).room(&y, &x));
    fold.extend(values);
    Shown::Heatmap { field: fold.finish(), y, x }
}

/// The area of the values in a file: x, y, width, height. The first frame is around it.
fn area(picture: &Picture, size: PlotSize) -> [usize; 4] {
    let svg = picture.svg(size);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let corners = |path: &str| -> Option<Vec<f64>> {
        let numbers = path.strip_prefix('M')?.split(['L', ' ']);
        let numbers: Vec<f64> = numbers.map(str::parse).collect::<Result<_, _>>().ok()?;
        let is_frame = numbers.len() == 10 && numbers[..2] == numbers[8..];
        is_frame.then_some(numbers)
    };
    let frame = document.descendants().find_map(|node| corners(node.attribute("d")?)).unwrap();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole pixels")]
    let [left, top, right, bottom] =
        [frame[0] + 0.5, frame[1] + 0.5, frame[4] - 0.5, frame[5] - 0.5].map(|at| at as usize);
    [left, top, right - left, bottom - top]
}

fn labels(values: &[i32]) -> Vec<String> {
    values.iter().map(i32::to_string).collect()
}

#[test]
fn cells_have_the_colors_of_their_values() {
    let values = [0.0, 10.0, f64::NAN, 5.0, f64::INFINITY, f64::NEG_INFINITY];
    let size = PlotSize::default();
    let picture = Picture::new(heatmap(2, 3, &values, size));
    let pixels = Pixels::decode(&picture.png(size).unwrap());
    assert_eq!((pixels.width, pixels.height), (800, 500));
    let palette = Palette::default();
    let [left, top, width, height] = area(&picture, size);
    let wanted = [0.0, 1.0, -1.0, 0.5, 1.0, 0.0];
    for (nth, part) in wanted.into_iter().enumerate() {
        let color = if part < 0.0 { palette.nan() } else { palette.color(part) };
        let (row, column) = (nth / 3, nth % 3);
        let cell = [
            left + (column * width).div_ceil(3),
            top + row * height / 2,
            (column + 1) * width / 3 - (column * width).div_ceil(3),
            height / 2,
        ];
        assert!(pixels.part(cell).iter().all(|&found| found == color), "cell {nth}");
    }
    // The ground outside of the cells is white.
    assert_eq!([pixels.at(2, 2), pixels.at(left - 3, top + 3)], [[255; 3]; 2]);
}

#[test]
fn one_nan_among_sixteen_million_elements_is_seen() {
    let size = PlotSize::new(400, 400).unwrap();
    let (rows, columns, at) = (4000_usize, 4000_usize, (2713_usize, 1999_usize));
    let (y, x) = (PlotAxis::positions("y", 4000, 0, 1), PlotAxis::positions("x", 4000, 0, 1));
    let mut fold = FieldFold::new([4000, 4000], PlotMedium::File(size).room(&y, &x));
    for row in 0..rows {
        #[allow(clippy::cast_precision_loss, reason = "a small number")]
        let mut values: Vec<f64> =
            (0..columns).map(|column| ((row + column) % 100) as f64).collect();
        if row == at.0 {
            values[at.1] = f64::NAN;
        }
        fold.extend(&values);
    }
    let shown = Shown::Heatmap { field: fold.finish(), y, x };
    let picture = Picture::new(shown);
    let pixels = Pixels::decode(&picture.png(size).unwrap());
    let [left, top, width, height] = area(&picture, size);
    let nan = Palette::default().nan();
    let found: Vec<(usize, usize)> = (0..height)
        .flat_map(|y| (0..width).map(move |x| (x, y)))
        .filter(|&(x, y)| pixels.at(left + x, top + y) == nan)
        .collect();
    assert_eq!(found, [(at.1 * width / columns, at.0 * height / rows)]);
    for depth in [Depth::Plain, Depth::True] {
        let text = picture.terminal(80, depth);
        let mark = if depth == Depth::Plain { "?" } else { "2;160;160;160" };
        assert!(text.lines().rev().skip(2).any(|line| line.contains(mark)), "{text}");
        assert!(text.contains("1 NaN"), "{text}");
    }
}

#[test]
fn rising_numbers_go_up_and_right_and_other_labels_down() {
    let size = PlotSize::default();
    let (low, high) = (Palette::default().color(0.0), Palette::default().color(1.0));
    let rising = || PlotAxis::labeled("a", labels(&[1, 2]));
    let falling = || PlotAxis::labeled("a", labels(&[2, 1]));
    let words = || PlotAxis::labeled("a", ["p", "q"].map(String::from).to_vec());
    let corner = |picture: &Picture| {
        let [left, top, ..] = area(picture, size);
        Pixels::decode(&picture.png(size).unwrap()).at(left + 5, top + 5)
    };
    // Elements are 0 at the first position of the axis and 1 at the last.
    let along_y = |y: PlotAxis| {
        let mut fold = FieldFold::new([2, 1], [2, 1]);
        fold.extend(&[0.0, 1.0]);
        let shown =
            Shown::Heatmap { field: fold.finish(), y, x: PlotAxis::positions("b", 1, 0, 1) };
        corner(&Picture::new(shown))
    };
    let along_x = |x: PlotAxis| {
        let mut fold = FieldFold::new([1, 2], [1, 2]);
        fold.extend(&[0.0, 1.0]);
        let shown =
            Shown::Heatmap { field: fold.finish(), y: PlotAxis::positions("b", 1, 0, 1), x };
        corner(&Picture::new(shown))
    };
    assert_eq!([along_y(rising()), along_y(falling()), along_y(words())], [high, low, low]);
    let down = |axis: PlotAxis| axis.with_role(CoordinateRole::Downward);
    assert_eq!([along_y(down(rising())), along_y(down(falling()))], [low, high]);
    assert_eq!([along_y(rising().inverted()), along_y(words().inverted())], [low, high]);
    assert_eq!([along_x(rising()), along_x(falling()), along_x(words())], [low, high, low]);
}

#[test]
fn a_diverging_scale_has_its_palest_color_at_zero() {
    let size = PlotSize::default();
    let picture = Picture::new(heatmap(1, 3, &[-1.0, 0.0, 4.0], size));
    let picture = picture.around_zero().with_palette(Palette::diverging());
    let pixels = Pixels::decode(&picture.png(size).unwrap());
    let [left, top, width, _] = area(&picture, size);
    let third = |nth: usize| pixels.at(left + width * (2 * nth + 1) / 6, top + 50);
    let palette = Palette::diverging();
    assert_eq!(
        [third(0), third(1), third(2)],
        [palette.color(0.375), palette.color(0.5), palette.color(1.0)]
    );
}

#[test]
fn a_line_passes_its_points_and_marks_nan() {
    let size = PlotSize::default();
    let mut fold = SeriesFold::new(3, 600);
    fold.extend(&[0.0, f64::NAN, 10.0]);
    let series = fold.finish();
    let x = PlotAxis::positions("x", 3, 0, 1);
    let picture = Picture::new(Shown::Line { series, x }).with_scale(Scale::given(0.0, 20.0));
    let pixels = Pixels::decode(&picture.png(size).unwrap());
    let [left, top, width, height] = area(&picture, size);
    assert_eq!([top, height], [36, 412]);
    let blue = |x: usize, y: usize| {
        pixels.part([x - 2, y - 2, 5, 5]).iter().any(|[red, _, blue]| *red < 120 && *blue > 150)
    };
    assert!(blue(left + width / 6, 36 + 412 - 2) && blue(left + width * 5 / 6, 36 + 206));
    // No line crosses the gap, and a mark is below it.
    assert!(
        !pixels.part([left + width / 3, 37, width / 3, 400]).iter().any(|[red, _, _]| *red < 200)
    );
    assert_eq!(pixels.at(left + width / 2, 36 + 412 - 3), Palette::default().nan());
}

#[test]
fn bars_have_the_heights_of_their_counts() {
    let size = PlotSize::default();
    let mut fold = BinFold::new(0.0, 2.0, 2).unwrap();
    fold.extend(&[0.5, 1.5, 1.5]);
    let picture = Picture::new(Shown::Histogram(fold.finish()));
    let pixels = Pixels::decode(&picture.png(size).unwrap());
    let blue = |x: usize| (36..448).filter(|&y| pixels.at(x, y) == [31, 119, 180]).count();
    let (one, two) = (blue(200), blue(600));
    assert!(two.abs_diff(2 * one) <= 2 && one > 100, "{one} {two}");
}

/// A map of the earth whose values are zero.
fn earth(lat: [f64; 2], lon: [f64; 2]) -> Picture {
    let y = PlotAxis::evenly("lat", lat[0], lat[1], 30).with_role(CoordinateRole::Latitude);
    let x = PlotAxis::evenly("lon", lon[0], lon[1], 40).with_role(CoordinateRole::Longitude);
    let mut fold = FieldFold::new([30, 40], [30, 40]);
    fold.extend(&[0.0; 1200]);
    Picture::new(Shown::Heatmap { field: fold.finish(), y, x })
}

/// The width and the height of an SVG document, and the place and the size of its largest image.
fn sizes(svg: &str) -> [[u32; 2]; 3] {
    let document = roxmltree::Document::parse(svg).unwrap();
    let number =
        |node: roxmltree::Node<'_, '_>, key: &str| node.attribute(key).unwrap().parse().unwrap();
    let images = document.descendants().filter(|node| node.has_tag_name("image"));
    let image = images.max_by_key(|node| number(*node, "width")).unwrap();
    let pair = |node, keys: [&str; 2]| keys.map(|key| number(node, key));
    [
        pair(document.root_element(), ["width", "height"]),
        pair(image, ["x", "y"]),
        pair(image, ["width", "height"]),
    ]
}

#[test]
fn a_map_has_square_degrees() {
    let svg = |picture: &Picture, size| sizes(&picture.svg(size));
    let world = earth([-90.0, 90.0], [0.0, 360.0]);
    let [page, place, cells] = svg(&world, PlotSize::default());
    assert_eq!((cells[1], page[1], place[1]), (cells[0].div_ceil(2), 36 + cells[1] + 52, 36));
    assert_eq!(place[0] + cells[0], 800 - 112, "all of the width");
    let fixed = PlotSize::new(800, 500).unwrap();
    assert_eq!(svg(&world, fixed), [[800, 500], [place[0], 36 + (412 - cells[1]) / 2], cells]);
    let tall = earth([0.0, 60.0], [0.0, 30.0]);
    let [page, _, cells] = svg(&tall, PlotSize::default());
    assert_eq!((page, cells), ([800, 500], [206, 412]));
    let strip = earth([-1.0, 1.0], [0.0, 360.0]);
    assert_eq!(svg(&strip, PlotSize::default())[2][1], 103);
    let other = Picture::new(heatmap(30, 40, &[0.0; 1200], fixed));
    let [page, place, cells] = svg(&other, PlotSize::default());
    assert_eq!((page, place[0] + cells[0], cells[1]), ([800, 500], 800 - 112, 412));
}

/// The texts of a picture, and where each begins and ends; those that are read from below are left out.
fn texts_across(svg: &str) -> Vec<(String, [f64; 2])> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    let across = texts.filter(|node| node.attribute("transform").is_none());
    across
        .map(|node| {
            let x: f64 = node.attribute("x").unwrap().parse().unwrap();
            let text = node.text().unwrap_or_default().to_owned();
            // About the mean width of letters.
            let width = f64::from(u32::try_from(text.chars().count()).unwrap()) * 6.5;
            let start = match node.attribute("text-anchor") {
                Some("end") => x - width,
                Some("middle") => x - width / 2.0,
                _ => x,
            };
            (text, [start, start + width])
        })
        .collect()
}

#[test]
fn margins_fit_their_texts() {
    let size = PlotSize::default();
    let left = |names: &[&str]| {
        let count = names.len();
        let y = PlotAxis::labeled("station", names.iter().map(ToString::to_string).collect());
        let x = PlotAxis::positions("hour", 2, 0, 1);
        let mut fold = FieldFold::new([count as u64, 2], [count, 2]);
        fold.extend(&vec![0.0; 2 * count]);
        let picture = Picture::new(Shown::Heatmap { field: fold.finish(), y, x });
        (area(&picture, size)[0], picture.svg(size))
    };
    let long = "Zugspitze Schneefernerhaus environmental research station";
    let [(short, _), (wide, svg)] = [left(&["a", "b"]), left(&["Mauna Loa, Hawaii", long])];
    assert!(short < 60 && 100 < wide && wide < 300, "{short} {wide}");
    // All words are there, and within the picture.
    let texts = texts_across(&svg);
    for word in long.split(' ').chain(["Mauna", "Hawaii"]) {
        let is_in = |(text, [start, _]): &(String, [f64; 2])| text.contains(word) && *start > 0.0;
        assert!(texts.iter().any(is_in), "{word}: {texts:?}");
    }
    // A text that no margin holds is cut.
    let (left, svg) = left(&["x", &"long".repeat(100)]);
    assert!(left <= 300 && svg.contains("..."), "{left}");
}

#[test]
fn long_texts_below_an_axis_and_long_titles_have_several_lines() {
    let names = [
        "Hohenpeissenberg Meteorological Observatory",
        "Oslo",
        "Cape Grim Baseline Air Pollution Station",
        "Mauna Loa Observatory",
        "Zugspitze Schneefernerhaus",
    ];
    let mut fold = SeriesFold::new(5, 600);
    fold.extend(&[0.0, 1.0, 2.0, 3.0, 4.0]);
    let x = PlotAxis::labeled("station", names.map(String::from).to_vec());
    let title = "Mole fraction of carbon dioxide in dry air at the surface, mean of one-minute \
                 observations over all hours of the year that have one";
    let picture = Picture::new(Shown::Line { series: fold.finish(), x }).titled(title);
    let texts = texts_across(&picture.svg(PlotSize::default()));
    for word in names.iter().flat_map(|name| name.split(' ')).chain(title.split(' ')) {
        assert!(texts.iter().any(|(text, _)| text.contains(word)), "{word}: {texts:?}");
    }
    let is_in =
        |(text, ends): &(String, [f64; 2])| text.len() > 40 || 0.0 <= ends[0] && ends[1] <= 800.0;
    assert!(texts.iter().all(is_in), "{texts:?}");
    // A low picture has one line of them.
    let low = texts_across(&picture.svg(PlotSize::new(800, 200).unwrap()));
    assert!(low.len() < texts.len(), "{low:?}");
}

#[test]
fn a_map_has_coastlines() {
    let world = || earth([-90.0, 90.0], [-180.0, 180.0]);
    let strokes = |picture: Picture| picture.svg(PlotSize::default()).matches('M').count();
    let without = strokes(world().without_coastlines());
    assert!(strokes(world()) > without + 100);
    assert_eq!(strokes(earth([-45.0, -40.0], [-120.0, -115.0])), without, "the sea");
    // The western end of Africa, and the sea and the land on both sides of it.
    let pixels = Pixels::decode(&world().png(PlotSize::default()).unwrap());
    let plain = Pixels::decode(&world().without_coastlines().png(PlotSize::default()).unwrap());
    let differs = |lon: f64, lat: f64| {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a pixel"
        )]
        let [left, top, width, height] = area(&world(), PlotSize::default()).map(|at| at as f64);
        let across = left + (lon + 180.0) / 360.0 * width;
        let [x, y] = [across, top + (90.0 - lat) / 180.0 * height].map(|at| at as usize);
        let around = [x - 2, y - 2, 5, 5];
        pixels.part(around) != plain.part(around)
    };
    assert_eq!(
        [differs(-17.2, 14.7), differs(-28.0, 14.7), differs(-5.0, 14.7)],
        [true, false, false]
    );
}

#[test]
fn no_text_of_an_axis_hangs_out_of_the_picture() {
    let count = 500;
    let steps = [1e-3, 1.0, 60.0, 3600.0, 86_400.0, 30.0 * 86_400.0, 3650.0 * 86_400.0];
    for (nth, step) in steps.into_iter().enumerate() {
        for calendar in [Calendar::NoLeap, Calendar::Standard, Calendar::Days360] {
            let first =
                calendar.days(1999, 12, 28).unwrap() * 86_400_000_000_000 + 11 * 3_600_000_000_000;
            #[allow(clippy::cast_possible_truncation, reason = "nanoseconds of years")]
            let at = |position: u32| first + (f64::from(position) * step * 1e9) as i128;
            let nanoseconds: Vec<i128> = (0..count).map(at).collect();
            let labels = nanoseconds.iter().map(i128::to_string).collect();
            let x =
                PlotAxis::labeled("time", labels).with_moments(Moments { calendar, nanoseconds });
            let mut fold = SeriesFold::new(count.into(), 500);
            fold.extend(&vec![0.0; count as usize]);
            let picture = Picture::new(Shown::Line { series: fold.finish(), x });
            for (width, height) in [(240, 160), (500, 300), (800, 500), (1600, 400)] {
                let svg = picture.svg(PlotSize::new(width, height).unwrap());
                let texts = texts_below(&svg);
                assert!(!texts.is_empty() && texts.len() < 15, "{nth} {width}: {texts:?}");
                let mut end = 0.0;
                for (text, middle) in texts {
                    // No digit of the font is wider than this, nor a hyphen or a colon.
                    let half = f64::from(u32::try_from(text.len()).unwrap()) * 7.7 / 2.0;
                    assert!(
                        middle + half <= f64::from(width) + 4.0 && middle - half >= 0.0,
                        "{text} {middle} {width}"
                    );
                    assert!(end < middle, "{text} {width}");
                    end = middle;
                }
            }
        }
    }
}

/// The texts of the marks below a picture, from the left, and the middle of each.
fn texts_below(svg: &str) -> Vec<(String, f64)> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let place = |node: &roxmltree::Node<'_, '_>, key: &str| -> f64 {
        node.attribute(key).unwrap().parse().unwrap()
    };
    let texts = || {
        document.descendants().filter(|node| {
            node.has_tag_name("text")
                && node.attribute("text-anchor") == Some("middle")
                && node.attribute("transform").is_none()
        })
    };
    let name = texts().map(|node| place(&node, "y")).fold(0.0, f64::max);
    let below = texts().filter(|node| (place(node, "y") - (name - 18.6)).abs() < 1.0);
    below.map(|node| (node.text().unwrap().to_owned(), place(&node, "x"))).collect()
}

/// Pictures of every kind with names that would be markup, or act on a terminal.
fn hostile_pictures() -> Vec<Picture> {
    let name = "</text><script>alert('\"&amp;\u{0}\u{1b}[2J\u{202e}\u{ffff}]]>";
    let texts = || vec![name.to_owned(), "b".repeat(10_000)];
    let axis = || PlotAxis::labeled(name, texts()).with_unit(name);
    let mut field = FieldFold::new([2, 2], [2, 2]);
    field.extend(&[1.0, 2.0, f64::NAN, f64::INFINITY]);
    let mut series = SeriesFold::new(2, 2);
    series.extend(&[1.0, f64::NAN]);
    let mut bins = BinFold::new(0.0, 1.0, 3).unwrap();
    bins.extend(&[0.5, 7.0, f64::NAN]);
    let shown = [
        Shown::Heatmap { field: field.finish(), y: axis(), x: axis() },
        Shown::Line { series: series.finish(), x: axis() },
        Shown::Histogram(bins.finish()),
    ];
    let long = name.repeat(100);
    shown.map(|shown| Picture::new(shown).titled(&long).with_value(name, name)).to_vec()
}

#[test]
fn svg_is_well_formed_with_any_names_and_the_same_each_time() {
    for picture in hostile_pictures() {
        for (width, height) in [(240, 160), (800, 500)] {
            let size = PlotSize::new(width, height).unwrap();
            let svg = picture.svg(size);
            assert_eq!(svg, picture.svg(size));
            let document = roxmltree::Document::parse(&svg).unwrap();
            let names = document
                .descendants()
                .filter(|node| node.is_element())
                .map(|node| node.tag_name().name());
            let known = ["svg", "title", "rect", "path", "text", "image"];
            assert!(names.clone().all(|name| known.contains(&name)));
            assert!(
                document
                    .descendants()
                    .any(|node| node.text().is_some_and(|text| text.contains("<script>")))
            );
            assert!(picture.png(size).is_ok());
        }
    }
}

#[test]
fn an_image_in_svg_has_a_pixel_for_each_cell() {
    let size = PlotSize::default();
    let picture = Picture::new(heatmap(2, 3, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], size));
    let svg = picture.svg(size);
    let encoded = svg.split("base64,").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let bytes =
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, encoded).unwrap();
    let pixels = Pixels::decode(&bytes);
    assert_eq!((pixels.width, pixels.height), (3, 2));
    assert_eq!(picture.cells_png().unwrap().unwrap(), bytes);
    let wanted: Vec<[u8; 3]> =
        (0..6).map(|nth| Palette::default().color(f64::from(nth) / 5.0)).collect();
    assert_eq!(pixels.colors, wanted);
}

#[test]
fn text_is_no_wider_than_asked_and_moves_no_cursor() {
    for picture in hostile_pictures() {
        for width in [20, 40, 80, 200] {
            for depth in [Depth::Plain, Depth::Indexed, Depth::True] {
                let text = picture.terminal(width, depth);
                for line in without_colors(&text).lines() {
                    assert!(line.chars().count() <= width, "{width}: {line:?}");
                    assert!(!line.chars().any(char::is_control), "{line:?}");
                }
            }
        }
    }
}

/// The text without escape sequences of colors.
fn without_colors(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').map_or("", |(_, rest)| rest))
}

fn element() -> impl Strategy<Value = f64> {
    prop_oneof![
        9 => any::<f64>(),
        3 => -10.0..10.0_f64,
        1 => Just(f64::NAN),
        1 => Just(f64::MAX),
        1 => Just(5e-324),
        1 => Just(0.0),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_numbers_are_drawn(
        (rows, columns, values) in (1..8_u64, 1..70_u64).prop_flat_map(|(rows, columns)| {
            let count = usize::try_from(rows * columns).unwrap();
            (Just(rows), Just(columns), prop::collection::vec(element(), count))
        }),
        width in 20..120_usize,
    ) {
        let size = PlotSize::new(240, 160).unwrap();
        let mut series = SeriesFold::new(values.len() as u64, 50);
        series.extend(&values);
        let x = PlotAxis::positions("x", values.len() as u64, u64::MAX / 2, 3);
        let pictures = [
            Picture::new(heatmap(rows, columns, &values, size)),
            Picture::new(Shown::Line { series: series.finish(), x }),
        ];
        for picture in pictures {
            for picture in [picture.clone(), picture.around_zero()] {
                let is_narrow = |text: String| without_colors(&text).lines().all(|line| line.chars().count() <= width);
                prop_assert!(is_narrow(picture.terminal(width, Depth::Plain)));
                prop_assert!(is_narrow(picture.terminal(width, Depth::Indexed)));
                prop_assert!(picture.png(size).is_ok());
            }
        }
    }
}
