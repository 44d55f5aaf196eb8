//! Failures of the layout that was asked for: chunks, shards, axes and labels.

use tet_convert::Error as E;

use crate::exit::{Exit, Failure};

/// Advice about a chunk shape that does not fit.
const ONE_EXTENT: &str = "give one extent for each axis, or --chunks auto";
/// How labels are given.
const LABELS: &str = "write --labels AXIS=a,b,c, AXIS=@ARRAY or AXIS=0..90/0.5; AXIS is a name of --dims, or a number";

/// The failure of a layout; `None` for other errors.
pub(super) fn failure(error: &E) -> Option<Failure> {
    let (code, hint) = match error {
        E::ChunkRank { .. } | E::ChunkZero { .. } => ("chunk-shape", ONE_EXTENT),
        E::NoChunkAxis { .. } => ("chunk-shape", "`tet info` prints all axes"),
        E::ShardShape { .. } => ("shard-shape", "--shards auto chooses shards for each dataset"),
        E::Rank { .. } => ("rank", ""),
        E::LabelCount { .. } | E::NoLabeledAxis { .. } | E::NoLabels { .. } => ("labels", LABELS),
        E::DimsRank { .. } => ("dims", "give one name for each axis"),
        _ => return None,
    };
    Some(Failure::new(Exit::from(error.kind()), code, error.to_string()).hint(hint))
}
