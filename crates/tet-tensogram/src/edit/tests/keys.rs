//! Targets of keys.

use super::*;
use crate::testing::{Draft as Parts, FrameDraft, map, tensor, uints};
use crate::{Error, Pairs};

/// Two messages: one of two objects, one of none.
pub(super) fn two() -> Vec<u8> {
    let mars = |param: &str, level: Value| {
        map(&[("mars", map(&[("param", text(param)), ("type", text("an")), ("level", level)]))])
    };
    let base = Value::Array(vec![mars("2t", Value::Int(850)), mars("10u", Value::Float(2.5))]);
    let extra = map(&[("run", text("a/b")), ("levels", uints(&[1, 2])), ("dotted.key", text("x"))]);
    let reserved = map(&[("uuid", text("u-1"))]);
    let metadata = map(&[("base", base), ("_extra_", extra), ("_reserved_", reserved)]);
    let one = Parts::new(&[FrameDraft::cbor(1, &metadata), tensor(b"abc"), tensor(b"defg")]);
    let metadata = map(&[("_extra_", map(&[("run", text("c"))]))]);
    [one.bytes(), Parts::new(&[FrameDraft::cbor(1, &metadata)]).bytes()].concat()
}

#[test]
fn keys_put_and_take() {
    let mut pairs: Pairs = vec![("a.b".to_owned(), Value::Int(1))];
    key("a.b").put(&mut pairs, Value::Int(3)).unwrap();
    key("c.d.e").put(&mut pairs, Value::Int(4)).unwrap();
    key("c.d.f").put(&mut pairs, Value::Int(5)).unwrap();
    key("g").put(&mut pairs, Value::Int(6)).unwrap();
    let found = |pairs: &Pairs, text: &str| key(text).find(pairs).cloned();
    assert_eq!(found(&pairs, "a.b"), Some(Value::Int(3)));
    assert_eq!(found(&pairs, "c.d.e"), Some(Value::Int(4)));
    assert_eq!(found(&pairs, "c.d.f"), Some(Value::Int(5)));
    assert_eq!(pairs.len(), 3);
    for (text, wanted) in [("c.d.e", true), ("c.d.e", false), ("a.b", true), ("a.x", false)] {
        assert_eq!(key(text).take(&mut pairs).unwrap(), wanted, "{text}");
    }
    assert_eq!(found(&pairs, "c.d.f"), Some(Value::Int(5)));
    assert_eq!(pairs.len(), 2);
}

/// Metadata of an object with a list, a text, a number, and a list of maps under a tag.
fn odd() -> Pairs {
    let steps = Value::Array(vec![map(&[("to", Value::Int(6)), ("a.b", Value::Null)])]);
    let pairs = [
        ("dims", Value::Array(vec![text("lat"), text("lon")])),
        ("units", text("K")),
        ("level", Value::Int(850)),
        ("steps", Value::Tag(7, Box::new(steps))),
    ];
    pairs.map(|(key, value)| (key.to_owned(), value)).to_vec()
}

#[test]
fn numbers_lead_into_lists_and_change_one_element() {
    for at in ["dims.0", "dims.1", "steps.0.to", "steps.0.a.b", "steps.0.new.0", "steps.0", "dims"]
    {
        let mut pairs = odd();
        key(at).put(&mut pairs, text("y")).unwrap();
        assert_eq!(key(at).find(&pairs), Some(&text("y")), "{at}");
        let others = ["dims.0", "dims.1", "units", "level", "steps.0.to", "steps.0.a.b"];
        for other in others.iter().filter(|other| !format!("{other}.").starts_with(at)) {
            assert_eq!(key(other).find(&pairs), key(other).find(&odd()), "{at} changes {other}");
        }
        assert_eq!(pairs.len(), odd().len());
    }
}

#[test]
fn keys_that_lead_nowhere_change_nothing() {
    let stuck = [
        ("dims.2", "dims", "element of this number"),
        ("dims.99999999999999999999999", "dims", "number"),
        ("dims.x", "dims", "numbers"),
        ("dims.-1", "dims", "numbers"),
        ("dims.+1", "dims", "numbers"),
        ("dims.0.x", "dims.0", "text"),
        ("units.x", "units", "text"),
        ("level.x.y", "level", "number"),
        ("steps.1.to", "steps", "element of this number"),
        ("steps.0.to.x", "steps.0.to", "number"),
    ];
    for (at, place, what) in stuck {
        let mut pairs = odd();
        let error = key(at).put(&mut pairs, Value::Int(1)).unwrap_err();
        let Error::Key { key: found, why } = key(at).stuck(error) else { panic!("{at}") };
        assert_eq!((&*found, why.contains(what)), (place, true), "{at}: {why}");
        assert_eq!(pairs, odd(), "{at}");
        assert!(!matches!(key(at).take(&mut pairs), Ok(true)), "{at}");
        assert_eq!(pairs, odd(), "{at}");
    }
    // Elements behind it would get other numbers.
    assert!(key("dims.0").take(&mut odd()).is_err() && key("steps.0").take(&mut odd()).is_err());
    assert!(key("steps.0.to").take(&mut odd()).unwrap());
}

#[test]
fn what_a_key_leads_to_is_named_as_it_was_asked_for() {
    let mut draft = Draft::from_message(&file(&two()), 0).unwrap();
    let mut refused = |at: &str| draft.set(Some(0), &key(at), &text("y")).unwrap_err().to_string();
    assert!(refused("extra.run.x").starts_with("key \"extra.run\": it leads to a text"));
    assert!(refused("extra.levels.2").starts_with("key \"extra.levels\": it leads to a list"));
    assert!(refused("mars.level.x").starts_with("key \"mars.level\": it leads to a number"));
}

#[test]
fn keys_of_others_are_not_set() {
    let refused = [
        "shape",
        "dtype",
        "encoding",
        "sp_bits_per_value",
        "szip_rsi",
        "_reserved_",
        "version",
        "_reserved_.uuid",
        "extra._reserved_.x",
        "mars._reserved_",
        "extra.version",
        "extra",
        "objects.0.x",
        "shape.0",
        "dtype.x",
        "sp_reference_value.0",
        "base.0.x",
        "object",
    ];
    for text in refused {
        assert!(matches!(key(text).check_settable(), Err(Error::Key { .. })), "{text}");
    }
    for text in ["mars.type", "name", "dims", "extra.shape", "a.dtype", "units"] {
        assert!(key(text).check_settable().is_ok(), "{text}");
    }
}

#[test]
fn other_messages_are_copied() {
    let before = two();
    let input = file(&before);
    let (mut image, mut draft) = (Image::for_file(&input), Draft::from_message(&input, 0).unwrap());
    draft.set(Some(1), &key("units"), &text("m/s")).unwrap();
    assert!(draft.unset(Some(0), &key("mars.type")).unwrap());
    image.push(&draft, Some(input.span(1).unwrap().start())).unwrap();
    image.copy(&input, 1).unwrap();
    let bytes = image.bytes();
    let after = file(&bytes);
    let metadata = after.metadata(0).unwrap();
    assert_eq!(metadata.base.len(), 2);
    let units: Vec<_> = metadata.base.iter().map(|it| key("units").find(it).cloned()).collect();
    assert_eq!(units, [None, Some(text("m/s"))]);
    let first = &metadata.base[0];
    assert!(key("mars.type").find(first).is_none() && key("mars.param").find(first).is_some());
    assert_eq!(metadata.reserved, input.metadata(0).unwrap().reserved);
    // The other message is as far from a multiple of 64 as it was.
    let (old, new) = (input.span(1).unwrap(), after.span(1).unwrap());
    let part = |bytes: &[u8], span: tet_format::Span| {
        bytes[span.start() as usize..span.end() as usize].to_vec()
    };
    assert!(part(&before, old) == part(&bytes, new));
    assert_eq!(old.start() % 64, new.start() % 64);
    draft.set(None, &key("run"), &text("d")).unwrap();
    assert_eq!(key("run").find(&draft.metadata.extra), Some(&text("d")));
}
