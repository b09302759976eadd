//! Illegal moves and forgeries do not compile, and the compiler says what would do.
//!
//! `TRYBUILD=overwrite cargo test ui` writes what it says now; read it as a contributor would.

#[test]
fn illegal_moves_do_not_compile() {
    trybuild::TestCases::new().compile_fail("ui-tests/*.rs");
}
