//! Just enough of Rust's grammar to see which paths a source file names.
//!
//! No parser is among the dependencies, and none is needed: comments and literals are taken out, then paths are read
//! off the words, with the trees in braces that `use` allows.

/// The text with its comments and literals blanked out. Line ends stay.
pub(super) fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = literal(rest, code.chars().last()).or_else(|| comment(rest));
        let length = skipped.unwrap_or(first.len_utf8());
        let (taken, after) = rest.split_at(length);
        match skipped {
            Some(_) => code.extend(taken.chars().map(|it| if it == '\n' { it } else { ' ' })),
            None => code.push(first),
        }
        rest = after;
    }
    code
}

/// The length of the comment that the text begins with.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let mut rest = text.strip_prefix("/*")?;
    let mut depth = 1;
    while depth > 0 && !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("/*") {
            (depth, rest) = (depth + 1, after);
        } else if let Some(after) = rest.strip_prefix("*/") {
            (depth, rest) = (depth - 1, after);
        } else {
            rest = after_first(rest);
        }
    }
    Some(text.len() - rest.len())
}

/// The length of the string or character that the text begins with.
fn literal(text: &str, before: Option<char>) -> Option<usize> {
    let in_a_word = before.is_some_and(is_word);
    if let Some(raw) = text
        .strip_prefix('r')
        .filter(|_| !in_a_word || before == Some('b'))
    {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if let Some(body) = raw.get(hashes..).and_then(|it| it.strip_prefix('"')) {
            let end = format!("\"{}", "#".repeat(hashes));
            let length = body.find(&end).map_or(body.len(), |it| it + end.len());
            return Some(text.len() - body.len() + length);
        }
    }
    let quote = text.chars().next().filter(|it| "\"'".contains(*it))?;
    let body = after_first(text);
    // 'a is a lifetime, 'a' and '\n' are characters.
    let is_lifetime =
        quote == '\'' && !body.starts_with('\\') && !after_first(body).starts_with('\'');
    if is_lifetime {
        return None;
    }
    let mut rest = body;
    while !rest.is_empty() && !rest.starts_with(quote) {
        let escaped = rest.starts_with('\\');
        rest = after_first(rest);
        if escaped {
            rest = after_first(rest);
        }
    }
    Some(text.len() - after_first(rest).len())
}

fn after_first(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    chars.as_str()
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Every path in code without comments and literals; `a::{b, c::d}` are the paths `a::b` and `a::c::d`.
pub(super) fn paths(code: &str) -> Vec<Vec<String>> {
    let tokens = tokens(code);
    let mut paths = Vec::new();
    let mut rest = tokens.as_slice();
    while !rest.is_empty() {
        rest = path(rest, &[], &mut paths);
    }
    paths
}

/// Words, `::` and single characters.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            it if is_word(it) => rest.find(|it| !is_word(it)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            it => it.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// Reads a path that stands at the front, below `parent`, or skips a token; gives what comes after.
fn path<'a>(
    tokens: &'a [&'a str],
    parent: &[String],
    paths: &mut Vec<Vec<String>>,
) -> &'a [&'a str] {
    let mut path = parent.to_vec();
    let mut rest = tokens;
    loop {
        match rest {
            [word, after @ ..] if word.starts_with(is_word) => {
                path.push((*word).to_owned());
                let ["::", after @ ..] = after else {
                    paths.push(path);
                    return after;
                };
                rest = after;
            }
            ["{", after @ ..] if !path.is_empty() => {
                rest = after;
                while !matches!(rest, [] | ["}", ..]) {
                    rest = self::path(rest, &path, paths);
                }
                return rest.get(1..).unwrap_or_default();
            }
            // A path that ends in `*` or in arguments still names what leads there.
            _ => {
                let skipped = usize::from(rest.len() == tokens.len());
                if path.len() > parent.len() {
                    paths.push(path);
                }
                return rest.get(skipped..).unwrap_or_default();
            }
        }
    }
}

#[test]
fn comments_and_literals_are_no_code() {
    for (text, expected) in [
        ("a // b\nc", "a     \nc"),
        ("a /* b /* c */ d */ e", "a                   e"),
        (r#"a("b \" c") d"#, "a(        ) d"),
        (r##"a(r#"b " c"#) d"##, "a(          ) d"),
        (r"f('\'', '\\', 'x') g<'a>", "f(    ,     ,    ) g<'a>"),
        ("for\"x\" r", "for    r"),
    ] {
        assert_eq!(code(text), expected, "{text}");
    }
}

#[test]
fn paths_are_read_off_the_words() {
    for (text, expected) in [
        ("use a::b;", vec!["use", "a::b"]),
        (
            "use a::{b, c::{self, d}, *};",
            vec!["use", "a::b", "a::c::self", "a::c::d"],
        ),
        (
            "x.y(a :: b::<c::d>(1))",
            vec!["x", "y", "a::b", "c::d", "1"],
        ),
        ("::a::b", vec!["a::b"]),
        ("fn f() { a::b }", vec!["fn", "f", "a::b"]),
        ("use a::*;", vec!["use", "a"]),
        ("use a::{b as c};", vec!["use", "a::b", "a::as", "a::c"]),
    ] {
        let paths: Vec<_> = paths(text).iter().map(|it| it.join("::")).collect();
        assert_eq!(paths, expected, "{text}");
    }
}
