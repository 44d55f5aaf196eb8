//! Reads the query: a document from a path, an argument or standard input, or one built from options.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

use tet_document::{LEN_MAX, Query};

use super::flags;
use crate::args::QuestionArgs;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};

/// A query and its file.
#[derive(Debug)]
pub(crate) struct Question {
    /// The file, as the user wrote it.
    pub(crate) file: PathBuf,
    /// The query; its dataset is empty if none is named.
    pub(crate) query: Query,
}

/// Reads the query from the arguments.
///
/// # Errors
///
/// Arguments contradict each other or are missing, or the document is invalid.
pub(crate) fn parse(args: &QuestionArgs, context: &mut Context<'_>) -> Result<Question> {
    let (file, second) = file_and_second(args)?;
    let document = match (&args.doc, second) {
        (Some(path), None) => Some(read_file(path, context)?),
        (None, Some(second)) if args.ask.part.dataset.is_none() && is_document(second) => {
            Some(read_document(second, context)?)
        }
        (Some(_), Some(second)) => {
            let text = format!("--doc names the document, so {second:?} is one argument too many");
            return Err(Failure::usage("two-questions", text));
        }
        _ => None,
    };
    let query = match document {
        Some(document) => {
            let name = second.filter(|second| is_text(second) && !second.contains('\n'));
            let query = flags::refuse(&args.ask).and_then(|()| document.parse());
            query.map_err(|failure| match name {
                Some(name) => failure.note(format!(
                    "{name:?} is read as a document; if it is the name of a dataset, \
                     write --dataset {name:?}"
                )),
                None => failure,
            })?
        }
        None => flags::query(&args.ask, second)?,
    };
    Ok(Question { file, query })
}

fn file_and_second(args: &QuestionArgs) -> Result<(PathBuf, Option<&str>)> {
    match (&args.tensor, args.first.as_deref(), args.second.as_deref()) {
        (Some(_), Some(_), Some(second)) => {
            let text = format!("-t names the file, so {second:?} is one argument too many");
            Err(Failure::usage("two-files", text))
        }
        (Some(file), first, None) => Ok((file.clone(), first)),
        (None, Some(file), second) => Ok((PathBuf::from(file), second)),
        (_, None, _) => {
            let failure = Failure::usage("no-file", "no file to query");
            Err(failure.hint("write `tet query FILE DATASET --mean`; more in `tet query --help`"))
        }
    }
}

/// Whether an argument is a document or a dataset's name.
fn is_document(text: &str) -> bool {
    text == "-" || is_object(text) || is_text(text) || has_extension(text)
}

fn is_object(text: &str) -> bool {
    let inner = text.trim_start_matches('\u{feff}').trim_start().strip_prefix('{');
    // {q,k} is a pattern of names, of which one member of an object is none.
    inner.is_some_and(|inner| {
        let first = inner.split('}').next().unwrap_or_default();
        first.trim().is_empty() || first.contains([':', '"'])
    })
}

fn is_text(text: &str) -> bool {
    // A slice by name contains `=` too, but in brackets after the name of a dataset.
    let before_bracket = text.split('[').next().unwrap_or_default();
    text.contains('\n') || before_bracket.contains('=')
}

fn has_extension(text: &str) -> bool {
    let extension = Path::new(text).extension().and_then(OsStr::to_str).unwrap_or_default();
    extension.eq_ignore_ascii_case("json") || extension.eq_ignore_ascii_case("toml")
}

/// The text of a document, and its syntax if the suffix names one.
struct Document {
    text: String,
    syntax: Syntax,
    file: Option<PathBuf>,
}

#[derive(Clone, Copy)]
enum Syntax {
    Json,
    Toml,
    Either,
}

impl Document {
    fn parse(self) -> Result<Query> {
        let query = match self.syntax {
            Syntax::Json => Query::from_json(&self.text),
            Syntax::Toml => Query::from_toml(&self.text),
            Syntax::Either => Query::parse(&self.text),
        };
        query.map_err(|error| {
            let failure = Failure::from(error);
            match &self.file {
                Some(file) => failure.about(file),
                None => failure,
            }
        })
    }
}

fn read_document(asked: &str, context: &mut Context<'_>) -> Result<Document> {
    let inline = is_object(asked) || is_text(asked);
    if inline {
        return Ok(Document { text: asked.to_owned(), syntax: Syntax::Either, file: None });
    }
    if asked != "-" {
        return read_file(Path::new(asked), context);
    }
    let text = bounded(context.streams.input.as_mut(), Path::new("standard input"))?;
    Ok(Document { text, syntax: Syntax::Either, file: None })
}

fn read_file(path: &Path, context: &Context<'_>) -> Result<Document> {
    if path.as_os_str() == "-" {
        return Err(Failure::usage("document", "--doc takes a path").hint("write - instead"));
    }
    let at = context.env().at(path);
    // A pipe, such as `<(command)` in a shell, has no length.
    let is_stream = std::fs::metadata(&at).is_ok_and(|it| !it.is_file() && !it.is_dir());
    if is_stream {
        let text = bounded(&mut std::fs::File::open(&at)?, path)?;
        return Ok(Document { text, syntax: Syntax::Either, file: Some(path.to_path_buf()) });
    }
    let source = tet_io::Source::open(at)?;
    let wanted = usize::try_from(source.len()).unwrap_or(usize::MAX);
    if wanted > LEN_MAX {
        return Err(too_long(path).about(path));
    }
    let mut bytes = vec![0; wanted];
    source.read_exact_at(0, &mut bytes)?;
    let syntax = match path.extension().and_then(OsStr::to_str) {
        Some(extension) if extension.eq_ignore_ascii_case("json") => Syntax::Json,
        Some(extension) if extension.eq_ignore_ascii_case("toml") => Syntax::Toml,
        _ => Syntax::Either,
    };
    let text = utf8(bytes, path).map_err(|failure| failure.about(path))?;
    Ok(Document { text, syntax, file: Some(path.to_path_buf()) })
}

fn bounded(input: &mut dyn Read, path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(LEN_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let read = input.take(limit).read_to_end(&mut bytes);
    read.map_err(|error| {
        let text = format!("cannot read {}: {error}", tet_io::shown(path));
        Failure::new(Exit::Environment, "io", text)
    })?;
    if bytes.len() > LEN_MAX {
        return Err(too_long(path));
    }
    utf8(bytes, path)
}

fn too_long(path: &Path) -> Failure {
    let text = format!("the document {} is longer than {LEN_MAX} bytes", tet_io::shown(path));
    Failure::new(Exit::Limit, "document", text)
}

fn utf8(bytes: Vec<u8>, path: &Path) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let text = format!("the document {} is not UTF-8 at byte {at}", tet_io::shown(path));
        Failure::usage("document", text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_distinguished_from_names() {
        for document in [
            "-",
            "{\"dataset\": 1}",
            " {",
            "\u{feff}{",
            "dataset = \"a\"",
            "a\nb",
            "{}",
            "{dataset: 1}",
            "q.json",
            "q.TOML",
        ] {
            assert!(is_document(document), "{document:?}");
        }
        for name in ["temp", "{q,k}.w[0:3]", "#0", "a/b", "temp[time=0:3]", "json", ""] {
            assert!(!is_document(name), "{name:?}");
        }
    }
}
