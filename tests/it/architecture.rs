//! Rules of the tree that the compiler does not know: layers look down only, one layer touches the disk, every file
//! says what it is for.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Each layer with those it may name.
const LAYERS: [(&str, &[&str]); 5] = [
    ("domain", &[]),
    ("store", &["domain"]),
    ("service", &["domain", "store"]),
    ("mcp", &["domain", "service"]),
    ("cli", &["domain", "store", "service", "mcp"]),
];

/// Files longer than this are more than one thing.
const LINES: usize = 500;

#[test]
fn the_tree_keeps_its_rules() {
    let mut broken = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        let relative = path
            .strip_prefix(root())
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        broken.extend(problems(&relative, &text));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn each_rule_can_be_broken() {
    for (file, text, rule) in [
        (
            "domain/x.rs",
            "//! x\nuse crate::store::Store;",
            "names crate::store",
        ),
        (
            "mcp/x.rs",
            "//! x\nuse crate::{cli::run, domain::Task};",
            "names crate::cli",
        ),
        (
            "service/x.rs",
            "//! x\nuse std::fs;",
            "touches the file system",
        ),
        (
            "service/x.rs",
            "//! x\nuse std::{fs, io};",
            "touches the file system",
        ),
        ("mcp/x.rs", "//! x\nnix::unistd::getpid();", "names nix"),
        ("domain/x.rs", "struct X;", "does not say what it is for"),
        ("store/x.rs", "//! x\n#[allow(dead_code)]", "allows"),
        ("store/x.rs", "//! x\ntodo!()", "unfinished"),
        (
            "store/x.rs",
            "//! x\n#[ignore]",
            "ignores a test without a reason",
        ),
        (
            "store/x.rs",
            &format!("//! x\n{}", "\n".repeat(LINES)),
            "lines",
        ),
    ] {
        let found = problems(file, text);
        assert!(
            found.iter().any(|it| it.contains(rule)),
            "{file}: {rule}: {found:?}"
        );
    }
    assert!(
        problems(
            "store/x.rs",
            "//! x\nuse std::fs;\nuse crate::domain::Task;"
        )
        .is_empty()
    );
}

fn problems(file: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let mut found = |problem: String| problems.push(format!("src/{file} {problem}"));
    let layer = LAYERS
        .iter()
        .find(|(name, _)| file.starts_with(&format!("{name}/")) || file == format!("{name}.rs"));
    for (other, _) in LAYERS {
        let allowed =
            layer.is_none_or(|(name, allowed)| *name == other || allowed.contains(&other));
        if !allowed && names(text, other) {
            found(format!("names crate::{other}: layers look down only"));
        }
    }
    let is_store = layer.is_some_and(|(name, _)| *name == "store");
    let touches = [
        "std::fs",
        "tokio::fs",
        "File::open",
        "{fs,",
        " fs,",
        "\nfs::",
    ];
    let is_test = file.ends_with("tests.rs") || file.contains("/tests/");
    if !is_store && !is_test && touches.iter().any(|it| text.contains(it)) {
        found("touches the file system: only the store does".to_owned());
    }
    let named = |it: &str| {
        text.contains(&format!("use {it}::"))
            || text.contains(&format!("    {it}::"))
            || text.contains(&format!("\n{it}::"))
    };
    if !is_store && named("nix") {
        found("names nix: only the store does".to_owned());
    }
    if !text.starts_with("//!") {
        found("does not say what it is for".to_owned());
    }
    if text.contains("#[allow(") || text.contains("#![allow(") {
        found("allows what should be expected, with a reason".to_owned());
    }
    if text.contains("todo!(") || text.contains("unimplemented!(") {
        found("is unfinished".to_owned());
    }
    if text.contains("#[ignore]") {
        found("ignores a test without a reason".to_owned());
    }
    if text.lines().count() > LINES {
        found(format!("has more than {LINES} lines"));
    }
    problems
}

/// Whether a source names another layer, also in a group of imports.
fn names(text: &str, layer: &str) -> bool {
    let groups = text
        .split("use crate::{")
        .skip(1)
        .filter_map(|it| it.split_once("};").map(|(group, _)| group));
    text.contains(&format!("crate::{layer}::"))
        || text.contains(&format!("crate::{layer};"))
        || groups.flat_map(str::lines).any(|line| {
            let named = line.split([',', ' ']).any(|word| {
                word.strip_prefix(layer)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
            });
            named && line.contains("::")
        })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![root()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                found.push(path);
            }
        }
    }
    found
}
