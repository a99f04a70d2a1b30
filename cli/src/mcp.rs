//! The Model Context Protocol around the tools of `taintlab_command`: messages of JSON-RPC on standard
//! input and output, one a line.
//!
//! One thread reads, and another calls the tools one after the other, each with all processors. So
//! a call can be cancelled while it is made. The crate `rmcp` would make the program a fifth larger,
//! with an asynchronous runtime for one client; it is the client of the tests.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use serde_json::{Map, Value, json};
use taintlab_command::mcp::{INSTRUCTIONS, TIME_LIMIT};
use taintlab_command::{Reply, Tool, Tools};

/// Versions of the protocol that are spoken, the newest last.
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// Bytes of a message at most.
const LONGEST: u64 = 1_000_000;

const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;
const METHOD_NOT_FOUND: i32 = -32_601;
const INVALID_PARAMS: i32 = -32_602;

/// A call that waits for its turn.
struct Call {
    id: Value,
    name: String,
    arguments: Value,
    cancelled: Arc<AtomicBool>,
}

/// Calls without an answer, by their ids.
type Waiting = Mutex<BTreeMap<String, Arc<AtomicBool>>>;

/// Answers the client until it is gone.
pub(crate) fn serve(tools: &dyn Tools) -> Result<(), String> {
    let waiting = Waiting::default();
    let (sender, calls) = channel();
    thread::scope(|scope| {
        // Its end is the end of the other thread.
        let sender = sender;
        scope.spawn(|| work(tools, &waiting, calls));
        let mut input = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let read = (&mut input).take(LONGEST + 1).read_until(b'\n', &mut line);
            if read.map_err(|error| error.to_string())? == 0 {
                return Ok(());
            }
            if line.len() as u64 > LONGEST {
                return Err(format!("a message has more than {LONGEST} bytes"));
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let Ok(message) = serde_json::from_slice::<Value>(&line) else {
                say(&error(&Value::Null, PARSE_ERROR, "this is not JSON"))?;
                continue;
            };
            if let Some(call) = hear(tools, &waiting, &message)? {
                // The other thread lives as long as this one.
                let _ = sender.send(call);
            }
        }
    })
}

fn say(message: &Value) -> Result<(), String> {
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{message}").and_then(|()| out.flush());
    written.map_err(|error| error.to_string())
}

fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// Answers a message, unless it is a call, which has to wait.
fn hear(tools: &dyn Tools, waiting: &Waiting, message: &Value) -> Result<Option<Call>, String> {
    let (id, method) = (message.get("id"), message.get("method").and_then(Value::as_str));
    let parameter = |name: &str| message.get("params").and_then(|it| it.get(name));
    let (id, method) = match (id, method) {
        (Some(id), Some(method)) if id.is_string() || id.is_i64() || id.is_u64() => (id, method),
        (None, Some(method)) => {
            if let ("notifications/cancelled", Some(id)) = (method, parameter("requestId")) {
                let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(cancelled) = waiting.get(&id.to_string()) {
                    cancelled.store(true, Ordering::Relaxed);
                }
            }
            return Ok(None);
        }
        // An answer: nothing was asked.
        (Some(_), None) if message.get("result").or(message.get("error")).is_some() => {
            return Ok(None);
        }
        _ => {
            let why = "expected a request or a notification of JSON-RPC 2.0";
            return say(&error(&Value::Null, INVALID_REQUEST, why)).map(|()| None);
        }
    };
    let answer = match method {
        "initialize" => {
            let asked = parameter("protocolVersion").and_then(Value::as_str);
            let version = VERSIONS.into_iter().find(|known| asked == Some(known));
            result(
                id,
                &json!({
                    "protocolVersion": version.or(VERSIONS.last().copied()),
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": "taintlab", "version": env!("CARGO_PKG_VERSION") },
                    "instructions": INSTRUCTIONS,
                }),
            )
        }
        "ping" => result(id, &json!({})),
        "tools/list" => {
            let tools: Vec<Value> = tools.list().into_iter().map(described).collect();
            result(id, &json!({ "tools": tools }))
        }
        "tools/call" => match parameter("name").and_then(Value::as_str) {
            Some(name) => {
                let cancelled = Arc::new(AtomicBool::new(false));
                let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
                waiting.insert(id.to_string(), Arc::clone(&cancelled));
                let (id, name) = (id.clone(), name.to_owned());
                let arguments = parameter("arguments").cloned();
                let arguments = arguments.unwrap_or_else(|| Value::Object(Map::new()));
                return Ok(Some(Call { id, name, arguments, cancelled }));
            }
            None => error(id, INVALID_PARAMS, "params.name: expected the name of a tool"),
        },
        method => {
            let known = "there are initialize, ping, tools/list and tools/call";
            error(id, METHOD_NOT_FOUND, &format!("there is no method `{method}`; {known}"))
        }
    };
    say(&answer).map(|()| None)
}

fn described(tool: Tool) -> Value {
    json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.schema,
        "annotations": {
            "title": tool.title,
            "readOnlyHint": true,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": false,
        },
    })
}

/// Makes one call after the other. A cancelled one has no answer.
fn work(tools: &dyn Tools, waiting: &Waiting, calls: Receiver<Call>) {
    for Call { id, name, arguments, cancelled } in calls {
        let begun = Instant::now();
        let stop = || cancelled.load(Ordering::Relaxed) || begun.elapsed() >= TIME_LIMIT;
        let Reply { text, figures } = tools.call(&name, arguments, &stop);
        waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id.to_string());
        if cancelled.load(Ordering::Relaxed) {
            continue;
        }
        let mut answer = json!({
            "content": [{ "type": "text", "text": text }],
            "isError": figures.is_none(),
        });
        if let (Some(fields), Some(figures)) = (answer.as_object_mut(), figures) {
            fields.insert("structuredContent".into(), figures);
        }
        // The reader notices that the client is gone.
        let _ = say(&result(&id, &answer));
    }
}
