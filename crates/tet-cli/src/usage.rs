//! Help, version and usage errors: what the parser of arguments reports, with suggestions that are right.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use tet_query::nearest_word;

use crate::args::ColorWhen;
use crate::elsewhere;
use crate::exit::{Exit, Failure};
use crate::help;
use crate::streams::{self, Streams};

/// The options that set how a usage error is printed; they are read before the arguments are parsed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Early {
    pub(crate) color: ColorWhen,
    pub(crate) json: bool,
}

impl Early {
    pub(crate) fn scan(args: &[OsString]) -> Early {
        let mut early = Early::default();
        let mut words = args.iter().skip(1).filter_map(|arg| arg.to_str()).peekable();
        while let Some(word) = words.next() {
            let value = words.peek().copied().unwrap_or_default();
            match word {
                "--" => break,
                "--json" | "--format=json" => early.json = true,
                "--format" if value == "json" => early.json = true,
                "--color=always" => early.color = ColorWhen::Always,
                "--color=never" => early.color = ColorWhen::Never,
                "--color" if value == "always" => early.color = ColorWhen::Always,
                "--color" if value == "never" => early.color = ColorWhen::Never,
                _ => {}
            }
        }
        early
    }
}

/// Prints help and version to standard output, and usage errors to standard error.
pub(crate) fn report(
    mut error: clap::Error,
    args: &[OsString],
    early: Early,
    streams: &mut Streams,
) -> Exit {
    let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let tip = suggest(&mut error, args);
    if !asked && early.json {
        let text = without_secrets(args, error.to_string());
        // Missing arguments are listed on lines of their own.
        let message = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
        let message = message.collect::<Vec<_>>().join(" ");
        let failure = Failure::usage("usage", message.trim_start_matches("error: "));
        let tip = tip.unwrap_or_else(|| "see `tet --help`".to_owned());
        return crate::report_failure(&failure.hint(tip), true, early.color, streams);
    }
    let env = &streams.env;
    let colored = if asked {
        env.out_depth(early.color) != streams::Depth::Plain
    } else {
        env.err_is_colored(early.color)
    };
    let is_help = error.kind() == ErrorKind::DisplayHelp;
    let short = if is_help { help::every_option(args) } else { None };
    let text = short.unwrap_or_else(|| error.render());
    let text = if colored { text.ansi().to_string() } else { text.to_string() };
    let text = without_secrets(args, text);
    let stream = if asked { streams.out.as_mut() } else { streams.err.as_mut() };
    let written = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    match written.map_err(Failure::from) {
        Err(failure) if asked => crate::report_failure(&failure, early.json, early.color, streams),
        _ if asked => Exit::Done,
        _ => Exit::Usage,
    }
}

/// A usage error without the secrets of the URLs among the arguments.
fn without_secrets(args: &[OsString], text: String) -> String {
    let urls = args.iter().filter(|arg| tet_io::is_url(arg.as_ref()));
    urls.fold(text, |text, url| {
        text.replace(&*url.to_string_lossy(), &tet_io::without_secrets(url.as_ref()))
    })
}

/// Replaces the suggestions of the parser, which compares the letters of names loosely and never has what an option of
/// another program is called here; returns the suggestion as one line.
fn suggest(error: &mut clap::Error, args: &[OsString]) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => {
            let name = text(ContextKind::InvalidArg)?;
            error.remove(ContextKind::SuggestedArg);
            error.remove(ContextKind::Suggested);
            let mut root = crate::command();
            root.build();
            let own = help::deepest(&mut root, args);
            // The parser's usage has the option that it suggests.
            error.insert(ContextKind::Usage, ContextValue::StyledStr(own.render_usage()));
            // `-o` of a command that writes no file.
            let name = name.strip_prefix("--").or_else(|| name.strip_prefix('-'))?;
            of_option(name.split('=').next()?, own)?
        }
        ErrorKind::InvalidSubcommand => {
            let name = text(ContextKind::InvalidSubcommand)?;
            let tip = match (name.as_str(), verb_of(args).as_str()) {
                ("add", "digest") => "tet edit repack FILE --digests".to_owned(),
                _ => of_command(&name)?,
            };
            error.remove(ContextKind::SuggestedSubcommand);
            error.remove(ContextKind::Suggested);
            tip
        }
        _ => return None,
    };
    let styled = clap::builder::StyledStr::from(tip.clone());
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![styled]));
    Some(tip)
}

/// The command that the arguments name, as `digest`.
fn verb_of(args: &[OsString]) -> String {
    help::deepest(&mut crate::command(), args).get_name().to_owned()
}

/// Options of other programs, with their names here.
const OPTIONS: [(&[&str], &str); 17] = [
    (&["tolerance", "tol", "eps", "epsilon"], "`tet diff` has --atol and --rtol"),
    (&["filter", "condition"], "--where TEST uses only elements that pass it"),
    (&["mask", "masked"], elsewhere::MASKS),
    (
        &[
            "monthly", "seasonal", "yearly", "annual", "resample", "groupby", "freq", "month",
            "season",
        ],
        elsewhere::MONTHS,
    ),
    (
        &["weights", "weight", "weighted", "weighted-mean", "area-weighted", "area-mean", "area"],
        elsewhere::WEIGHTS,
    ),
    (
        &["add", "sub", "subtract", "mul", "multiply", "div", "divide", "expr", "calc", "anomaly"],
        elsewhere::ARITHMETIC,
    ),
    (&["axis", "axes", "dim", "dims", "along"], "axes follow the operation: --mean time"),
    (&["slice", "sel", "isel", "region"], "--select SLICE, or brackets: 'temp[lat=40:60]'"),
    (&["variable", "var-name", "name"], "the dataset follows the file: tet COMMAND FILE DATASET"),
    (&["out", "outfile"], "-o OUT writes to a file"),
    (
        &["precision", "digits"],
        "values are printed with all their digits; --format json is for programs",
    ),
    (&["rename"], "`tet edit rename FILE OLD=NEW`"),
    (&["plan", "dry-run", "explain"], "`tet explain` shows what a query would read"),
    (
        &["reverse", "flip", "upside-down"],
        "`tet plot` has --invert-y; a list takes positions in any order: 'temp[lat#[2,1,0]]'",
    ),
    (
        &["log", "logx", "logy", "log-scale", "logscale"],
        "scales are linear; in Python: xarray.open_dataset(FILE, engine=\"tet\")[DATASET].plot(yscale=\"log\")",
    ),
    (
        &["projection", "proj", "crs"],
        "maps are of longitudes and latitudes; in Python cartopy draws others: xarray.open_dataset(FILE, engine=\"tet\")",
    ),
    (&["verbose", "v", "debug"], "`tet explain` shows what a query reads"),
];

/// Commands of other programs, with their names here.
const COMMANDS: [(&[&str], &str); 17] = [
    (&["show", "view", "print", "values", "get", "read"], "tet cat FILE DATASET"),
    (&["select", "slice", "subset", "extract", "crop"], "tet cat FILE 'DATASET[SLICE]' -o OUT"),
    (&["list", "header", "open", "ncdump", "h5ls", "schema"], "tet info FILE"),
    (&["tree"], "tet info FILE --tree"),
    (
        &["tgm", "keys", "grib_ls", "grib_get"],
        "tet info FILE --keys KEY,KEY lists, tet edit set FILE NAME:KEY=VALUE sets, tet convert --merge joins",
    ),
    (&["compare", "cmp"], "tet diff FILE OTHER"),
    (&["check", "validate", "test"], "tet verify FILE"),
    (&["draw", "map", "hist", "histogram"], "tet plot FILE DATASET"),
    (&["describe", "summary", "summarize", "statistics"], "tet stats FILE"),
    (&["concat", "join", "mergetime"], "tet convert FILE OTHER OUT --concat AXIS"),
    (&["merge", "zt"], "tet convert --merge FILE OTHER OUT"),
    (&["copy", "save", "write", "rechunk", "compress"], "tet convert FILE OUT"),
    (&["checksum", "sum-files", "hash", "sha256"], "tet digest create FILE"),
    (&["avg", "average", "reduce", "compute", "timmean"], "tet query FILE DATASET --mean AXES"),
    (&["monmean", "ymonmean", "seasmean", "yearmean", "resample", "groupby"], elsewhere::MONTHS),
    (&["fldmean", "weights"], elsewhere::WEIGHTS),
    (&["calc", "expr", "add", "sub", "mul", "div", "anomaly", "ncap2"], elsewhere::ARITHMETIC),
];

/// Verbs of `tet edit`, which are no commands of their own.
const EDITS: [&str; 7] = ["rename", "drop", "set", "append", "compact", "repack", "delete"];

/// Replacement of an option that a command does not have.
fn of_option(name: &str, own: &clap::Command) -> Option<String> {
    if own.get_name() == "diff" && ["o", "output", "out"].contains(&name) {
        return Some(format!(
            "differences are printed, and no file is made of them: {}",
            elsewhere::ARITHMETIC
        ));
    }
    if name == "salvage" {
        let convert = "`tet convert --salvage FILE OUT` writes all that can be read";
        match own.get_name() {
            "append" => return Some(format!("{convert}: append OUT then")),
            "refs" => {
                return Some(format!(
                    "references are to the stored bytes, and damaged ones stay what they are: {convert}"
                ));
            }
            _ => {}
        }
    }
    let root = crate::command();
    let has = |command: &clap::Command| {
        command.get_arguments().any(|it| {
            it.get_long() == Some(name)
                || it.get_all_aliases().is_some_and(|all| all.contains(&name))
        })
    };
    // An option of another command.
    let others = root.get_subcommands().filter(|it| has(it)).map(clap::Command::get_name);
    let others: Vec<String> = others.take(3).map(|other| format!("`tet {other}`")).collect();
    if !others.is_empty() {
        return Some(format!("--{name} is an option of {}", others.join(", ")));
    }
    if let Some((_, tip)) = OPTIONS.iter().find(|(names, _)| names.contains(&name)) {
        return Some((*tip).to_owned());
    }
    let all = own.get_arguments().filter(|it| !it.is_hide_set());
    let names: Vec<&str> = all.filter_map(|it| it.get_long()).collect();
    let near = nearest_word(name, names.iter().copied())?;
    Some(format!("a similar argument exists: '--{near}'"))
}

/// Replacement of an unknown command; `None` where the parser's suggestion stays.
fn of_command(name: &str) -> Option<String> {
    if tet_query::Op::ALL.iter().any(|op| crate::args::flag(*op) == name) {
        return Some(format!("tet query FILE DATASET --{name}"));
    }
    if EDITS.contains(&name) {
        let verb = if name == "delete" { "drop" } else { name };
        return Some(format!("tet edit {verb} FILE ..."));
    }
    let known = COMMANDS.iter().find(|(names, _)| names.contains(&name));
    known.map(|(_, tip)| (*tip).to_owned())
}
