//! The way of a newcomer: open, select, read, reduce, ask, check, convert.

use std::path::{Path, PathBuf};

use tet::{Answered, DType, Integrity, Op};

/// A `.npy` file of float32, `(12, 4)`: 0.0, 1.0, ...
fn npy(folder: &Path) -> PathBuf {
    let dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (12, 4), }\n";
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend(u16::try_from(dict.len()).expect("a short dict").to_le_bytes());
    bytes.extend(dict.as_bytes());
    bytes.extend((0_u8..48).flat_map(|at| f32::from(at).to_le_bytes()));
    let path = folder.join("temp.npy");
    std::fs::write(&path, bytes).expect("a file");
    path
}

#[test]
fn a_file_is_opened_selected_read_and_reduced() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, kept) = (npy(folder.path()), folder.path().join("temp.tet"));
    assert!(tet::convert(&plain, &kept).unwrap().is_empty());
    for (path, integrity) in [(&plain, Integrity::Unprotected), (&kept, Integrity::Verified)] {
        let file = tet::open(path).unwrap();
        let names: Vec<String> = file.datasets().map(|it| it.name().to_owned()).collect();
        assert_eq!(names, ["temp"]);
        let temp = file.dataset("temp").unwrap();
        assert_eq!((temp.dtype(), temp.shape()), (Some(DType::Float32), vec![12, 4]));
        let rows = temp.select("2:4").unwrap();
        assert_eq!(rows.shape(), [2, 4]);
        let values = rows.read::<f32>().unwrap();
        assert_eq!(*values, [8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]);
        assert_eq!(values.integrity, integrity, "compressed chunks are compared as a whole");
        let mean = temp.all(Op::Mean).unwrap();
        assert_eq!(mean.values.get(0).and_then(|it| it.to_f64()), Some(23.5));
        assert_eq!(mean.integrity, integrity);
        let rows = temp.along(Op::Max, &["1"]).unwrap();
        assert_eq!((rows.shape.as_slice(), rows.values.len()), (&[12][..], 12));
        let error = temp.read::<f64>().unwrap_err();
        assert_eq!(error.to_string(), "dataset \"temp\" is of float32, and not of float64");
    }
    assert!(tet::verify(&kept).unwrap().is_ok());
}

#[test]
fn a_document_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let file = tet::open(npy(folder.path())).unwrap();
    let json = r#"{"dataset": "temp", "selection": "0:3", "mean": [1]}"#;
    let answered = file.query(json);
    let Ok(Answered::Reduced(means)) = answered else { panic!("{answered:?}") };
    let means: Vec<f64> = (0..3).filter_map(|at| means.values.get(at)?.to_f64()).collect();
    assert_eq!(means, [1.5, 5.5, 9.5]);
}

#[test]
fn a_file_that_is_not_there_is_told_with_its_path() {
    let error = tet::open("no-such-file.tet").unwrap_err();
    let (path, source) = error.system().expect("the system refused it");
    assert_eq!(path, Path::new("no-such-file.tet"));
    assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
}

/// Read values outlive the file, and go to other threads.
#[test]
fn datasets_are_owned() {
    fn is_shared<T: Send + Sync + 'static>(value: T) -> T {
        value
    }
    let folder = tempfile::tempdir().unwrap();
    let temp = is_shared(tet::open(npy(folder.path())).unwrap()).dataset("temp").unwrap();
    let read = std::thread::spawn(move || temp.read::<f32>().unwrap().len());
    assert_eq!(read.join().unwrap(), 48);
}
