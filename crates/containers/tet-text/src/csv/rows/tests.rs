//! Rows do not depend on the pieces that they come in, and are those of another reader.

use super::*;

fn all(delimiter: Delimiter, text: &[u8], piece: usize) -> Vec<Vec<String>> {
    let (mut rows, mut found) = (Rows::new(delimiter), Vec::new());
    let mut pieces: Vec<&[u8]> = text.chunks(piece).collect();
    pieces.push(&[]);
    for mut piece in pieces {
        loop {
            let (read, step) = rows.take(piece);
            piece = &piece[read..];
            match step {
                Step::Row => {
                    let fields = rows.fields().map(|it| String::from_utf8_lossy(it).into());
                    found.push(fields.collect());
                    if piece.is_empty() {
                        break;
                    }
                }
                Step::More | Step::End => break,
                Step::TooLong | Step::TooMany | Step::Unclosed => panic!("{step:?}"),
            }
        }
    }
    found
}

#[test]
fn rows_do_not_depend_on_the_pieces() {
    let comma = Delimiter::Byte(b',');
    for (delimiter, text, wanted) in [
        (comma, "a,b\n1,2\n", vec![vec!["a", "b"], vec!["1", "2"]]),
        (comma, "a,b\r\n\r\n1,\"2,\"\"x\n\"", vec![vec!["a", "b"], vec!["1", "2,\"x\n"]]),
        (comma, ",\n,", vec![vec!["", ""], vec!["", ""]]),
        (comma, "", vec![]),
        (comma, "\n\n", vec![]),
        (Delimiter::Byte(b';'), "1;2,5\n", vec![vec!["1", "2,5"]]),
        (
            Delimiter::Blanks,
            "  1  2\t3 \r\n\n4 5 6",
            vec![vec!["1", "2", "3"], vec!["4", "5", "6"]],
        ),
        (Delimiter::Blanks, " \n ", vec![]),
    ] {
        for piece in 1..=text.len().max(1) {
            assert_eq!(all(delimiter, text.as_bytes(), piece), wanted, "{text:?} by {piece}");
        }
    }
}

#[test]
fn long_rows_grow_what_holds_them_up_to_a_bound() {
    let wide = vec!["7"; 5000].join(",");
    let long = format!("{},1\n", "x".repeat(100_000));
    let comma = Delimiter::Byte(b',');
    assert_eq!(all(comma, wide.as_bytes(), 777)[0].len(), 5000);
    assert_eq!(all(comma, long.as_bytes(), 777)[0][0].len(), 100_000);
    let wide = vec!["7"; 5000].join(" ");
    assert_eq!(all(Delimiter::Blanks, wide.as_bytes(), 777)[0].len(), 5000);
    for delimiter in [comma, Delimiter::Blanks] {
        let mut rows = Rows::new(delimiter);
        let step = (0..40).map(|_| rows.take(&[b'x'; 1 << 20]).1).find(|it| *it != Step::More);
        assert_eq!(step, Some(Step::TooLong));
    }
    let mut rows = Rows::new(comma);
    assert_eq!(rows.take(&[b','; 1 << 19]).1, Step::TooMany);
    let mut rows = Rows::new(Delimiter::Blanks);
    assert_eq!(rows.take(&b" 1".repeat(1 << 19)).1, Step::TooMany);
}

#[test]
fn fields_know_their_quotes_and_their_places() {
    let text = b"a,\"b\"\n\"\"\"\",x\"y\n";
    for piece in 1..=text.len() {
        let (mut rows, mut found) = (Rows::new(Delimiter::Byte(b',')), Vec::new());
        for mut piece in text.chunks(piece) {
            while !piece.is_empty() {
                let (read, step) = rows.take(piece);
                piece = &piece[read..];
                if step == Step::Row {
                    found.extend(rows.quotes().zip(rows.starts()));
                }
            }
        }
        assert_eq!(found, [(false, 0), (true, 2), (true, 6), (false, 11)], "by {piece}");
    }
}

#[test]
fn a_quote_that_is_not_closed_is_found() {
    for (text, wanted) in [
        (&b"1,\"a\n2,3\n"[..], (Step::Unclosed, 2)),
        (b"\"", (Step::Unclosed, 0)),
        (b"\"a\"\"", (Step::Unclosed, 0)),
        (b"\"a\"", (Step::Row, 0)),
        (b"a\"", (Step::Row, 0)),
    ] {
        let mut rows = Rows::new(Delimiter::Byte(b','));
        let step = [text, &[]].map(|piece| rows.take(piece).1)[1];
        assert_eq!((step, rows.field_at()), wanted, "{text:?}");
    }
}

/// Fields of another reader, which does not tell quotes apart.
fn fields_of_csv_core(delimiter: u8, text: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let mut reader = csv_core::ReaderBuilder::new().delimiter(delimiter).build();
    let (mut rows, mut rest) = (Vec::new(), text);
    loop {
        let (mut bytes, mut ends) = (vec![0; text.len() + 1], vec![0; text.len() + 2]);
        let (mut len, mut count) = (0, 0);
        loop {
            let (result, read, written, ended) =
                reader.read_record(rest, &mut bytes[len..], &mut ends[count..]);
            rest = &rest[read..];
            (len, count) = (len + written, count + ended);
            match result {
                csv_core::ReadRecordResult::Record => break,
                csv_core::ReadRecordResult::End => return rows,
                _ => {}
            }
        }
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let fields = starts.zip(&ends[..count]).map(|(start, end)| bytes[start..*end].to_vec());
        rows.push(fields.collect());
    }
}

proptest::proptest! {
    #[test]
    fn rows_are_those_of_another_reader(
        text in proptest::collection::vec(proptest::sample::select(b"a1,;\"\"\n\r ".to_vec()), 0..40),
        delimiter in proptest::sample::select(vec![b',', b';']),
    ) {
        let mut found = Vec::new();
        let is_read = for_rows(Delimiter::Byte(delimiter), &text, &mut |rows| {
            found.push(rows.fields().map(<[u8]>::to_vec).collect::<Vec<_>>());
            true
        });
        let mut wanted = fields_of_csv_core(delimiter, &text);
        if !is_read {
            // That reader closes the quote at the end of the text.
            wanted.pop();
        }
        proptest::prop_assert_eq!(found, wanted);
    }
}
