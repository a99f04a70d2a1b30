//! Asks the policy as Kubewarden does, by waPC, and compares its answers with those expected:
//!   taintlab-tolerations-host MODULE REVIEWS
//! REVIEWS is a folder with `cases.json`, and the AdmissionReviews that it names.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use wapc::WapcHost;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = arguments.as_slice() else { bail!("expected a module and a folder") };
    let module = fs::read(module)?;
    let engine = wasmtime_provider::WasmtimeEngineProviderBuilder::new().module_bytes(&module);
    // The policy asks its host for nothing.
    let asks = |_, _: &str, _: &str, operation: &str, _: &[u8]| {
        Err(format!("the policy asked for `{operation}`").into())
    };
    let host = WapcHost::new(Box::new(engine.build()?), Some(Box::new(asks)))?;
    let call = |operation: &str, payload: &[u8]| -> Result<Value> {
        let answer = host.call(operation, payload).context(operation.to_owned())?;
        Ok(serde_json::from_slice(&answer)?)
    };
    ensure!(call("protocol_version", b"")? == "v1");
    ensure!(call("jump", b"").is_err(), "an unknown operation must be refused");
    let mut failed = 0;
    let cases = read(folder, "cases.json")?;
    let cases = cases.as_array().context("cases.json: expected a list")?;
    for case in cases {
        let (operation, payload) = match case.get("review").and_then(Value::as_str) {
            None => ("validate_settings", case["settings"].clone()),
            Some(review) => {
                let request = read(folder, review)?["request"].take();
                ("validate", json!({"settings": case["settings"], "request": request}))
            }
        };
        let answer = call(operation, payload.to_string().as_bytes())?;
        if answer != case["answer"] {
            failed += 1;
            eprintln!("{}\n  expected {}\n  got      {answer}", case["name"], case["answer"]);
        }
    }
    let passed = cases.len() - failed;
    let outcome = if failed == 0 { "ok" } else { "FAILED" };
    println!("test result: {outcome}. {passed} passed; {failed} failed");
    ensure!(failed == 0 && passed > 0);
    Ok(())
}

fn read(folder: &str, name: &str) -> Result<Value> {
    let path = Path::new(folder).join(name);
    let text = fs::read(&path).with_context(|| path.display().to_string())?;
    Ok(serde_json::from_slice(&text)?)
}
