//! How a picture is drawn, from the options.

use tet_plot::{Palette, PlotSize};

use crate::args::{PictureArgs, PlotKind};
use crate::exit::{Failure, Result};

/// How a picture is drawn.
#[derive(Debug)]
pub(super) struct Style {
    kind: PlotKind,
    pub(super) range: Option<(f64, f64)>,
    pub(super) palette: Palette,
    pub(super) is_diverging: bool,
    pub(super) size: PlotSize,
    pub(super) title: Option<String>,
    pub(super) bins: Option<usize>,
    pub(super) x: Option<String>,
    pub(super) y: Option<String>,
    /// Whether the lower end of a heatmap's y axis is above.
    pub(super) is_inverted: bool,
    pub(super) has_coastlines: bool,
    /// Options that only a heatmap has.
    of_heatmap: Option<&'static str>,
}

/// The most bins of a histogram.
const BINS_MAX: usize = 1 << 16;

impl Style {
    /// The style of these options.
    ///
    /// # Errors
    ///
    /// An option has an invalid value.
    pub(super) fn parse(args: &PictureArgs, range: Option<&str>) -> Result<Style> {
        let given = [
            ("--palette", args.palette.is_some()),
            ("--diverging", args.diverging),
            ("--x", args.x.is_some()),
            ("--y", args.y.is_some()),
            ("--invert-y", args.invert_y),
            ("--no-coastlines", args.no_coastlines),
        ];
        let palette = match &args.palette {
            Some(name) => Palette::named(name).ok_or_else(|| unknown_palette(name))?,
            None if args.diverging => Palette::diverging(),
            None => Palette::default(),
        };
        if let Some(bins) = args.bins.filter(|bins| !(1..=BINS_MAX).contains(bins)) {
            let text = format!("{bins} is not a number of bins from 1 to {BINS_MAX}");
            return Err(Failure::usage("flag", text));
        }
        Ok(Style {
            kind: args.kind,
            range: range.map(parse_range).transpose()?,
            palette,
            is_diverging: args.diverging,
            size: args.size.as_deref().map(parse_size).transpose()?.unwrap_or_default(),
            title: args.title.clone(),
            bins: args.bins,
            x: args.x.clone(),
            y: args.y.clone(),
            is_inverted: args.invert_y,
            has_coastlines: !args.no_coastlines,
            of_heatmap: given.iter().find(|(_, given)| *given).map(|(flag, _)| *flag),
        })
    }

    /// The style of a heatmap without options.
    pub(super) fn of_heatmap() -> Style {
        Style {
            kind: PlotKind::Heatmap,
            range: None,
            palette: Palette::default(),
            is_diverging: false,
            size: PlotSize::default(),
            title: None,
            bins: None,
            x: None,
            y: None,
            is_inverted: false,
            has_coastlines: true,
            of_heatmap: None,
        }
    }

    /// Whether an option says where an axis goes.
    pub(super) fn names_axis(&self) -> bool {
        self.x.is_some() || self.y.is_some()
    }

    /// Kind of plot for a result with as many axes.
    pub(super) fn kind_of(&self, axis_count: usize, has_bins: bool) -> PlotKind {
        match (self.kind, axis_count) {
            (PlotKind::Auto, _) if has_bins || self.bins.is_some() => PlotKind::Histogram,
            (PlotKind::Auto, 1) => PlotKind::Line,
            (PlotKind::Auto, _) => PlotKind::Heatmap,
            (kind, _) => kind,
        }
    }

    /// Refuses options that what is drawn has no use for.
    ///
    /// # Errors
    ///
    /// There is such an option.
    pub(super) fn check(&self, kind: PlotKind) -> Result<()> {
        let name = match kind {
            PlotKind::Line => "a line",
            PlotKind::Histogram => "a histogram",
            PlotKind::Heatmap | PlotKind::Auto => "a heatmap",
        };
        let bins = self.bins.map(|_| "--bins").filter(|_| kind != PlotKind::Histogram);
        let unused =
            self.of_heatmap.filter(|_| ![PlotKind::Heatmap, PlotKind::Auto].contains(&kind));
        match bins.or(unused) {
            None => Ok(()),
            Some(flag) => {
                let failure =
                    Failure::usage("no-effect", format!("{flag} has no effect on {name}"));
                let of = if flag == "--bins" { "histogram" } else { "heatmap" };
                Err(failure.hint(format!("omit it, or draw one with --kind {of}")))
            }
        }
    }
}

fn unknown_palette(name: &str) -> Failure {
    let names: Vec<&str> = Palette::names().collect();
    let failure = Failure::usage("no-such-palette", format!("no palette {name:?}"));
    failure.hint(format!("palettes: {}; each also with _r, reversed", names.join(", ")))
}

fn parse_range(text: &str) -> Result<(f64, f64)> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let ends = text.split_once(':').and_then(|(low, high)| number(low).zip(number(high)));
    ends.filter(|(low, high)| low < high).ok_or_else(|| {
        let text = format!("{text:?} is not a range MIN:MAX, which --range takes");
        Failure::usage("flag", text).hint("as in --range -40:40; MIN is less than MAX")
    })
}

fn parse_size(text: &str) -> Result<PlotSize> {
    let ends = text.split_once(['x', 'X']);
    let ends =
        ends.and_then(|(width, height)| width.trim().parse().ok().zip(height.trim().parse().ok()));
    ends.and_then(|(width, height)| PlotSize::new(width, height)).ok_or_else(|| {
        let ([width_min, height_min], [width_max, height_max]) = (PlotSize::MIN, PlotSize::MAX);
        let text = format!("{text:?} is not a size WxH in pixels, which --size takes");
        let hint = format!("from {width_min}x{height_min} to {width_max}x{height_max}, as 800x500");
        Failure::usage("flag", text).hint(hint)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_sizes_are_read() {
        assert_eq!(parse_range("-40:40").ok(), Some((-40.0, 40.0)));
        for wrong in ["", "1", "2:1", "1:1", "nan:1", "0:inf", "a:b"] {
            assert!(parse_range(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_size("800x500").ok(), PlotSize::new(800, 500));
        for wrong in ["", "800", "9x9", "99999x100", "-1x500", "800x500x3"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
