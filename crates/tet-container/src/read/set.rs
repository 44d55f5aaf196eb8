//! Files that are parts of a set by their names: `model-00001-of-00002.safetensors`, and those of a folder of
//! `torch.distributed.checkpoint`.

use std::path::Path;

use tet_io::is_url;

use crate::Note;

/// Digits of the numbers in names.
const DIGIT_COUNT: usize = 5;

/// A name of a part of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartName<'a> {
    /// The name before the numbers.
    pub stem: &'a str,
    /// The number of the part, from 1.
    pub number: u32,
    /// The number of parts.
    pub count: u32,
    /// The name behind the numbers, without the dot.
    pub suffix: &'a str,
}

impl<'a> PartName<'a> {
    /// The parts of `STEM-00001-of-00002.SUFFIX`; `None` for other names.
    pub fn parse(name: &'a str) -> Option<PartName<'a>> {
        let (name, suffix) = name.rsplit_once('.')?;
        let (name, count) = name.rsplit_once("-of-")?;
        let (stem, number) = name.rsplit_once('-')?;
        let parse = |digits: &str| {
            let is_number =
                digits.len() == DIGIT_COUNT && digits.bytes().all(|byte| byte.is_ascii_digit());
            if is_number { digits.parse::<u32>().ok() } else { None }
        };
        let (number, count) = (parse(number)?, parse(count)?);
        let is_part = (1..=count).contains(&number) && 1 < count;
        is_part.then_some(PartName { stem, number, count, suffix })
    }

    /// The name of another part of the set.
    pub fn of_number(&self, number: u32) -> String {
        let PartName { stem, count, suffix, .. } = self;
        format!("{stem}-{number:05}-of-{count:05}.{suffix}")
    }
}

/// The note that a file is a part of a set, which its name shows.
pub fn part_note(path: &Path) -> Option<Note> {
    let name = path.file_name()?.to_str()?;
    if name.ends_with(".distcp") {
        return Some(Note::PartOf { number: 0, count: 0, whole: String::new() });
    }
    let part = PartName::parse(name)?;
    let index = format!("{}.{}.index.json", part.stem, part.suffix);
    let has_index = is_url(path) || path.with_file_name(&index).is_file();
    let whole = match part.suffix {
        "safetensors" | "bin" if has_index => index,
        _ => String::new(),
    };
    Some(Note::PartOf { number: part.number, count: part.count, whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_parts_have_two_numbers() {
        let part = PartName::parse("a-b-00002-of-00003.safetensors").unwrap();
        assert_eq!((part.stem, part.number, part.count), ("a-b", 2, 3));
        assert_eq!(part.of_number(3), "a-b-00003-of-00003.safetensors");
        for name in [
            "a.safetensors",
            "a-1-of-2.gguf",
            "a-00003-of-00002.gguf",
            "a-00001-of-00001.gguf",
            "a-00000-of-00002.gguf",
            "a-+0001-of-00002.gguf",
            "00001-of-00002.gguf",
            "a-00001-of-00002",
        ] {
            assert_eq!(PartName::parse(name), None, "{name}");
        }
    }
}
