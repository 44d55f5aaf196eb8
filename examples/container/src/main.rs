//! The command `tet` with one container more: PGM images.

mod pgm;

fn main() -> std::process::ExitCode {
    tet_convert::register(&pgm::Pgm);
    tet_cli::run(std::env::args_os(), &mut tet_cli::Streams::process()).into()
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsString, fs, path::Path};

    use tet_cli::{Exit, Streams};

    /// Runs a command in a folder and returns its exit code and all that it prints.
    fn tet(folder: &Path, line: &str) -> (Exit, String) {
        let (mut streams, out, err) = Streams::captured(b"");
        streams.env.base = folder.to_path_buf();
        let words = std::iter::once("tet").chain(line.split(' ')).map(OsString::from);
        (tet_cli::run(words, &mut streams), out.text() + &err.text())
    }

    #[test]
    fn images_are_read_verified_and_converted() {
        tet_convert::register(&crate::pgm::Pgm);
        let folder = tempfile::tempdir().unwrap();
        let (path, image) = (folder.path(), b"P5\n3 2\n255\n\x01\x02\x03\x04\x05\xff");
        fs::write(path.join("x.pgm"), image).unwrap();
        fs::write(path.join("cut.pgm"), &image[..image.len() - 1]).unwrap();
        for (line, exit, expected) in [
            ("info x.pgm", Exit::Done, "uint8  (2, 3)"),
            ("cat x.pgm x[1] --format csv", Exit::Done, "4\n5\n255\n"),
            ("verify x.pgm", Exit::Done, "x.pgm: ok"),
            ("convert x.pgm x.nc", Exit::Done, ""),
            ("convert x.nc y.pgm", Exit::Done, ""),
            ("info cut.pgm", Exit::Format, "PGM-2"),
            ("verify cut.pgm", Exit::No, "truncated: 16 of 17 bytes"),
        ] {
            let (found, text) = tet(path, line);
            assert!(found == exit && text.contains(expected), "{line}: {found:?}: {text}");
        }
        assert_eq!(fs::read(path.join("y.pgm")).unwrap(), image);
    }
}
