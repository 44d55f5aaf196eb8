//! zTensor and safetensors files, ours and those of the packages `ztensor` 0.1.4 and 2.1.2 and `safetensors`.
//!
//! ```text
//! ours           every way to write      -> ztensor reads it, value for value
//! theirs         random tensors          -> tet reads and verifies it, and writes the same bytes
//! version 2      random objects          -> tet reads and verifies them, value for value
//! safetensors    random files of theirs  -> .zt and .tet -> the same bytes
//!                ours                    -> safetensors reads it, value for value
//! ```
//!
//! `xtask/interop` has the side of Python, in an environment of its own under `target/interop`. The
//! package writes nothing but raw tensors: zstd frames of 0.1.x are compared byte for byte with the
//! samples under `tests/data/rivals/zt`, by the tests of `tet-ztensor`.

mod files;
mod second;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use tet_ztensor::{WriteOptions, Writer};

use super::{fresh, listed, scripts, sheet};
use crate::{python, run};

/// Both sides.
struct Sides {
    python: PathBuf,
    ours: PathBuf,
}

/// Checks both ways, with so many files of each package.
pub(super) fn run(seed: u64, count: u64) -> Result<()> {
    let folder = run::target().join("interop/ztensor");
    let python = python::environment(&folder.join("venv"), &scripts().join("requirements.txt"))?;
    let sides = Sides { python, ours: run::program()? };
    let numbers = [seed.to_string(), count.to_string()];
    let fresh = |name: &str| fresh(&folder.join(name));
    let ours = fresh("ours")?;
    let written = files::write(&ours)?;
    for path in &written {
        sides.verify(path)?;
    }
    let read = sides.python("zt_files.py", &["read"], &ours, &[])?;
    println!("{} files of ours, {} tensors read by ztensor", written.len(), read.trim());
    let theirs = fresh("theirs")?;
    sides.python("zt_files.py", &["write"], &theirs, &numbers)?;
    println!("{}", sides.theirs(&theirs)?);
    println!("{}", second::read(&sides, &folder, &numbers)?);
    let models = fresh("safetensors")?;
    sides.python("st_files.py", &["write"], &models, &numbers)?;
    println!("{}", sides.models(&models)?);
    let exported = fresh("exported")?;
    for path in &written {
        let out = exported.join(path.with_extension("safetensors").file_name().unwrap_or_default());
        sides.convert(path, &out, &[])?;
        for extension in ["json", "bin"] {
            std::fs::copy(path.with_extension(extension), out.with_extension(extension))?;
        }
    }
    let read = sides.python("st_files.py", &["read"], &exported, &[])?;
    println!("{} files of ours, {} tensors read by safetensors", written.len(), read.trim());
    Ok(())
}

impl Sides {
    fn python(
        &self,
        script: &str,
        words: &[&str],
        folder: &Path,
        numbers: &[String],
    ) -> Result<String> {
        super::script(&self.python, script, words, folder, numbers)
    }

    fn verify(&self, path: &Path) -> Result<()> {
        run::output(Command::new(&self.ours).args(["verify", "--deep"]).arg(path))?;
        Ok(())
    }

    fn convert(&self, from: &Path, to: &Path, flags: &[&str]) -> Result<()> {
        run::output(Command::new(&self.ours).arg("convert").arg(from).arg(to).args(flags))?;
        Ok(())
    }

    /// Files of `ztensor`: sound, read bit for bit, and written again as the same bytes.
    fn theirs(&self, folder: &Path) -> Result<String> {
        let (paths, mut count) = (listed(folder, "zt")?, 0);
        let dialect = ["--dialect", "0.1.x"];
        for path in &paths {
            let name = path.display();
            self.verify(path)?;
            let wanted = sheet::read(path)?;
            for (at, tensor) in wanted.iter().enumerate() {
                let raw = folder.join("v.raw");
                // A name is no position.
                let position = format!("#{at}");
                let is_name = wanted.iter().any(|it| it.declaration.name == position);
                let asked = if is_name { &tensor.declaration.name } else { &position };
                let mut cat = Command::new(&self.ours);
                cat.arg("cat").arg(path).arg(asked).arg("-o").arg(&raw).arg("--force");
                run::output(&mut cat)?;
                let is_same = std::fs::read(&raw)? == tensor.elements;
                ensure!(is_same, "{name}: {:?} is read otherwise", tensor.declaration.name);
                count += 1;
            }
            let mut writer = Writer::new(Vec::new(), &WriteOptions::v01x())?;
            for tensor in wanted {
                writer.whole(tensor.declaration, &tensor.elements)?;
            }
            let bytes = std::fs::read(path)?;
            ensure!(writer.finish()?.0 == bytes, "{name} is written otherwise");
            let again = folder.join("again.zt");
            self.convert(path, &again, &dialect)?;
            ensure!(std::fs::read(&again)? == bytes, "{name} is converted otherwise");
            std::fs::remove_file(again)?;
        }
        let files = paths.len();
        Ok(format!("{files} files of ztensor, {count} tensors read by tet, the same bytes again"))
    }

    /// Files of `safetensors`: through both containers, and the same bytes again.
    fn models(&self, folder: &Path) -> Result<String> {
        let (paths, mut refused) = (listed(folder, "safetensors")?, 0);
        for path in &paths {
            self.verify(path)?;
            let bytes = std::fs::read(path)?;
            // A dataset without a name is nothing that `.tet` has.
            let has_names = sheet::names(path)?.iter().all(|name| !name.is_empty());
            for between in ["zt", "tet"] {
                let middle = path.with_extension(between);
                let back = path.with_extension(format!("{between}.safetensors"));
                let converted = self.convert(path, &middle, &[]);
                if between == "tet" && !has_names {
                    let error = converted.err().context("a name of no bytes is taken")?;
                    let is_told = format!("{error:#}").contains("a name has 1 to 4096 bytes");
                    ensure!(is_told, "{error:#}");
                    refused += 1;
                    continue;
                }
                converted?;
                self.verify(&middle)?;
                self.convert(&middle, &back, &[])?;
                let is_same = std::fs::read(&back)? == bytes;
                ensure!(is_same, "{} is not {}", back.display(), path.display());
            }
        }
        ensure!(refused < paths.len(), "no file went through .tet");
        Ok(format!(
            "{} files of safetensors, the same bytes again through .zt, and through .tet but for \
             {refused} with a tensor without a name",
            paths.len()
        ))
    }
}
