//! Reads the sources and holds them to the rules that the compiler and clippy cannot check.
//!
//! The rules are about text with comments and literals taken out, not about what a macro makes of it: they stop
//! mistakes, not somebody who wants to get around them.

mod proof;
mod source;

use std::{
    fs,
    path::{Path, PathBuf},
};

use source::{code, paths};

/// What a module may name of its own crate, itself included. Who is not here belongs to no layer.
const LAYERS: [(&str, &[&str]); 6] = [
    ("main", &["cli", "mcp", "service", "store", "domain"]),
    ("cli", &["cli", "mcp", "service", "store", "domain"]),
    ("mcp", &["mcp", "service", "store", "domain"]),
    ("service", &["service", "store", "domain"]),
    ("store", &["store", "domain"]),
    ("domain", &["domain"]),
];

/// Methods of `Path` that ask the file system without naming it.
const PROBES: [&str; 9] = [
    "canonicalize",
    "exists",
    "is_dir",
    "is_file",
    "is_symlink",
    "read_dir",
    "read_link",
    "symlink_metadata",
    "try_exists",
];

const LONGEST: usize = 500;

/// A file of the crate: its path below the crate's root, with slashes, and its text.
struct Source {
    path: String,
    text: String,
}

/// Says what is wrong with a file, if anything is.
struct Rule(&'static str, fn(&Source) -> Vec<String>);

const EVERYWHERE: [Rule; 5] = [
    Rule("a file says at its top what it is for", opening),
    Rule("a file is not too long to be read", length),
    Rule("exceptions are expected, with a reason", allowed),
    Rule("nothing is left to be done", unfinished),
    Rule("an ignored test says why", ignored),
];

const IN_SRC: [Rule; 3] = [
    Rule("layers only look down", layers),
    Rule("only the store touches the file system", file_system),
    Rule("the domain has no clock and no protocol", pure),
];

#[test]
fn the_sources_keep_the_rules() {
    let (src, tests) = (sources("src"), sources("tests"));
    assert!(
        src.iter().any(|it| it.path == "src/main.rs"),
        "the sources were not found"
    );
    let everywhere = src
        .iter()
        .chain(&tests)
        .flat_map(|it| broken(&EVERYWHERE, it));
    let wrong: Vec<_> = everywhere
        .chain(src.iter().flat_map(|it| broken(&IN_SRC, it)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn broken(rules: &[Rule], source: &Source) -> Vec<String> {
    let of = |Rule(name, check): &Rule| {
        let found = check(source).into_iter();
        found
            .map(|it| format!("{}: {it} ({name})", source.path))
            .collect::<Vec<_>>()
    };
    rules.iter().flat_map(of).collect()
}

fn sources(directory: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut directories = vec![root.join(directory)];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("a directory of the crate") {
            let path: PathBuf = entry.expect("an entry of that directory").path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = fs::read_to_string(&path).expect("a source file is text");
                let below = path
                    .strip_prefix(root)
                    .expect("it was found below the root");
                let path = below
                    .to_str()
                    .expect("its name is ASCII")
                    .replace('\\', "/");
                found.push(Source { path, text });
            }
        }
    }
    found
}

impl Source {
    /// The modules that lead to this file: `src/store/lock.rs` is `store`, `lock`; the crate's root has none.
    fn modules(&self) -> Vec<&str> {
        let path = self.path.trim_start_matches("src/").trim_end_matches(".rs");
        let path = path.strip_suffix("/mod").unwrap_or(path);
        path.split('/').filter(|it| *it != "lib").collect()
    }

    /// The modules at the crate's root that this file names, however it gets there.
    fn names(&self) -> Vec<String> {
        let depth = self.modules().len();
        let at_the_root = |path: Vec<String>| {
            let ups = path.iter().take_while(|it| *it == "super").count();
            let from = match path.first()?.as_str() {
                "crate" | "ai_coord" => 1,
                // A module inside the file, as its tests are, is a step deeper: more steps than that lead to the root.
                "super" if ups >= depth => ups,
                _ => return None,
            };
            path.into_iter().nth(from)
        };
        paths(&code(&self.text))
            .into_iter()
            .filter_map(at_the_root)
            .collect()
    }

    /// The text before the unit tests, which stand last.
    fn without_tests(&self) -> String {
        let code = code(&self.text);
        match code.split_once("#[cfg(test)]\nmod tests {") {
            Some((code, _)) => code.to_owned(),
            None => code,
        }
    }
}

fn opening(source: &Source) -> Vec<String> {
    let opens = source.text.starts_with("//! ");
    if opens {
        vec![]
    } else {
        vec!["does not open with //!".to_owned()]
    }
}

fn length(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    if lines <= LONGEST {
        vec![]
    } else {
        vec![format!("{lines} lines, {LONGEST} are the limit")]
    }
}

fn allowed(source: &Source) -> Vec<String> {
    let compact: String = code(&source.text).split_whitespace().collect();
    ["#[allow(", "#![allow(", ",allow("]
        .into_iter()
        .filter(|it| compact.contains(it))
        .map(|it| format!("has {it}"))
        .collect()
}

fn unfinished(source: &Source) -> Vec<String> {
    let code = code(&source.text);
    ["todo!", "unimplemented!", "dbg!"]
        .into_iter()
        .filter(|it| code.contains(it))
        .map(|it| format!("has {it}"))
        .collect()
}

fn ignored(source: &Source) -> Vec<String> {
    let compact: String = code(&source.text).split_whitespace().collect();
    if compact.contains("#[ignore]") {
        vec!["has #[ignore] without a reason".to_owned()]
    } else {
        vec![]
    }
}

fn layers(source: &Source) -> Vec<String> {
    let modules = source.modules();
    let Some(own) = modules.first() else {
        return vec![];
    };
    let Some((_, below)) = LAYERS.iter().find(|(it, _)| it == own) else {
        return vec![format!(
            "{own} is no layer: add it to LAYERS or put it in one"
        )];
    };
    let is_layer = |name: &str| LAYERS.iter().any(|(it, _)| *it == name);
    source
        .names()
        .into_iter()
        .filter(|name| is_layer(name) && !below.contains(&name.as_str()))
        .map(|name| format!("names {name}"))
        .collect()
}

fn file_system(source: &Source) -> Vec<String> {
    let may = match source.modules().as_slice() {
        ["store", ..] | [.., "tests"] | [.., "tests", _] => true,
        ["cli", file, ..] => file.starts_with("config"),
        _ => false,
    };
    if may {
        return vec![];
    }
    let code = source.without_tests();
    let named = paths(&code).into_iter().filter_map(|path| {
        let touches = match path.first()?.as_str() {
            "std" | "tokio" => path.iter().any(|it| it == "fs"),
            "nix" | "libc" | "rustix" => true,
            _ => false,
        };
        touches.then(|| format!("names {}", path.join("::")))
    });
    let probes = PROBES.iter().map(|it| format!(".{it}()"));
    named
        .chain(
            probes
                .filter(|it| code.contains(it))
                .map(|it| format!("calls {it}")),
        )
        .collect()
}

fn pure(source: &Source) -> Vec<String> {
    if source.modules().first() != Some(&"domain") {
        return vec![];
    }
    let foreign = |path: &Vec<String>| {
        let outside = ["tokio", "rmcp", "clap", "tracing", "nix"];
        let clock = ["Instant", "SystemTime", "now", "env", "process"];
        let Some(root) = path.first().map(String::as_str) else {
            return false;
        };
        outside.contains(&root)
            || ["std", "chrono", "Utc", "Instant", "SystemTime"].contains(&root)
                && path.iter().any(|it| clock.contains(&it.as_str()))
    };
    let code = source.without_tests();
    paths(&code)
        .into_iter()
        .filter(foreign)
        .map(|it| format!("names {}", it.join("::")))
        .collect()
}
