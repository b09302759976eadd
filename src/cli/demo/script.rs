//! How the demonstration is printed: who called what, what came back, within 80 columns.

use std::io::Write;

use serde_json::Value;

const COLUMNS: usize = 80;

/// The width of the names.
const MARGIN: usize = 13;

/// How many lines of a call or an answer are shown.
const LINES: usize = 3;

/// Parameters of the terminal's "select graphic rendition".
const PLAIN: &str = "0";
const BOLD: &str = "1";
const FAINT: &str = "2";
const CYAN: &str = "36";

/// What of an answer is shown, and under which name: the rest is for the assistants.
const SHOWN: [(&str, &str); 20] = [
    ("why", "/why"),
    ("why", "/attention/0/why"),
    ("task", "/task/id"),
    ("task", "/attention/0/task/id"),
    ("status", "/task/status"),
    ("status", "/attention/0/task/status"),
    ("holderGone", "/attention/0/task/holderGone"),
    ("title", "/task/title"),
    ("feedback", "/task/feedback"),
    ("percent", "/progress/percent"),
    ("message", "/attention/0/message/content"),
    ("message from", "/message/author"),
    ("reply", "/reply/content"),
    ("reply from", "/reply/author"),
    ("timed_out", "/timed_out"),
    ("held", "/held/0/id"),
    ("next", "/next"),
    ("tasks", "/tasks/0/id"),
    ("total", "/total"),
    ("counts", "/counts"),
];

/// Prints the demonstration as it goes.
pub(super) struct Script<W> {
    output: W,
    colours: bool,
}

impl<W: Write> Script<W> {
    /// Prints to `output`, in colours where it is a terminal that shows them.
    pub(super) fn new(output: W, colours: bool) -> Self {
        Self { output, colours }
    }

    /// Begins a part of the story.
    pub(super) fn chapter(&mut self, title: &str) {
        let title = self.painted(BOLD, title);
        self.say(&format!("\n{title}"));
    }

    /// Says that somebody calls a tool.
    pub(super) fn call(&mut self, who: &str, tool: &str, arguments: &Value) {
        let arguments = arguments.as_object().into_iter().flatten();
        let arguments: Vec<_> = arguments
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let call = format!("{tool}({})", arguments.join(", "));
        self.entry(who, "→ ", &call, PLAIN);
    }

    /// Says what came back.
    pub(super) fn answer(&mut self, who: &str, answer: &Value) {
        self.entry(who, "← ", &headline(answer), FAINT);
    }

    /// Says what happens to somebody.
    pub(super) fn event(&mut self, who: &str, what: &str) {
        self.entry(who, "* ", what, BOLD);
    }

    /// Says something.
    pub(super) fn say(&mut self, text: &str) {
        // A reader that has seen enough does not make the demonstration fail.
        let _ = writeln!(self.output, "{text}");
    }

    fn entry(&mut self, who: &str, sign: &str, text: &str, colour: &str) {
        for (number, line) in wrapped(text, COLUMNS - MARGIN - 2).into_iter().enumerate() {
            let (name, sign) = if number == 0 { (who, sign) } else { ("", "  ") };
            let name = self.painted(CYAN, &format!("{name:<MARGIN$}"));
            let line = self.painted(colour, &line);
            self.say(&format!("{name}{sign}{line}"));
        }
    }

    fn painted(&self, colour: &str, text: &str) -> String {
        if self.colours {
            format!("\u{1b}[{colour}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// The parts of an answer that people look for; the whole of it if it has none, as a refusal.
fn headline(answer: &Value) -> String {
    let shown = SHOWN
        .iter()
        .filter_map(|(name, at)| Some(format!("{name}: {}", answer.pointer(at)?)));
    let nothing = answer
        .get("task")
        .filter(|it| it.is_null())
        .map(|_| "task: null".to_owned());
    let parts: Vec<_> = nothing.into_iter().chain(shown).collect();
    if parts.is_empty() {
        answer.to_string()
    } else {
        parts.join(", ")
    }
}

/// The text in at most as many lines as are shown, broken between words where there are some.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text;
    while rest.chars().count() > width && lines.len() + 1 < LINES {
        let end = rest
            .char_indices()
            .nth(width)
            .map_or(rest.len(), |(end, _)| end);
        let (line, _) = rest.split_at(end);
        let end = line.rfind(' ').filter(|space| *space > 0).unwrap_or(end);
        let (line, after) = rest.split_at(end);
        lines.push(line.to_owned());
        rest = after.trim_start();
    }
    lines.push(cut(rest, width));
    lines
}

/// The text, within a number of characters.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars()
        .take(width.saturating_sub(1))
        .chain(['…'])
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn printed(print: impl FnOnce(&mut Script<Vec<u8>>)) -> String {
        let mut script = Script::new(Vec::new(), false);
        print(&mut script);
        String::from_utf8(script.output).unwrap()
    }

    #[test]
    fn everything_keeps_to_eighty_columns() {
        let long = json!({ "description": "ä".repeat(300) });
        let text = printed(|script| {
            script.call("claude-code", "create_task", &long);
            script.answer("claude-code", &long);
        });
        assert_eq!(text.lines().count(), 2 * LINES);
        let widths: Vec<_> = text.lines().map(|line| line.chars().count()).collect();
        assert_eq!(widths.iter().max(), Some(&COLUMNS), "{text}");
        assert_eq!(text.matches("…\n").count(), 2, "{text}");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two three", 9), ["one two", "three"]);
        assert_eq!(wrapped("onetwothree four", 6), ["onetwo", "three", "four"]);
        assert_eq!(wrapped("a b c d e", 1), ["a", "b", "…"]);
    }

    #[test]
    fn colours_are_only_for_terminals() {
        let mut script = Script::new(Vec::new(), true);
        script.call("opencode", "get_task", &json!({}));
        let coloured = String::from_utf8(script.output).unwrap();
        let plain = printed(|script| script.call("opencode", "get_task", &json!({})));
        assert_eq!(
            coloured.matches("\u{1b}[").count(),
            4,
            "the name and the call"
        );
        assert!(!plain.contains('\u{1b}'), "{plain}");
    }

    #[test]
    fn what_is_short_is_shown_whole() {
        let text = printed(|script| {
            script.call("opencode", "get_task", &json!({ "task_id": "task-0001" }));
            script.answer(
                "opencode",
                &json!({ "task": { "id": "task-0001", "status": "pending" } }),
            );
        });
        let expected = "opencode     → get_task(task_id: \"task-0001\")\n\
                        opencode     ← task: \"task-0001\", status: \"pending\"\n";
        assert_eq!(text, expected);
    }
}
