//! What must not compile: every illegal transition and every forged task, and what the compiler says about it.
//!
//! The `.stderr` files are part of the design: they are what a contributor reads who tries. After a change of the
//! texts, `TRYBUILD=overwrite cargo test ui::` writes them anew; read the diff.

use std::{fs, path::Path};

use ai_coord::domain::{Action, Status, Transition};

#[test]
fn what_must_not_compile_does_not() {
    trybuild::TestCases::new().compile_fail("ui-tests/*.rs");
}

/// The methods that a status can forbid, and the statuses that allow them.
fn methods() -> impl Iterator<Item = (&'static str, &'static [Status])> {
    let moves = Transition::ALL.iter().map(|it| (it.name(), it.sources()));
    moves.chain([(Action::Restore.as_str(), Status::ARCHIVABLE)])
}

fn stderr(method: &str) -> String {
    let file = format!("ui-tests/{method}.stderr");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
    fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{method} has no fixture, {file}: {error}"))
}

/// The compiler gives up after the first kind of error, so a fixture alone does not prove that every status in it is
/// refused, nor that it holds every status that has to be.
#[test]
fn every_illegal_status_of_every_method_is_refused_by_name() {
    for (method, sources) in methods() {
        let said = stderr(method);
        let headlines: Vec<_> = said.lines().filter(|it| it.starts_with("error")).collect();
        for status in Status::ALL {
            let about = format!("a task in state `ai_coord::domain::{status:?}`");
            let refused = headlines.iter().filter(|it| it.contains(&about)).count();
            let legal = sources.contains(&status);
            assert_eq!(
                refused,
                usize::from(!legal),
                "{method} is {}legal from {status}; errors about it:\n{headlines:#?}",
                if legal { "" } else { "il" },
            );
        }
        assert_eq!(
            headlines.len(),
            Status::ALL.len() - sources.len(),
            "{method} is refused for other reasons than the status:\n{headlines:#?}"
        );
    }
}

/// The attribute that holds the text takes no macro, so the text can fall behind the table.
#[test]
fn the_compiler_names_the_statuses_that_would_do() {
    for (method, sources) in methods() {
        let said = stderr(method);
        let takes = format!("`{method}` takes ");
        let labels: Vec<_> = said.lines().filter(|it| it.contains(&takes)).collect();
        assert_eq!(
            labels.len(),
            Status::ALL.len() - sources.len(),
            "{method}: every error says what would do"
        );
        for (label, status) in labels
            .iter()
            .flat_map(|label| Status::ALL.map(|status| (label, status)))
        {
            assert_eq!(
                label.contains(&format!("`{status:?}`")),
                sources.contains(&status),
                "{method} and {status} in: {label}"
            );
        }
    }
}
