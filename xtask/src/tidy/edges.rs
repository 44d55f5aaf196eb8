//! Who may depend on whom, read from the manifests.

use std::path::Path;

use anyhow::{Context, Result};
use toml::Table;

use super::Findings;

/// Dependencies that one of our packages may have.
struct Edge {
    /// The package.
    name: &'static str,
    /// Packages of ours.
    ours: &'static [&'static str],
    /// Packages from outside.
    outside: &'static [&'static str],
}

/// The two tables of `ARCHITECTURE.md`. A new edge is a change to both, with its reason.
const EDGES: &[Edge] = &[
    Edge { name: "tet-format", ours: &[], outside: &[] },
    Edge { name: "tet-sparse", ours: &["tet-format"], outside: &[] },
    Edge { name: "tet-cbor", ours: &[], outside: &["half"] },
    Edge {
        name: "tet-codec",
        ours: &["tet-format"],
        outside: &[
            "bzip2",
            "crc-fast",
            "crc32c",
            "flate2",
            "lz4_flex",
            "lzma-rust2",
            "multiversion",
            "thiserror",
            "twox-hash",
            "zstd-safe",
        ],
    },
    Edge {
        name: "tet-io",
        ours: &["tet-format"],
        outside: &["libc", "memmap2", "rustix", "thiserror"],
    },
    Edge {
        name: "tet-net",
        ours: &["tet-format", "tet-io"],
        outside: &[
            "base64",
            "crc32c",
            "hmac",
            "instant-xml",
            "jiff",
            "percent-encoding",
            "ring",
            "rusty-s3",
            "serde_json",
            "sha2",
            "tempfile",
            "ureq",
            "url",
        ],
    },
    Edge { name: "tet-report", ours: &["tet-format", "tet-io"], outside: &["rayon"] },
    Edge {
        name: "tet-file",
        ours: &["tet-format", "tet-codec", "tet-io"],
        outside: &["serde", "serde_json", "tempfile", "thiserror"],
    },
    Edge {
        name: "tet-query",
        ours: &["tet-format", "tet-codec", "tet-io", "tet-file"],
        outside: &["bytemuck", "half", "multiversion", "rayon", "regex-lite", "thiserror"],
    },
    Edge {
        name: "tet-plot",
        ours: &["tet-format", "tet-query"],
        outside: &["base64", "colorous", "thiserror", "tiny-skia", "ttf-parser"],
    },
    Edge {
        name: "tet-document",
        ours: &["tet-format", "tet-file", "tet-io", "tet-query"],
        outside: &["thiserror", "toml"],
    },
    Edge {
        name: "tet-verify",
        ours: &["tet-format", "tet-codec", "tet-io", "tet-file", "tet-report"],
        outside: &["thiserror"],
    },
    Edge {
        name: "tet-container",
        ours: &[
            "tet-cbor",
            "tet-codec",
            "tet-file",
            "tet-format",
            "tet-io",
            "tet-query",
            "tet-sparse",
            "tet-verify",
        ],
        outside: &["crc-fast", "half", "serde_json", "sha2", "tempfile", "thiserror", "zip"],
    },
    Edge {
        name: "tet-zarr",
        ours: &[
            "tet-container",
            "tet-file",
            "tet-query",
            "tet-verify",
            "tet-codec",
            "tet-format",
            "tet-io",
        ],
        outside: &["half", "zip", "flate2", "serde_json", "thiserror"],
    },
    Edge {
        name: "tet-hdf5",
        ours: &[
            "tet-codec",
            "tet-container",
            "tet-file",
            "tet-query",
            "tet-verify",
            "tet-format",
            "tet-io",
        ],
        outside: &["serde_json", "tempfile", "thiserror"],
    },
    Edge {
        name: "tet-tensogram",
        ours: &[
            "tet-cbor",
            "tet-codec",
            "tet-container",
            "tet-file",
            "tet-format",
            "tet-io",
            "tet-query",
            "tet-report",
            "tet-verify",
        ],
        outside: &[
            "half",
            "lz4_flex",
            "multiversion",
            "rayon",
            "roaring",
            "serde_json",
            "tempfile",
            "thiserror",
        ],
    },
    Edge {
        name: "tet-ztensor",
        ours: &[
            "tet-cbor",
            "tet-codec",
            "tet-container",
            "tet-file",
            "tet-format",
            "tet-io",
            "tet-query",
            "tet-report",
            "tet-sparse",
            "tet-verify",
        ],
        outside: &["rayon", "sha2", "thiserror"],
    },
    Edge {
        name: "tet-fits",
        ours: &["tet-codec", "tet-container", "tet-format", "tet-io", "tet-query", "tet-verify"],
        outside: &[],
    },
    Edge {
        name: "tet-gguf",
        ours: &["tet-container", "tet-format", "tet-io", "tet-query", "tet-verify"],
        outside: &["serde_json"],
    },
    Edge {
        name: "tet-netcdf",
        ours: &[
            "tet-codec",
            "tet-container",
            "tet-file",
            "tet-format",
            "tet-io",
            "tet-query",
            "tet-report",
            "tet-verify",
        ],
        outside: &[],
    },
    Edge {
        name: "tet-safetensors",
        ours: &["tet-container", "tet-format", "tet-io", "tet-query", "tet-verify"],
        outside: &["serde_json", "tempfile"],
    },
    Edge {
        name: "tet-numpy",
        ours: &[
            "tet-codec",
            "tet-container",
            "tet-file",
            "tet-format",
            "tet-io",
            "tet-query",
            "tet-verify",
        ],
        outside: &["crc-fast", "zip"],
    },
    Edge {
        name: "tet-text",
        ours: &["tet-codec", "tet-container", "tet-format", "tet-io", "tet-query", "tet-verify"],
        outside: &["serde_json"],
    },
    Edge {
        name: "tet-torch",
        ours: &[
            "tet-codec",
            "tet-container",
            "tet-format",
            "tet-io",
            "tet-numpy",
            "tet-query",
            "tet-safetensors",
            "tet-verify",
        ],
        outside: &["serde_json", "zip"],
    },
    Edge {
        name: "tet-convert",
        ours: &[
            "tet-container",
            "tet-fits",
            "tet-gguf",
            "tet-netcdf",
            "tet-numpy",
            "tet-safetensors",
            "tet-torch",
            "tet-text",
            "tet-codec",
            "tet-file",
            "tet-format",
            "tet-hdf5",
            "tet-io",
            "tet-query",
            "tet-report",
            "tet-sparse",
            "tet-tensogram",
            "tet-verify",
            "tet-zarr",
            "tet-ztensor",
        ],
        outside: &["half", "serde_json", "tempfile", "zip"],
    },
    Edge {
        name: "tet",
        ours: &[
            "tet-format",
            "tet-io",
            "tet-net",
            "tet-query",
            "tet-document",
            "tet-verify",
            "tet-convert",
        ],
        outside: &["thiserror"],
    },
    Edge {
        name: "tet-python",
        ours: &[
            "tet",
            "tet-format",
            "tet-io",
            "tet-net",
            "tet-file",
            "tet-report",
            "tet-query",
            "tet-plot",
            "tet-document",
            "tet-verify",
            "tet-convert",
        ],
        outside: &["pyo3"],
    },
    Edge {
        name: "tet-cli",
        ours: &[
            "tet-format",
            "tet-codec",
            "tet-io",
            "tet-net",
            "tet-file",
            "tet-ztensor",
            "tet-tensogram",
            "tet-query",
            "tet-plot",
            "tet-document",
            "tet-report",
            "tet-verify",
            "tet-convert",
        ],
        outside: &[
            "anstream",
            "anstyle",
            "anyhow",
            "clap",
            "clap_complete",
            "clap_mangen",
            "comfy-table",
            "half",
            "indicatif",
            "mimalloc",
            "rustix",
            "serde",
            "serde_json",
            "signal-hook",
            "tempfile",
            "thiserror",
            "zip",
        ],
    },
];

/// Packages that stand beside the layers: they may use all of them, and nothing may use these.
const BESIDE: [&str; 3] = ["tet-bench", "tet-tests", "xtask"];

/// Compares every manifest with the tables.
pub(super) fn check(root: &Path, findings: &mut Findings) -> Result<()> {
    let mut manifests = vec![root.join("tests/Cargo.toml"), root.join("xtask/Cargo.toml")];
    for entry in std::fs::read_dir(root.join("crates"))? {
        manifests.push(entry?.path().join("Cargo.toml"));
    }
    manifests.sort();
    for path in manifests.iter().filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(path)?;
        let manifest: Table =
            text.parse().with_context(|| format!("{} does not parse", path.display()))?;
        check_manifest(&manifest, findings);
    }
    Ok(())
}

fn check_manifest(manifest: &Table, findings: &mut Findings) {
    let name = manifest
        .get("package")
        .and_then(|package| package.get("name"))
        .and_then(toml::Value::as_str)
        .unwrap_or("?");
    let edge = EDGES.iter().find(|edge| edge.name == name);
    if edge.is_none() && !BESIDE.contains(&name) {
        findings
            .fault(name, "stands in no layer; add it to the tables of ARCHITECTURE.md and tidy");
    }
    for (kind, dependency) in dependencies(manifest) {
        let ours = dependency.starts_with("tet-") || ["tet", "xtask"].contains(&&*dependency);
        if BESIDE.contains(&dependency.as_str()) {
            findings.fault(name, format!("{dependency} stands beside the layers, nothing uses it"));
        }
        let Some(edge) = edge else { continue };
        if ours && !edge.ours.contains(&dependency.as_str()) {
            findings.fault(name, format!("may not import {dependency} (imports point down)"));
        }
        let normal = kind == "dependencies";
        if !ours && normal && !edge.outside.contains(&dependency.as_str()) {
            findings.fault(name, format!("{dependency} is not in its list of outside crates"));
        }
    }
    if manifest.get("lints").and_then(|lints| lints.get("workspace")).is_none() {
        findings.fault(name, "does not take the lints of the workspace");
    }
}

/// All dependencies with the table they stand in, those under `target.*` too.
fn dependencies(manifest: &Table) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut places = vec![manifest];
    if let Some(targets) = manifest.get("target").and_then(toml::Value::as_table) {
        places.extend(targets.values().filter_map(toml::Value::as_table));
    }
    for place in places {
        for kind in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let Some(table) = place.get(kind).and_then(toml::Value::as_table) else { continue };
            found.extend(table.keys().map(|name| (kind, name.clone())));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(manifest: &str) -> Vec<String> {
        let mut findings = Findings::default();
        let lints = "[lints]\nworkspace = true\n";
        check_manifest(&format!("{manifest}\n{lints}").parse().unwrap(), &mut findings);
        findings.faults
    }

    #[test]
    fn imports_point_down() {
        let verify = "[package]\nname = \"tet-verify\"\n[dependencies]\n";
        assert_eq!(faults(&format!("{verify}tet-file = \"1\"")), [""; 0]);
        assert_eq!(faults(&format!("{verify}tet-query = \"1\"")).len(), 1);
        assert_eq!(faults(&format!("{verify}tet-bench = \"1\"")).len(), 2);
    }

    #[test]
    fn dev_dependencies_point_down_too() {
        let io = "[package]\nname = \"tet-io\"\n[dev-dependencies]\n";
        assert_eq!(faults(&format!("{io}tempfile = \"1\"")), [""; 0]);
        assert_eq!(faults(&format!("{io}tet-file = \"1\"")).len(), 1);
    }

    #[test]
    fn the_format_crate_has_no_dependencies() {
        let format = "[package]\nname = \"tet-format\"\n";
        assert_eq!(faults(&format!("{format}[dependencies]\nlog = \"1\"")).len(), 1);
        assert_eq!(faults(&format!("{format}[target.x.dependencies]\nlog = \"1\"")).len(), 1);
    }

    #[test]
    fn the_lower_layers_are_listed_first() {
        for (position, edge) in EDGES.iter().enumerate() {
            for ours in edge.ours {
                let below = EDGES[..position].iter().any(|lower| lower.name == *ours);
                assert!(below, "{} may import {ours}, which is not below it", edge.name);
            }
        }
    }
}
