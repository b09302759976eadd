//! Files of all kinds, said something more.

use serde_json::json;

use super::*;

fn server(path: &[&str]) -> Setting {
    let value = Setting::Value(json!("/bin/x"));
    Setting::Object(vec![("command".to_owned(), value)]).below(path)
}

fn merged(format: Format, text: &str) -> Result<Option<String>, Broken> {
    let list = if format == Format::Toml {
        "mcp_servers"
    } else {
        "mcpServers"
    };
    format.merged(text, &server(&[list, "ai-coord"]))
}

#[track_caller]
fn check(format: Format, before: &str, after: &str) {
    assert_eq!(
        merged(format, before),
        Ok(Some(after.to_owned())),
        "{before}"
    );
    assert_eq!(merged(format, after), Ok(None), "{after}");
}

#[test]
fn json_grows_and_keeps_its_form() {
    let format = Format::JsonWithComments;
    check(
        format,
        "{\n\t// mine\n\t\"mcpServers\" : {\n\t\t\"b\":{\"command\":\"y\",}, // why\n\t},\n\t\"n\": 1.0e3\n}",
        "{\n\t// mine\n\t\"mcpServers\" : {\n\t\t\"b\":{\"command\":\"y\",}, // why\n\t\t\"ai-coord\": {\n\t\t\t\"command\": \"/bin/x\",\n\t\t},\n\t},\n\t\"n\": 1.0e3\n}",
    );
    check(
        format,
        "\u{feff}{\r\n  \"a\": 1\r\n}\r\n",
        "\u{feff}{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n    \"ai-coord\": {\r\n      \"command\": \"/bin/x\"\r\n    }\r\n  }\r\n}\r\n",
    );
    check(
        format,
        "// nothing yet\n",
        "// nothing yet\n{\n  \"mcpServers\": {\n    \"ai-coord\": {\n      \"command\": \"/bin/x\"\n    }\n  }\n}\n",
    );
    check(
        format,
        "{\"mcpServers\": {\"ai-coord\": {\"command\": /* old */ \"/bin/old\" , \"env\": {\"A\": \"1\"}}}}",
        "{\"mcpServers\": {\"ai-coord\": {\"command\": /* old */ \"/bin/x\" , \"env\": {\"A\": \"1\"}}}}",
    );
}

#[test]
fn what_stands_in_a_line_stays_in_it() {
    let format = Format::Json;
    for (before, after) in [
        (
            r#"{"a":1}"#,
            r#"{"a":1, "mcpServers": {"ai-coord":{"command":"/bin/x"}}}"#,
        ),
        (
            r#"{"mcpServers":{}, "a" : 1}"#,
            r#"{"mcpServers":{"ai-coord": {"command":"/bin/x"}}, "a" : 1}"#,
        ),
        (
            "{\n  \"mcpServers\": { \"b\": {} }\n}",
            "{\n  \"mcpServers\": { \"b\": {}, \"ai-coord\": {\"command\":\"/bin/x\"} }\n}",
        ),
        (
            "{\n  \"mcpServers\": {}\n}",
            "{\n  \"mcpServers\": {\n    \"ai-coord\": {\n      \"command\": \"/bin/x\"\n    }\n  }\n}",
        ),
    ] {
        check(format, before, after);
    }
}

#[test]
fn toml_grows_and_keeps_its_form() {
    let format = Format::Toml;
    check(
        format,
        "model=\"m\" # mine\n[mcp_servers.b]\ncommand = 'y'\n\n# the end",
        "model=\"m\" # mine\n[mcp_servers.b]\ncommand = 'y'\n\n# the end\n\n[mcp_servers.ai-coord]\ncommand = \"/bin/x\"\n",
    );
    check(
        format,
        "[mcp_servers.ai-coord]\r\ncommand   = 'old'   # mine\r\nenv.A = '1'\r\n[z]\r\n",
        "[mcp_servers.ai-coord]\r\ncommand   = \"/bin/x\"   # mine\r\nenv.A = '1'\r\n[z]\r\n",
    );
    check(
        format,
        "mcp_servers = { b = { command = 'y' } } # one line\n[z]\n",
        "mcp_servers = { b = { command = 'y' } , ai-coord = { command = \"/bin/x\" } } # one line\n[z]\n",
    );
    check(
        format,
        "[mcp_servers.ai-coord]\nenabled = true\n\n# next\n[z]\n",
        "[mcp_servers.ai-coord]\nenabled = true\ncommand = \"/bin/x\"\n\n# next\n[z]\n",
    );
}

#[test]
fn what_cannot_be_read_is_refused_by_line() {
    for (format, text, expected) in [
        (Format::Json, "{\n  \"a\": 1,\n  b\n}", 3),
        (Format::Json, "{\n  // no comments here\n}", 2),
        (Format::Json, "{\n  \"a\": [1,\n  ]\n}", 3),
        (Format::JsonWithComments, "{\n  \"a\": 1\n  \"b\": 2\n}", 2),
        (Format::Toml, "a = 1\n[b\n", 2),
        (Format::Toml, "a = 1\na = 2\n", 2),
    ] {
        match merged(format, text) {
            Err(Broken::Syntax { line, .. }) => assert_eq!(line, expected, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn what_is_something_else_is_refused_by_name() {
    for (format, text, expected) in [
        (Format::Json, "[]", "the whole file"),
        (Format::Json, "{\"mcpServers\": []}", "mcpServers"),
        (
            Format::Json,
            "{\"mcpServers\": {\"ai-coord\": null}}",
            "mcpServers.ai-coord",
        ),
        (Format::Toml, "mcp_servers = 1", "mcp_servers"),
    ] {
        match merged(format, text) {
            Err(Broken::Mismatch { place, .. }) => assert_eq!(place, expected, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    for (format, text) in [
        (Format::Json, "{\"mcpServers\": {}, \"mcpServers\": {}}"),
        (Format::Toml, "a = 1\r\nb = 2\n"),
    ] {
        assert_eq!(merged(format, text), Err(Broken::Entangled), "{text:?}");
    }
}
