//! Sizes in bytes as people write them.

/// Reads `4096`, `64KiB`, `512M` or `1.5 GiB`: bytes. `KiB` means 1024, and `K` and `kB` mean `kilo`.
///
/// ```
/// assert_eq!(tet_io::parse_size("1.5 GiB", 1024), Ok(3 << 29));
/// assert_eq!(tet_io::parse_size("5GB", 1000), Ok(5_000_000_000));
/// assert!(tet_io::parse_size("much", 1024).is_err());
/// ```
///
/// # Errors
///
/// The text is not a number with one of these units, or the size is past 2^63.
pub fn parse_size(text: &str, kilo: u64) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a size: write 4096, 64KiB, 512MiB or 2GiB");
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let kilo = if unit.ends_with("ib") { 1024 } else { kilo };
    let power = match unit.as_str() {
        "" | "b" => 0_u32,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        _ => return Err(wrong()),
    };
    let scale = kilo.pow(power);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let size = whole.checked_mul(scale).filter(|&size| size < 1 << 63).ok_or_else(wrong)?;
    // Nine digits resolve a byte of a tebibyte, and their product fits into the integer.
    if fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let (mut part, mut parts) = (0_u128, 1_u128);
    for byte in fraction.bytes() {
        part = part * 10 + u128::from(byte - b'0');
        parts *= 10;
    }
    let rest = u64::try_from(u128::from(scale) * part / parts).map_err(|_| wrong())?;
    Ok(size + rest)
}
