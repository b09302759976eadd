//! The queue as things to read and to subscribe to, in both revisions, and the prompts.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    agent::Place,
    child::{Server, modern, request, text},
};

const LEGACY: &str = "2025-11-25";

fn server(place: &Place) -> Server {
    Server::spawn(&mut place.command().into_std())
}

fn legacy(place: &Place) -> Server {
    let mut server = server(place);
    server.initialize(LEGACY);
    server
}

fn create(server: &mut Server) {
    let result = server.call("create_task", &json!({"title": "t", "description": "d"}));
    assert!(result["isError"] != true, "{result}");
}

/// The content of a resource.
fn read(server: &mut Server, uri: &str) -> Value {
    let answer = server.request(&json!("read"), "resources/read", &json!({"uri": uri}));
    let contents = &answer["result"]["contents"];
    assert_eq!(contents.as_array().map(Vec::len), Some(1), "{answer}");
    assert_eq!(contents[0]["uri"], uri);
    assert_eq!(contents[0]["mimeType"], "application/json");
    serde_json::from_str(contents[0]["text"].as_str().unwrap()).unwrap()
}

/// The notifications of this method, up to one that satisfies.
fn wait_for(server: &mut Server, method: &str, uri: &str) -> Value {
    loop {
        let message = server.message().expect("the server goes on");
        if message["method"] == method && message["params"]["uri"] == uri {
            return message;
        }
    }
}

#[test]
fn the_queue_can_be_listed_and_read_as_the_tools_show_it() {
    let place = Place::new();
    let mut server = legacy(&place);
    assert!(!place.path().exists(), "nothing is made for a look");
    create(&mut server);
    let list = server.request(&json!(1), "resources/list", &json!({}));
    let uris: Vec<_> = list["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["uri"].as_str().unwrap())
        .collect();
    assert_eq!(uris, ["coord://tasks", "coord://tasks/task-0001"]);
    let templates = server.request(&json!(2), "resources/templates/list", &json!({}));
    let templates = templates["result"]["resourceTemplates"].as_array().unwrap();
    assert_eq!(templates.len(), 3);

    let on = json!({"task_id": "task-0001"});
    let post = json!({"task_id": "task-0001", "content": "hello"});
    server.call("post_message", &post);
    for (uri, tool, arguments) in [
        ("coord://tasks", "list_tasks", json!({})),
        ("coord://tasks/task-0001", "get_task", on.clone()),
        (
            "coord://tasks/task-0001/messages",
            "get_messages",
            on.clone(),
        ),
        (
            "coord://tasks/task-0001/progress",
            "get_progress",
            on.clone(),
        ),
    ] {
        let mut shown = server.call(tool, &arguments)["structuredContent"].take();
        let mut content = read(&mut server, uri);
        for value in [&mut shown, &mut content] {
            // It goes on growing.
            for growing in ["/task/idleSeconds", "/tasks/0/idleSeconds"] {
                value.pointer_mut(growing).map(Value::take);
            }
        }
        assert_eq!(content, shown, "{uri}");
    }
}

#[test]
fn what_is_no_resource_is_named() {
    let place = Place::new();
    let mut server = legacy(&place);
    create(&mut server);
    for uri in [
        "coord://tasks/task-0099",
        "coord://task-0001",
        "file:///etc/passwd",
    ] {
        let params = json!({"uri": uri});
        for method in ["resources/read", "resources/subscribe"] {
            let answer = server.request(&json!(uri), method, &params);
            let said = answer["error"]["message"].as_str().unwrap();
            assert!(said.contains("task-0099") || said.contains(uri), "{said}");
        }
    }
    let wrong = server.request(&json!(1), "resources/list", &json!({"cursor": "x"}));
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    create(&mut server);
}

#[test]
fn long_lists_come_in_pages() {
    let place = Place::new();
    let mut server = legacy(&place);
    for _ in 0..120 {
        create(&mut server);
    }
    let mut uris = Vec::new();
    let mut params = json!({});
    loop {
        let page = server.request(&json!(1), "resources/list", &params);
        let resources = page["result"]["resources"].as_array().unwrap();
        uris.extend(resources.iter().map(|it| it["uri"].to_string()));
        match page["result"].get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => break,
        }
    }
    uris.dedup();
    assert_eq!(uris.len(), 121);
}

#[test]
fn a_subscriber_of_an_older_revision_is_told_of_changes_by_others() {
    let place = Place::new();
    let mut other = legacy(&place);
    create(&mut other);
    create(&mut other);
    let mut server = legacy(&place);
    for uri in [
        "coord://tasks/task-0001",
        "coord://tasks/task-0002/messages",
    ] {
        let answer = server.request(&json!(uri), "resources/subscribe", &json!({"uri": uri}));
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    let method = "notifications/resources/updated";
    for round in 0..3 {
        other.call(
            "post_message",
            &json!({"task_id": "task-0002", "content": "a"}),
        );
        let started = Instant::now();
        wait_for(&mut server, method, "coord://tasks/task-0002/messages");
        assert!(started.elapsed() < Duration::from_secs(5), "{round}");
    }
    other.call("cancel_task", &json!({"task_id": "task-0001"}));
    wait_for(&mut server, method, "coord://tasks/task-0001");

    let gone = json!({"uri": "coord://tasks/task-0001"});
    server.request(&json!(1), "resources/unsubscribe", &gone);
    other.call("reopen_task", &json!({"task_id": "task-0001"}));
    // What is told next is of the other one.
    other.call(
        "post_message",
        &json!({"task_id": "task-0002", "content": "b"}),
    );
    let told = server.message().unwrap();
    assert_eq!(told["params"]["uri"], "coord://tasks/task-0002/messages");
}

#[test]
fn a_listener_gets_its_acknowledgment_first_and_its_own_id_on_everything() {
    for id in [json!("my subscription"), json!(0), json!(-7)] {
        let place = Place::new();
        let mut other = legacy(&place);
        create(&mut other);
        let mut server = server(&place);
        let filter = json!({"notifications": {"resourceSubscriptions": [
            "coord://tasks", "coord://tasks/task-0001", "file:///etc/passwd"
        ]}});
        server.send(&request(&id, "subscriptions/listen", &modern(filter)));
        let first = server.message().unwrap();
        assert_eq!(
            first["method"], "notifications/subscriptions/acknowledged",
            "{first}"
        );
        let accepted = &first["params"]["notifications"]["resourceSubscriptions"];
        assert_eq!(
            *accepted,
            json!(["coord://tasks", "coord://tasks/task-0001"])
        );
        let key = "io.modelcontextprotocol/subscriptionId";
        assert_eq!(first["params"]["_meta"][key], id);

        // Each once at the beginning, then with each change.
        let told = |server: &mut Server| {
            let told = server.message().unwrap();
            assert_eq!(told["method"], "notifications/resources/updated", "{told}");
            assert_eq!(told["params"]["_meta"][key], id);
            told["params"]["uri"].as_str().unwrap().to_owned()
        };
        let mut all = vec![told(&mut server), told(&mut server)];
        all.sort();
        assert_eq!(all, ["coord://tasks", "coord://tasks/task-0001"]);
        for tool in ["cancel_task", "reopen_task", "cancel_task"] {
            other.call(tool, &json!({"task_id": "task-0001"}));
            let mut all = vec![told(&mut server), told(&mut server)];
            all.sort();
            assert_eq!(all, ["coord://tasks", "coord://tasks/task-0001"], "{tool}");
        }

        // The end of the conversation ends it, with an answer.
        server.close_input();
        let rest = server.rest();
        let last = rest.last().unwrap();
        assert_eq!(last["id"], id, "{rest:?}");
        assert_eq!(last["result"]["_meta"][key], id, "{last}");
    }
}

#[test]
fn a_listener_that_is_cancelled_hears_nothing_more() {
    let place = Place::new();
    let mut other = legacy(&place);
    create(&mut other);
    let mut server = server(&place);
    let filter = json!({"notifications": {"resourceSubscriptions": ["coord://tasks/task-0001"]}});
    server.send(&request(&json!(5), "subscriptions/listen", &modern(filter)));
    for method in [
        "notifications/subscriptions/acknowledged",
        "notifications/resources/updated",
    ] {
        assert_eq!(server.message().unwrap()["method"], method);
    }
    server.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}),
    );
    // Answered behind it, so it has been read.
    let list = modern(json!({}));
    server.request(&json!(6), "tools/list", &list);
    other.call("cancel_task", &json!({"task_id": "task-0001"}));
    server.request(&json!(7), "tools/list", &list);
    server.close_input();
    assert_eq!(server.rest(), Vec::<Value>::new());
}

#[test]
fn prompts_are_listed_and_filled_in() {
    let place = Place::new();
    let mut server = legacy(&place);
    let list = server.request(&json!(1), "prompts/list", &json!({}));
    let names: Vec<_> = list["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["coordinate", "implement"]);
    let get =
        |server: &mut Server, params: Value| server.request(&json!(2), "prompts/get", &params);
    let plain = get(&mut server, json!({"name": "implement"}));
    let said = |answer: &Value| {
        assert_eq!(answer["result"]["messages"][0]["role"], "user", "{answer}");
        text(&json!({"content": [answer["result"]["messages"][0]["content"]]})).to_owned()
    };
    assert!(said(&plain).contains("claim_next_task"));
    let params = json!({"name": "coordinate", "arguments": {"goal": "a parser"}});
    assert!(said(&get(&mut server, params)).contains("The goal: a parser"));
    for arguments in [json!({"goal": 5}), json!({"goal": "x".repeat(5_000)})] {
        let params = json!({"name": "coordinate", "arguments": arguments});
        assert_eq!(get(&mut server, params)["error"]["code"], -32602);
    }
    let wrong = get(&mut server, json!({"name": "implment"}));
    let message = wrong["error"]["message"].as_str().unwrap();
    assert!(message.contains("did you mean implement?"), "{message}");
}

#[test]
fn both_revisions_are_told_what_they_have_to_be() {
    let place = Place::new();
    let mut server = server(&place);
    let modern = |params: Value| modern(params);
    for (method, params) in [
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("prompts/list", json!({})),
    ] {
        let answer = server.request(&json!(1), method, &modern(params));
        let result = &answer["result"];
        assert_eq!(result["resultType"], "complete", "{method}: {answer}");
        assert!(result["ttlMs"].is_number(), "{method}: {answer}");
        let name = &result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"];
        assert_eq!(name, "ai-coord", "{method}: {answer}");
    }
    let subscribe = json!({"uri": "coord://tasks"});
    let answer = server.request(&json!(2), "resources/subscribe", &modern(subscribe));
    assert_eq!(answer["error"]["code"], -32601, "it is of the older ones");
    let hello = server.initialize(LEGACY);
    let capabilities = &hello["result"]["capabilities"];
    assert_eq!(
        capabilities["resources"],
        json!({"subscribe": true}),
        "{hello}"
    );
    assert!(capabilities["prompts"].is_object(), "{hello}");
    let listen = json!({"notifications": {}});
    let answer = server.request(&json!(3), "subscriptions/listen", &listen);
    assert_eq!(answer["error"]["code"], -32601, "it is of the newer one");
}
