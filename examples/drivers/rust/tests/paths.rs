use lease::Server;
use serde_json::{json, Value};

#[test]
fn paths() {
    let text = std::fs::read_to_string("../lease.paths.jsonl").unwrap();
    for line in text.lines().skip(1) {
        let path: Value = serde_json::from_str(line).unwrap();
        let (mut server, mut tokens) = (Server::default(), [0; 2]);
        let mut model = path["initial"].clone();
        // The first line of a path is its initial state, without an action.
        for step in std::iter::once(&path).chain(path["steps"].as_array().unwrap()) {
            let place = format!("path {}, {}", path["path"], step["action"]);
            take(&mut server, &mut tokens, step).expect(&place);
            for call in step["refused"].as_array().unwrap() {
                // Nobody requests that a lease expires.
                if call["action"] != "expire" && take(&mut server, &mut tokens, call).is_ok() {
                    panic!("{place}: {call} is not enabled in the model, and was not refused");
                }
            }
            for (name, value) in step["after"].as_object().into_iter().flatten() {
                model[name] = value.clone();
            }
            let seen = json!({"holder": server.owner, "stored": server.highest, "token": tokens});
            for (name, value) in seen.as_object().unwrap() {
                assert_eq!(value, &model[name], "{place}: {name}");
            }
        }
    }
}

fn take(server: &mut Server, tokens: &mut [i64; 2], call: &Value) -> Result<(), &'static str> {
    let client = call["arguments"]["client"].as_i64().unwrap_or(0);
    let token = &mut tokens[client as usize];
    match call["action"].as_str() {
        Some("grant") => *token = server.acquire(client)?,
        Some("write") => {
            server.write(*token)?;
            *token = 0;
        }
        Some("expire") => server.expire(),
        _ => {}
    }
    Ok(())
}
