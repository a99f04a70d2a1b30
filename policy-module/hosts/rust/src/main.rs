//! Asks the policy module: `taintlab-policy-host MODULE REQUESTS`.

use std::error::Error;
use std::{env, fs};

use serde_json::Value;
use taintlab_policy_host::Policy;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let mut next = || arguments.next().ok_or("usage: taintlab-policy-host MODULE REQUESTS");
    let mut policy = Policy::new(&fs::read(next()?)?)?;
    let requests = fs::read_to_string(next()?)?;
    for line in requests.lines() {
        let case: Value = serde_json::from_str(line)?;
        let request = case["request"].as_str().unwrap_or_default();
        let answer = String::from_utf8(policy.ask(request.as_bytes(), 0)?)?;
        assert_eq!(case["answer"], answer.as_str(), "{request}");
    }
    // What is wrong is an answer, never a trap.
    for (request, limit) in [(&b"\xff"[..], 0), (b"{}", 1), (b"", 0)] {
        let answer = policy.ask(request, limit)?;
        assert!(answer.starts_with(br#"{"ok":false,"errors":[{"code":"invalidRequest""#));
    }
    println!("Rust: {} answers, the same bytes", requests.lines().count());
    Ok(())
}
