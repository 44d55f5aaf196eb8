//! Files on servers: how they are read, by options and variables.

use tet_net::{BlockCache, Lookup, Settings};

use crate::args::NetArgs;
use crate::bar::Bar;
use crate::context::Context;
use crate::exit::{Failure, Result};

/// Registers who opens and writes URLs, whose transfers `bar` shows; the cache, if there is one.
///
/// # Errors
///
/// A variable with a size is not understood.
pub(crate) fn register(
    net: NetArgs,
    context: &Context<'_>,
    bar: &Bar,
) -> Result<Option<BlockCache>> {
    let env = context.env();
    let folder = |name: String| if name.is_empty() { name } else { shown(env.at(name.as_ref())) };
    let options = [
        ("TET_CACHE", net.cache.map(folder)),
        ("TET_CACHE_SIZE", net.cache_size.map(|size| size.to_string())),
        ("TET_DOWNLOAD", net.download.map(|size| size.to_string())),
    ];
    let variables = env.lookup.clone();
    let lookup = Lookup::new(move |name| {
        let option = options.iter().find(|(known, _)| *known == name);
        option.and_then(|(_, value)| value.clone()).or_else(|| variables.get(name))
    });
    let settings = Settings::from_variables(lookup)
        .map_err(|message| Failure::usage("bad_variable", message))?;
    let cache = settings.cache.clone();
    let progress = bar.progress(context);
    tet_net::register(Settings { depth: net.io_depth, progress, ..settings });
    Ok(cache)
}

fn shown(path: std::path::PathBuf) -> String {
    path.to_string_lossy().into_owned()
}
