//! The rules, held against made-up sources: what they have to find, and what they have to leave alone.

use super::{EVERYWHERE, IN_SRC, LONGEST, Source, broken};

/// A line for each: the path, what the file says after its first line, what has to be found.
const WRONG: &str = r#"
src/store/lock.rs      | use crate::service::Queue;              | names service
src/store/lock.rs      | use crate::{domain::TaskId, mcp};       | names mcp
src/store/lock.rs      | use super::super::service;              | names service
src/store.rs           | fn f() { super::cli::run(); }           | names cli
src/store.rs           | mod tests { use super::super::service; } | names service
src/domain/task.rs     | use crate :: { self , store };          | names store
src/domain/task.rs     | use ai_coord::store::Store;             | names store
src/mcp/tools/queue.rs | fn f() -> crate::cli::X {}              | names cli
src/service/queue.rs   | pub(crate) use crate::mcp::Wire;        | names mcp
src/util.rs            |                                         | util is no layer
src/util/text.rs       |                                         | util is no layer
src/service.rs         | use std::fs;                            | names std::fs
src/service.rs         | use std::{io, fs::{self, File}};        | names std::fs
src/service.rs         | use std::os::unix::fs::MetadataExt;     | names std::os::unix::fs
src/mcp/wire.rs        | fn f() { nix::unistd::getpid(); }       | names nix
src/main.rs            | fn main() { ::std::fs::read("a"); }     | names std::fs::read
src/main.rs            | async fn f() { tokio::fs::read(p) }     | names tokio::fs
src/cli/status.rs      | fn f(p: &Path) -> bool { p.exists() }   | calls .exists()
src/domain/time.rs     | fn f() { Utc::now() }                   | names Utc::now
src/domain/time.rs     | use std::time::SystemTime;              | names std::time::SystemTime
src/domain/time.rs     | use rmcp::model::Tool;                  | names rmcp
src/store.rs           | #[allow(dead_code)] fn f() {}           | has #[allow(
src/store.rs           | #![ allow (dead_code)]                  | has #![allow(
src/store.rs           | #[cfg_attr(test, allow(dead_code))]     | has ,allow(
src/store.rs           | fn f() { todo!() }                      | has todo!
src/store.rs           | fn f() { unimplemented!() }             | has unimplemented!
tests/it/queue.rs      | #[ignore] fn f() {}                     | has #[ignore]
"#;

/// The same without the last column: nothing has to be found. `;;` stands for a line's end.
const RIGHT: &str = r##"
src/main.rs            | use ai_coord::{cli, mcp::serve};
src/lib.rs             | pub mod domain; mod store;
src/cli/schema.rs      | use crate::{mcp::tools, service::Queue};
src/cli/config.rs      | use std::fs;
src/cli/config/codex.rs | use std::fs;
src/mcp/tools/queue.rs | use super::{super::server, lifecycle};
src/mcp/tools.rs       | use super::service;
src/service/queue.rs   | use crate::{domain::Task, store::{Store, lock}};
src/store/lock.rs      | use std::fs; use nix::fcntl::Flock;
src/store/lock.rs      | /// Unlike [`crate::service::Queue`], todo!()
src/store/lock.rs      | const A: &str = "crate::mcp #[allow(";
src/service.rs         | const A: &str = r#"std::fs "quoted" "#; const B: char = '"'; fn f<'a>() {}
src/service.rs         | fn f(offs: Offs) { offs::fs(fs) }
src/service.rs         | fn f() {};;#[cfg(test)];;mod tests {;;use std::fs;;}
src/service/tests.rs   | use std::fs;
src/service/tests/work.rs | use std::fs;
src/store.rs           | #[expect(dead_code, reason = "the server uses it")]
tests/it/queue.rs      | #[ignore = "takes an hour"] fn f() {}
"##;

#[test]
fn the_rules_find_what_breaks_them() {
    for line in rows(WRONG) {
        let [path, text, found] = columns(line)[..] else {
            panic!("not three columns: {line}")
        };
        assert_found(path, &format!("//! x\n{text}"), found);
    }
    assert_found("src/store.rs", "use std::fs;", "does not open with //!");
    assert_found("src/store.rs", "// x\n//! x", "does not open with //!");
    assert_found("src/store.rs", &"//! x\n".repeat(LONGEST + 1), "501 lines");
}

#[test]
fn the_rules_leave_alone_what_keeps_them() {
    for line in rows(RIGHT) {
        let [path, text] = columns(line)[..] else {
            panic!("not two columns: {line}")
        };
        let text = format!("//! x\n{}", text.replace(";;", "\n"));
        assert_eq!(judged(path, &text), Vec::<String>::new(), "{line}");
    }
    let longest = "//! x\n".repeat(LONGEST);
    assert_eq!(judged("src/store.rs", &longest), Vec::<String>::new());
}

fn rows(table: &str) -> impl Iterator<Item = &str> {
    table.lines().filter(|it| !it.is_empty())
}

fn columns(line: &str) -> Vec<&str> {
    line.split(" |").map(str::trim).collect()
}

#[track_caller]
fn assert_found(path: &str, text: &str, found: &str) {
    let wrong = judged(path, text);
    assert!(
        wrong.iter().any(|it| it.contains(found)),
        "{path}: {text:?} should be found wrong: {found}, not {wrong:?}"
    );
}

fn judged(path: &str, text: &str) -> Vec<String> {
    let source = Source {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let mut wrong = broken(&EVERYWHERE, &source);
    if path.starts_with("src/") {
        wrong.extend(broken(&IN_SRC, &source));
    }
    wrong
}
