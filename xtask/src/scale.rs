//! How the time of each command grows with the number of datasets and attributes: ten times as many take ten times as long.
//!
//! A `.safetensors` file of N tensors and N keys of metadata becomes each format, and each command is run on the result.
//! Growth is judged, which a build without optimization shows; `--release` judges seconds too.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::run;

/// Growth of more than this, for ten times as many datasets, is quadratic: at first that part takes as long as the rest.
const GROWTH_MAX: f64 = 18.0;
/// Below these seconds of CPU, starting the program is most of it.
const SECONDS_MIN: f64 = 2.0;
/// An optimized command may take these seconds of CPU for all datasets, besides what the system needs to open each file of a
/// folder, read it and close it, or to make it.
const OPTIMIZED_MAX: f64 = 3.0;
/// A command that takes longer than these seconds of CPU is killed.
const SECONDS_MAX: u32 = 600;

/// The formats, by their suffixes; one that has no attributes of the file leaves them out.
const FORMATS: [&str; 14] = [
    "safetensors",
    "tet",
    "zt",
    "tgm",
    "npz",
    "nc",
    "nc3",
    "h5",
    "zarr",
    "zarr.zip",
    "tets",
    "pt",
    "gguf",
    "json",
];

/// The commands: `IN` is the file of a format, `OTHER` the `.safetensors` file, `OUT` an output without its suffix.
const COMMANDS: [(&str, &str); 21] = [
    ("info", "info IN"),
    ("cat", "cat IN layer.5.weight"),
    ("query", "query -q IN layer.5.weight --sum"),
    ("stats", "stats IN"),
    ("diff", "diff OTHER IN"),
    ("verify", "verify IN"),
    ("convert", "convert -q IN OUT.tet"),
    ("codec", "convert -q IN OUT.tet --codec *=raw"),
    ("chunks", "convert -q IN OUT.tet --chunks *=1"),
    ("dtype", "convert -q IN OUT.tet --dtype *=float64"),
    ("attr", "convert -q IN OUT.tet --attr units=K"),
    ("merge", "convert -q --merge IN OTHER OUT.tet"),
    ("stack", "convert -q --stack run IN IN OUT.tet"),
    ("concat", "convert -q --concat 0 IN IN OUT.tet"),
    ("append", "edit append IN IN --axis 0 -o OUT.FORMAT"),
    ("rename", "edit rename IN layer.*=block.* -o OUT.FORMAT"),
    ("drop", "edit drop IN layer.1* -o OUT.FORMAT"),
    ("set", "edit set IN *:units=K -o OUT.FORMAT"),
    ("repack", "edit repack IN --codec *=raw -o OUT.FORMAT"),
    ("refs", "refs IN -o OUT.json"),
    ("explain", "explain IN layer.5.weight --sum"),
];

#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many datasets and attributes; the smaller files have a tenth of them
    #[arg(long, default_value_t = 100_000)]
    count: usize,
    /// Formats, by their suffixes [default: all]
    #[arg(long, value_name = "SUFFIX")]
    format: Vec<String>,
    /// Commands [default: all]
    #[arg(long, value_name = "WORD")]
    only: Vec<String>,
    /// Build the command with optimization, and fail where it takes more than 3 seconds, and what the files of a folder take, too
    #[arg(long)]
    release: bool,
}

/// Prints a table of seconds, and fails where they grow faster than the number of datasets.
pub(crate) fn run(options: &Options) -> Result<()> {
    let program = if options.release { run::optimized()? } else { run::program()? };
    let folder = run::target().join("scale");
    fs::create_dir_all(&folder)?;
    let counts = [options.count / 10, options.count];
    let is_asked =
        |words: &[String], word: &str| words.is_empty() || words.iter().any(|it| it == word);
    let others = counts.map(|count| folder.join(format!("{count}.safetensors")));
    for (path, count) in others.iter().zip(counts) {
        fs::write(path, tensors(count))?;
    }
    println!("{:12}{:10}{:>12}{:>12}{:>9}", "format", "command", counts[0], counts[1], "growth");
    let mut faults = 0_usize;
    for format in FORMATS.iter().filter(|format| is_asked(&options.format, format)) {
        let inputs = others.each_ref().map(|path| path.with_extension(format));
        for ((other, input), count) in others.iter().zip(&inputs).zip(counts) {
            make(&program, format, count, [other, input])?;
        }
        let read = spent_on_files(&inputs[1], None)?;
        let written = spent_on_files(&inputs[1], Some(&folder.join("copy")))?;
        if read > 0.0 {
            println!("{format:12}{:10}{:12}{read:12.2}", "(read)", "");
            println!("{format:12}{:10}{:12}{written:12.2}", "(copied)", "");
        }
        for (word, line) in COMMANDS.iter().filter(|(word, _)| is_asked(&options.only, word)) {
            let mut seconds = [0.0; 2];
            for (at, second) in seconds.iter_mut().enumerate() {
                *second = spent(&program, line, format, [&inputs[at], &others[at]])?;
            }
            let growth = seconds[1] / seconds[0].max(0.01);
            let is_quadratic = SECONDS_MIN < seconds[1] && GROWTH_MAX < growth;
            let read_count = line.split(' ').filter(|word| *word == "IN").count();
            let files = read * read_count as f64;
            let files = if line.contains("OUT.FORMAT") { files + written } else { files };
            let seconds_max = OPTIMIZED_MAX + files;
            let is_slow = options.release && seconds_max < seconds[1];
            faults += usize::from(is_quadratic || is_slow);
            let mark = match () {
                () if is_quadratic => "  <-- quadratic",
                () if is_slow => "  <-- slow",
                () => "",
            };
            let [small, large] = seconds;
            println!("{format:12}{word:10}{small:12.2}{large:12.2}{growth:9.1}{mark}");
        }
    }
    fs::remove_dir_all(&folder)?;
    if faults != 0 {
        bail!(
            "{faults} commands take more than {GROWTH_MAX} times as long for ten times as many datasets, or too long"
        );
    }
    Ok(())
}

/// Makes the file of a format, of the `.safetensors` file unless the format is only read.
fn make(program: &Path, format: &str, count: usize, [other, input]: [&PathBuf; 2]) -> Result<()> {
    let mut command = Command::new(program);
    match format {
        "safetensors" => return Ok(()),
        "pt" => return Ok(fs::write(input, checkpoint(count)?)?),
        "gguf" => return Ok(fs::write(input, gguf(count))?),
        "json" => command.arg("refs").arg(other).arg("-f").arg("-o").arg(input),
        _ => command.args(["convert", "-q", "-f", "--no-sync"]).args([other, input]),
    };
    run::check(&mut command)
}

/// The bytes of a PyTorch file of before version 1.6, whose tensors are views of one storage.
pub(crate) fn checkpoint(count: usize) -> Result<Vec<u8>> {
    let number = |number: usize| -> Result<Vec<u8>> {
        Ok([&b"J"[..], &i32::try_from(number)?.to_le_bytes()].concat())
    };
    let text = |text: &str| -> Result<Vec<u8>> {
        let len = u32::try_from(text.len())?.to_le_bytes();
        Ok([&b"X"[..], &len, text.as_bytes()].concat())
    };
    let mut bytes = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.".to_vec();
    bytes.extend(b"\x80\x02M\xe9\x03.\x80\x02}.\x80\x02}(");
    for at in 0..count {
        bytes.extend(text(&format!("layer.{at}.weight"))?);
        bytes.extend(concat!("ctorch._util", "s\n_rebuild_tensor_v2\n((").as_bytes());
        bytes.extend(text("storage")?);
        bytes.extend(b"ctorch\nFloatStorage\n");
        bytes.extend([text("0")?, text("cpu")?, number(count)?].concat());
        bytes.extend(b"NtQ");
        bytes.extend(number(at)?);
        bytes.extend(b"K\x01\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtR");
    }
    bytes.extend(b"u.\x80\x02](");
    bytes.extend(text("0")?);
    bytes.extend(b"e.");
    bytes.extend((count as u64).to_le_bytes());
    bytes.resize(bytes.len() + 4 * count, 0);
    Ok(bytes)
}

/// The bytes of a GGUF file of this many tensors of one element, and as many keys.
pub(crate) fn gguf(count: usize) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let number = |number: u32| number.to_le_bytes();
    let counts = (count as u64).to_le_bytes();
    let mut bytes = [&b"GGUF"[..], &number(3), &counts, &counts].concat();
    for at in 0..count {
        bytes.extend([text(&format!("key{at}")), number(8).to_vec(), text("value")].concat());
    }
    for at in 0..count {
        bytes.extend(text(&format!("layer.{at}.weight")));
        bytes.extend([number(1), number(1), number(0), number(0)].concat());
        bytes.extend((32 * at as u64).to_le_bytes());
    }
    bytes.resize(bytes.len().next_multiple_of(32) + 32 * count, 0);
    bytes
}

/// The bytes of a `.safetensors` file of this many tensors of one element, and as many keys of metadata.
pub(crate) fn tensors(count: usize) -> Vec<u8> {
    let mut header = "{\"__metadata__\":{".to_owned();
    for at in 0..count {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(header, "{comma}\"key{at}\":\"value\"");
    }
    header.push('}');
    for at in 0..count {
        let (start, end) = (4 * at, 4 * at + 4);
        let _ = write!(
            header,
            ",\"layer.{at}.weight\":{{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[{start},{end}]}}"
        );
    }
    header.push('}');
    header.extend(std::iter::repeat_n(' ', header.len().wrapping_neg() % 8));
    let len = (header.len() as u64).to_le_bytes();
    // None is zero: a chunk of zeros is not stored in a Zarr folder.
    let values: Vec<u8> = (0..count).flat_map(|at| (at as f32 + 1.0).to_le_bytes()).collect();
    [&len[..], header.as_bytes(), &values].concat()
}

/// Seconds of CPU that a command takes, whether it succeeds or refuses the format.
fn spent(program: &Path, line: &str, format: &str, [input, other]: [&PathBuf; 2]) -> Result<f64> {
    let output = other.with_file_name("out");
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -t {SECONDS_MAX}; exec \"$@\""), "sh"]).arg(program);
    for word in line.split(' ') {
        let word = word.replace("FORMAT", format);
        match word.as_str() {
            "IN" => shell.arg(input),
            "OTHER" => shell.arg(other),
            word => shell.arg(word.replace("OUT", &output.to_string_lossy())),
        };
    }
    for suffix in ["tet", "json", format] {
        remove(&output.with_extension(suffix))?;
    }
    let before = cpu(CHILDREN_AT)?;
    shell.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    Ok(cpu(CHILDREN_AT)? - before)
}

/// Seconds of CPU that reading each file of a folder takes, and copying it where a folder for copies is given; none for a file.
fn spent_on_files(path: &Path, copies: Option<&Path>) -> Result<f64> {
    if !path.is_dir() {
        return Ok(0.0);
    }
    let before = cpu(SELF_AT)?;
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        if let Some(copies) = copies {
            fs::create_dir(copies.join(&folder))?;
        }
        for entry in fs::read_dir(path.join(&folder))? {
            let entry = entry?;
            let key = folder.join(entry.file_name());
            match (entry.file_type()?.is_dir(), copies) {
                (true, _) => folders.push(key),
                (false, Some(copies)) => fs::write(copies.join(key), fs::read(entry.path())?)?,
                (false, None) => drop(fs::read(entry.path())?),
            }
        }
    }
    let seconds = cpu(SELF_AT)? - before;
    copies.map_or(Ok(()), remove)?;
    Ok(seconds)
}

/// Removes a file or a folder that may be there.
fn remove(path: &Path) -> Result<()> {
    match path.is_dir() {
        true => Ok(fs::remove_dir_all(path)?),
        false if path.exists() => Ok(fs::remove_file(path)?),
        false => Ok(()),
    }
}

/// The fields of `/proc/self/stat` behind the name: the time of this process, and that of all children that ended.
const SELF_AT: usize = 11;
const CHILDREN_AT: usize = 13;

/// Seconds of CPU, of the user and of the system.
fn cpu(at: usize) -> Result<f64> {
    let text = fs::read_to_string("/proc/self/stat").context("this needs Linux")?;
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: Vec<f64> = fields.skip(at).take(2).filter_map(|it| it.parse().ok()).collect();
    Ok(ticks.iter().sum::<f64>() / 100.0)
}
