//! Texts that are part of the contract, kept in files. `UPDATE_GOLDEN=1 cargo test` writes them anew; the commit says
//! why.

use std::{env, fs, path::Path};

/// Compares a text with the file of that name in `tests/golden/`.
pub(crate) fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    for (number, (expected, got)) in golden.lines().zip(text.lines()).enumerate() {
        assert_eq!(expected, got, "line {} of {}", number + 1, path.display());
    }
    assert_eq!(
        golden,
        text,
        "{} has changed: see tests/it/golden.rs",
        path.display()
    );
}
