//! The edits, of every container that has them.

use super::{Case, Kind};

/// An edit of a copy of an input, named by both.
const fn edit(
    name: &'static str,
    target: &'static str,
    input: &'static str,
    args: &'static [&'static str],
) -> Case {
    Case { name, args, target, kind: Kind::Edit(input) }
}

/// A file made of others, which takes the place of an input.
const fn made(
    name: &'static str,
    target: &'static str,
    old: &'static str,
    args: &'static [&'static str],
) -> Case {
    Case { name, args, target, kind: Kind::Output(old) }
}

/// `tet edit VERB` on each kind of file.
pub(super) const EDITS: &[Case] = &[
    edit("rename .tet", "t.tet", "climate.tet", &["edit", "rename", "OUT/t.tet", "temp=t2m"]),
    edit("rename .zt", "t.zt", "climate.zt", &["edit", "rename", "OUT/t.zt", "temp=t2m"]),
    edit("rename .tgm", "t.tgm", "climate.tgm", &["edit", "rename", "OUT/t.tgm", "temp=t2m"]),
    edit(
        "rename .safet",
        "t.safetensors",
        "climate.safetensors",
        &["edit", "rename", "OUT/t.safetensors", "temp=t2m"],
    ),
    edit("rename .npz", "t.npz", "climate.npz", &["edit", "rename", "OUT/t.npz", "temp=t2m"]),
    edit("drop .tet", "t.tet", "climate.tet", &["edit", "drop", "OUT/t.tet", "elevation"]),
    edit("drop .zt", "t.zt", "climate.zt", &["edit", "drop", "OUT/t.zt", "elevation"]),
    edit(
        "drop .safet",
        "t.safetensors",
        "climate.safetensors",
        &["edit", "drop", "OUT/t.safetensors", "elevation"],
    ),
    edit("drop .npz", "t.npz", "climate.npz", &["edit", "drop", "OUT/t.npz", "elevation"]),
    edit("set .tet", "t.tet", "climate.tet", &["edit", "set", "OUT/t.tet", "title=new"]),
    edit("set .zt", "t.zt", "climate.zt", &["edit", "set", "OUT/t.zt", "temp:units=K"]),
    edit("set .tgm", "t.tgm", "climate.tgm", &["edit", "set", "OUT/t.tgm", "temp:units=K"]),
    edit(
        "set .safet",
        "t.safetensors",
        "climate.safetensors",
        &["edit", "set", "OUT/t.safetensors", "title=new"],
    ),
    edit(
        "append .tet",
        "t.tet",
        "grow.tet",
        &["edit", "append", "OUT/t.tet", "IN/grow.tet", "--axis", "row"],
    ),
    edit(
        "append .tets",
        "t.tets",
        "grow.tets",
        &["edit", "append", "OUT/t.tets", "IN/grow.tet", "--axis", "row"],
    ),
    edit(
        "repack .tet",
        "t.tet",
        "climate.tet",
        &["edit", "repack", "OUT/t.tet", "--chunks", "temp=4,30,60", "--codec", "temp=raw"],
    ),
    edit(
        "append .zt",
        "t.zt",
        "climate.zt",
        &["edit", "append", "OUT/t.zt", "IN/climate.npz", "--axis", "0", "--dataset", "temp"],
    ),
    edit(
        "append .tgm",
        "t.tgm",
        "climate.tgm",
        &["edit", "append", "OUT/t.tgm", "IN/climate.npz", "--axis", "0", "--dataset", "temp"],
    ),
    edit(
        "append .safet",
        "t.safetensors",
        "climate.safetensors",
        &[
            "edit",
            "append",
            "OUT/t.safetensors",
            "IN/climate.npz",
            "--axis",
            "1",
            "--dataset",
            "temp",
        ],
    ),
    edit(
        "append .npz",
        "t.npz",
        "climate.npz",
        &["edit", "append", "OUT/t.npz", "IN/climate.npz", "--axis", "0", "--dataset", "temp"],
    ),
    edit(
        "append .npy",
        "t.npy",
        "small.npy",
        &["edit", "append", "OUT/t.npy", "IN/small.npy", "--axis", "0"],
    ),
    edit("repack .zt", "t.zt", "climate.zt", &["edit", "repack", "OUT/t.zt", "--codec", "zstd"]),
    edit(
        "repack .tgm",
        "t.tgm",
        "climate.tgm",
        &["edit", "repack", "OUT/t.tgm", "--filter", "temp=shuffle"],
    ),
    edit(
        "repack .npz",
        "t.npz",
        "climate.npz",
        &["edit", "repack", "OUT/t.npz", "--codec", "temp=raw"],
    ),
    made(
        "stack .tet",
        "t.tet",
        "climate.tet",
        &["convert", "IN/climate.npz", "IN/climate.zt", "OUT/t.tet", "--stack", "run"],
    ),
    made(
        "merge .tet",
        "t.tet",
        "climate.tet",
        &["convert", "--merge", "IN/climate.tet", "IN/grow.tet", "OUT/t.tet"],
    ),
    made(
        "merge .zt",
        "t.zt",
        "climate.zt",
        &["convert", "--merge", "IN/climate.tet", "IN/grow.tet", "OUT/t.zt"],
    ),
    made(
        "merge .tgm",
        "t.tgm",
        "climate.tgm",
        &["convert", "--merge", "IN/climate.tet", "IN/grow.tet", "OUT/t.tgm"],
    ),
    made(
        "merge .safet",
        "t.safetensors",
        "climate.safetensors",
        &["convert", "--merge", "IN/climate.tet", "IN/grow.tet", "OUT/t.safetensors"],
    ),
    made(
        "merge .npz",
        "t.npz",
        "climate.npz",
        &["convert", "--merge", "IN/climate.tet", "IN/grow.tet", "OUT/t.npz"],
    ),
    edit("compact .tet", "t.tet", "slack.tet", &["edit", "compact", "OUT/t.tet"]),
    edit("compact .zt", "t.zt", "slack.zt", &["edit", "compact", "OUT/t.zt"]),
];
