//! How a Tensogram file is written.

use tet_convert::{Filter, TensogramOptions};
use tet_tensogram::{Compressing, Error, HashChoice, NonFinite, PackingFit, SzipParameters};

use crate::args::{CodecName, ConvertArgs, EncodingName, FilterName, MasksName, Named};
use crate::exit::{Failure, Result};

/// The default level of zstd.
const LEVEL: i32 = 3;
/// The most bits of a packed value.
const BITS_MAX: u32 = 64;

/// The write options, from the options of the command line.
///
/// # Errors
///
/// Options contradict each other, or would damage elements together.
pub(super) fn options(args: &ConvertArgs) -> Result<TensogramOptions> {
    let ConvertArgs { store, tgm, .. } = args;
    let mut options = TensogramOptions::default();
    options.message.align = store.align.parse().unwrap_or(options.message.align);
    if args.no_digests {
        options.message.hash = HashChoice::None;
    }
    if tgm.profile.is_some() {
        options = options.universal();
    }
    let recipe = &mut options.recipe;
    recipe.compression = match (Named::general(&store.codec), Named::general(&store.level)) {
        (Some(CodecName::Zstd), level) => Compressing::Zstd { level: level.unwrap_or(LEVEL) },
        (_, Some(_)) => {
            let text = "--level is for --codec zstd";
            return Err(Failure::usage("options", text).hint("use both, or neither"));
        }
        (Some(CodecName::Lz4), None) => Compressing::Lz4,
        (Some(CodecName::Szip), None) => Compressing::Szip(SzipParameters::default()),
        // The check of outputs has refused gzip.
        (Some(CodecName::Raw | CodecName::Gzip) | None, None) => Compressing::None,
    };
    let masks = match tgm.masks {
        Some(MasksName::All) => NonFinite::Masked,
        Some(MasksName::None) => NonFinite::Kept,
        Some(MasksName::Exact) | None => NonFinite::Exact,
    };
    recipe.packing = packing(args)?;
    // NaN and infinities cannot be packed: they need --masks all.
    let masks = match masks {
        NonFinite::Exact | NonFinite::Kept if recipe.packing.is_some() => NonFinite::Refused,
        masks => masks,
    };
    (recipe.nan, recipe.infinity) = (masks, masks);
    if tgm.filter == Some(FilterName::Shuffle) {
        options.filter = Filter::Shuffle;
    }
    Ok(options)
}

/// How float64 values are packed; `None` if they are not.
fn packing(args: &ConvertArgs) -> Result<Option<PackingFit>> {
    let tgm = &args.tgm;
    let refuse =
        |text: &str, hint: &str| Err(Failure::usage("options", text.to_owned()).hint(hint));
    if tgm.encoding != Some(EncodingName::SimplePacking) {
        if tgm.bits.is_some() || tgm.max_error.is_some() {
            let text = "--bits and --max-error are for --encoding simple_packing";
            return refuse(text, "add --encoding simple_packing");
        }
        return Ok(None);
    }
    if tgm.filter == Some(FilterName::Shuffle) {
        let text = "packed values cannot be shuffled";
        return refuse(text, "omit --filter or --encoding");
    }
    let is_szip = Named::general(&args.store.codec) == Some(CodecName::Szip);
    match (tgm.bits, tgm.max_error) {
        (Some(bits), _) if BITS_MAX < bits => {
            refuse("values are packed in 0 to 64 bits", "most fields need 12 to 24")
        }
        (Some(bits), _) if is_szip && !matches!(bits, 0 | 8 | 16 | 24 | 32) => {
            let text =
                format!("szip damages packed values of {bits} bits, which are not whole bytes");
            refuse(&text, "use --bits 8, 16, 24 or 32, or another --codec")
        }
        (Some(0), _) if is_szip => refuse("szip cannot compress values of 0 bits", "omit it"),
        (Some(bits), _) => Ok(Some(PackingFit::Bits { bits, decimal_scale: 0 })),
        (None, Some(error_max)) if !error_max.is_finite() || error_max < 0.0 => refuse(
            "the largest error must be a number of 0 or more",
            "use for example --max-error 0.01",
        ),
        (None, Some(error_max)) => Ok(Some(PackingFit::Within { error_max })),
        (None, None) => {
            let text = "simple_packing needs a precision";
            refuse(text, "add --bits N or --max-error E")
        }
    }
}

/// The hint for a dataset that cannot be stored with these options.
pub(super) fn hint(dataset: &str, error: &Error) -> String {
    match error {
        Error::NotFinite { .. } => {
            "--masks all stores NaN and infinities as masks, and packs the rest".to_owned()
        }
        _ => format!("--exclude {dataset:?} omits it; --dataset converts only the named datasets"),
    }
}
