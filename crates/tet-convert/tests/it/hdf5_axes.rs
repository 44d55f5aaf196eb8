//! HDF5 datasets of which some axes have names: the others have their number, and all come over.

use std::fs;
use std::path::Path;

use crate::common::opened;
use tet_convert::{ConvertOptions, convert};
use tet_format::{DType, Span};
use tet_hdf5::write::{
    DraftAttribute, DraftDataset, DraftLayout, DraftType, DraftValue, Hdf5Draft, SUPERBLOCK_LEN,
};

/// `a` has a scale along its second axis, `b` a label of its first, `c` the names of two axes; `d` has no names.
fn input(path: &Path) {
    let (mut draft, mut end) = (Hdf5Draft::default(), SUPERBLOCK_LEN);
    let shapes: [(&str, &[u64]); 5] =
        [("x", &[4]), ("a", &[3, 4, 5]), ("b", &[3, 4]), ("c", &[3, 4]), ("d", &[3, 4])];
    for (name, shape) in shapes {
        let span = Span::new(end, 4 * shape.iter().product::<u64>()).expect("a short span");
        let layout = DraftLayout::Contiguous(Some(span));
        let kind = DraftType::Number(DType::Float32);
        draft.datasets.push(DraftDataset::new(name, kind, shape, layout));
        end = span.end();
    }
    let labels = |names: &[&str]| DraftAttribute {
        name: "DIMENSION_LABELS".to_owned(),
        value: DraftValue::Texts(names.iter().map(|&name| name.to_owned()).collect()),
    };
    draft.datasets[0].scale = Some("x".to_owned());
    draft.datasets[1].scales = vec![None, Some(0), None];
    draft.datasets[2].attributes.push(labels(&["time", ""]));
    draft.datasets[3].attributes.push(labels(&["dim_1", ""]));
    let rest = draft.encode(end).expect("it fits");
    let data = vec![0; usize::try_from(end - SUPERBLOCK_LEN).expect("it is short")];
    fs::write(path, [&rest.superblock[..], &data, &rest.metadata].concat()).expect("it is written");
}

#[test]
fn axes_without_names_have_their_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    input(&path("in.h5"));
    let names = |file: &str| {
        let file = opened(&path(file));
        ["x", "a", "b", "c", "d"]
            .map(|name| file.catalog.find(name).expect("it is there").dims.join(","))
    };
    let wanted = ["x", "dim_0,x,dim_2", "time,dim_1", "dim_1,dim_1_", ""];
    assert_eq!(names("in.h5"), wanted);
    for output in ["out.h5", "out.zarr", "out.tet"] {
        convert(&path("in.h5"), &path(output), &ConvertOptions::default()).expect("it works");
        assert_eq!(names(output), wanted, "{output}");
    }
    convert(&path("out.zarr"), &path("back.h5"), &ConvertOptions::default()).expect("it works");
    assert_eq!(names("back.h5"), wanted);
}
