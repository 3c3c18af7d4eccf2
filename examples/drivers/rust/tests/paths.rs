use lease::Server;
use serde_json::{json, Value};

#[derive(Default)]
struct Adapter {
    server: Server,
    tokens: [i64; 2],
}

impl Adapter {
    fn take(&mut self, call: &Value) -> Result<(), &'static str> {
        let client = call["arguments"]["client"].as_i64().unwrap_or(0);
        let token = &mut self.tokens[client as usize];
        match call["action"].as_str().unwrap() {
            "grant" => *token = self.server.acquire(client)?,
            "expire" => self.server.expire(),
            "write" => {
                self.server.write(*token)?;
                *token = 0;
            }
            other => panic!("{other} is no action of the server"),
        }
        Ok(())
    }

    fn check(&mut self, model: &Value, refused: &Value, place: &str) {
        for call in refused.as_array().unwrap() {
            // Nobody requests that a lease expires.
            let granted = call["action"] != "expire" && self.take(call).is_ok();
            assert!(
                !granted,
                "{place}: {call} is not enabled in the model, and was not refused"
            );
        }
        let (server, tokens) = (&self.server, &self.tokens);
        let seen = json!({"holder": server.owner, "stored": server.highest, "token": tokens});
        for (name, value) in seen.as_object().unwrap() {
            assert_eq!(value, &model[name], "{place}: {name}");
        }
    }
}

#[test]
fn paths() {
    let text = std::fs::read_to_string("../lease.paths.jsonl").unwrap();
    for line in text.lines().skip(1) {
        let mut path: Value = serde_json::from_str(line).unwrap();
        let (mut adapter, mut model) = (Adapter::default(), path["initial"].take());
        adapter.check(
            &model,
            &path["refused"],
            &format!("path {}, at first", path["path"]),
        );
        for (number, step) in path["steps"].as_array().unwrap().iter().enumerate() {
            let place = format!(
                "path {}, step {}, {}",
                path["path"],
                number + 1,
                step["action"]
            );
            adapter.take(step).expect(&place);
            for (name, value) in step["after"].as_object().unwrap() {
                model[name] = value.clone();
            }
            adapter.check(&model, &step["refused"], &place);
        }
    }
}
