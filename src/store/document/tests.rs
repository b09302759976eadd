//! Documents as people, crashes and the ill-disposed may leave them.

use std::cell::Cell;
use std::fs::{self, File};
use std::os::unix::fs::symlink;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use tempfile::TempDir;

use serde::{Deserializer, de::Error as _};

use super::*;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Sample {
    #[serde(default)]
    format_version: FormatVersion,
    title: String,
    steps: Vec<Step>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Step {
    percent: u8,
}

fn sample() -> Sample {
    Sample {
        format_version: FormatVersion,
        title: "Löwe".to_owned(),
        steps: vec![Step { percent: 50 }],
    }
}

struct Folder {
    temp: TempDir,
    dir: Dir,
}

impl Folder {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let dir = Dir::open(temp.path()).unwrap().unwrap();
        Self { temp, dir }
    }

    fn path(&self) -> std::path::PathBuf {
        self.temp.path().join("a.json")
    }

    fn with(content: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        fs::write(folder.path(), content).unwrap();
        folder
    }

    fn read(&self) -> Result<Option<Sample>, StoreError> {
        read(&self.dir, "a.json")
    }
}

/// The reason for which a file with this content is corrupt.
fn reason(content: impl AsRef<[u8]>) -> String {
    match Folder::with(content).read() {
        Err(StoreError::Corrupt { reason, .. }) => reason,
        other => panic!("expected a corrupt document, found {other:?}"),
    }
}

#[test]
fn what_is_encoded_is_read_back() {
    let path = Path::new("a.json");
    let bytes = encode(path, &sample()).unwrap();
    let text = "{\n  \"formatVersion\": 1,\n  \"title\": \"Löwe\",\n  \"steps\": [\n    {\n      \
                \"percent\": 50\n    }\n  ]\n}\n";
    assert_eq!(String::from_utf8(bytes.clone()).unwrap(), text);
    assert_eq!(Folder::with(bytes).read().unwrap(), Some(sample()));
}

#[test]
fn an_absent_document_is_none_and_an_absent_version_is_1() {
    assert_eq!(Folder::new().read().unwrap(), None);
    let read = Folder::with(r#"{"title": "Löwe", "steps": [{"percent": 50}]}"#).read();
    assert_eq!(read.unwrap(), Some(sample()));
}

#[test]
fn what_is_wrong_is_told_with_line_and_field() {
    let cases: &[(&[u8], &str)] = &[
        (b"", "line 1: EOF while parsing a value"),
        (
            b"{\n\"title\": \"x\",\n\"st",
            "line 3: EOF while parsing a string",
        ),
        (b"{\n\"title\": \"x\"\n}\n", "line 3: missing field `steps`"),
        (
            b"{\n\"title\": \"x\", \"steps\": [\n{\"percent\": 1},\n{\"percent\": 300}]}",
            "line 4, steps[1].percent: invalid value: integer `300`, expected u8",
        ),
        (
            b"{\"title\": 3}",
            "line 1, title: invalid type: integer `3`, expected a string",
        ),
        (b"{\"owner\": 3}", "line 1, owner: unknown field `owner`"),
        (
            b"{\"title\": \"x\",\n\"title\": \"y\"}",
            "line 2: duplicate field `title`",
        ),
        (
            b"{\"title\": \"x\", \"steps\": []}\n{}",
            "line 2: trailing characters",
        ),
        (b"[]", "line 1: invalid length 1, expected struct Sample"),
        (b"\0\0\0\0", "line 1: expected value"),
        (b"{\n\"title\": \"\xff\"}", "line 2: it is not UTF-8 text"),
        (
            b"\xef\xbb\xbf{\"title\": \"x\", \"steps\": []}",
            "line 1: it starts with a byte-order mark",
        ),
        (
            b"{\"formatVersion\": null}",
            "line 1, formatVersion: invalid type: null",
        ),
        (
            b"{\"formatVersion\": 1, \"formatVersion\": 2}",
            "line 1: duplicate field `formatVersion`",
        ),
    ];
    for (content, expected) in cases {
        let found = reason(content);
        assert!(
            found.starts_with(expected),
            "`{found}`, expected `{expected}`"
        );
        assert!(!found.contains(" column "), "{found}");
    }
}

#[test]
fn deep_nesting_is_refused_and_not_followed() {
    let brackets = "[".repeat(200_000);
    let objects = r#"{"title":"#.repeat(100_000);
    let nested = format!(r#"{{"formatVersion":{}}}"#, "[".repeat(200_000));
    for content in [brackets, objects, nested] {
        let found = reason(content);
        assert!(!found.is_empty());
    }
}

#[test]
fn another_version_is_told_from_damage() {
    let cases = [
        (r#"{"formatVersion": 2, "novelty": true}"#, "2"),
        (r#"{"formatVersion": 0, "title": "x", "steps": []}"#, "0"),
        (r#"{"formatVersion": 1.5}"#, "1.5"),
        (r#"{"formatVersion": "two"}"#, "\"two\""),
    ];
    for (content, expected) in cases {
        match Folder::with(content).read() {
            Err(StoreError::UnsupportedFormat { found, .. }) => assert_eq!(found, expected),
            other => panic!("{content}: {other:?}"),
        }
    }
    let long = format!(r#"{{"formatVersion": "{}"}}"#, "9".repeat(5000));
    let error = Folder::with(long).read().unwrap_err();
    assert!(error.to_string().len() < 400, "{error}");
    let missing = r#"{"formatVersion": 1, "title": "x"}"#;
    assert!(reason(missing).contains("missing field `steps`"));
}

#[test]
fn only_small_regular_files_are_read() {
    let folder = Folder::new();
    let huge = File::create(folder.path()).unwrap();
    huge.set_len(5 << 30).unwrap();
    let error = folder.read().unwrap_err().to_string();
    let expected = "it has 5368709120 bytes, expected at most 4194304; move it away";
    assert!(error.ends_with(expected), "{error}");

    let folder = Folder::new();
    mkfifo(&folder.path(), Mode::S_IRWXU).unwrap();
    let error = folder.read().unwrap_err().to_string();
    assert!(error.contains("found a FIFO"), "{error}");

    let folder = Folder::new();
    fs::create_dir(folder.path()).unwrap();
    let error = folder.read().unwrap_err().to_string();
    assert!(error.contains("found a directory"), "{error}");

    let folder = Folder::new();
    symlink("/etc/passwd", folder.path()).unwrap();
    let error = folder.read().unwrap_err().to_string();
    assert!(error.contains("found a symbolic link"), "{error}");
}

/// As if the file grew between the two: the first bound says nothing, the second has to hold.
#[test]
fn a_growing_file_is_read_to_the_bound_only() {
    let folder = Folder::with("{}");
    let (_, stat) = folder.dir.open_file("a.json").unwrap().unwrap();
    let file = File::options()
        .read(true)
        .write(true)
        .open(folder.path())
        .unwrap();
    file.set_len(SIZE_LIMIT + 5).unwrap();
    let error = read_bounded(&folder.path(), file, stat).unwrap_err();
    let expected = format!("it has {} bytes", SIZE_LIMIT + 1);
    assert!(error.to_string().contains(&expected), "{error}");
}

#[test]
fn the_largest_document_that_is_written_is_read_and_a_larger_one_refused() {
    let path = Path::new("/c/a.json");
    let overhead = encode(path, &"").unwrap().len();
    let largest = usize::try_from(SIZE_LIMIT).unwrap() - overhead;
    let bytes = encode(path, &"x".repeat(largest)).unwrap();
    assert_eq!(bytes.len() as u64, SIZE_LIMIT);
    let folder = Folder::with(bytes);
    let text: Option<String> = read(&folder.dir, "a.json").unwrap();
    assert_eq!(text.unwrap().len(), largest);
    let error = encode(path, &"x".repeat(largest + 1)).unwrap_err();
    let expected = "/c/a.json would take 4194305 bytes, the limit is 4194304; put long text in";
    assert!(error.to_string().starts_with(expected), "{error}");
}

thread_local! {
    static WHOLE: Cell<bool> = const { Cell::new(false) };
}

/// Can't be parsed the first time: as if an editor was in the middle of saving.
#[derive(Debug)]
struct Unfinished;

impl<'de> Deserialize<'de> for Unfinished {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u64::deserialize(deserializer)?;
        if WHOLE.replace(true) {
            Ok(Self)
        } else {
            Err(D::Error::custom("half of it"))
        }
    }
}

#[test]
fn a_document_that_is_being_saved_is_read_again() {
    let folder = Folder::with("7");
    let read = read::<Unfinished>(&folder.dir, "a.json");
    assert!(matches!(read, Ok(Some(Unfinished))), "{read:?}");
}

#[test]
fn a_document_that_stays_corrupt_is_given_time_to_be_saved() {
    let started = Instant::now();
    reason("{");
    assert!(started.elapsed() >= SAVING);
}

#[test]
fn a_signature_is_of_the_file_that_was_read() {
    let folder = Folder::with(encode(Path::new("a.json"), &sample()).unwrap());
    let (read, signature) = read_signed::<Sample>(&folder.dir, "a.json")
        .unwrap()
        .unwrap();
    assert_eq!(read, sample());
    let now = folder.dir.stat("a.json").unwrap().unwrap().signature();
    assert_eq!(signature, now);
}
