//! The world, as far as the command needs it.

use std::sync::Arc;

use serde_json::{Map, Value};
use taintlab_words::Style;

/// Output of a run of `kubectl`.
#[derive(Clone, Debug, Default)]
pub struct Printed {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Whether its exit code was 0.
    pub ok: bool,
}

/// The world: files, a terminal, `kubectl`. Threads share it.
pub trait Host: Sync {
    /// The bytes of a file; `-` is standard input. At most [`LIMIT`](crate::reading::LIMIT) bytes
    /// are read.
    ///
    /// # Errors
    /// The reason, in words: `no such file`.
    fn read(&self, file: &str) -> Result<Vec<u8>, String>;

    /// Writes a file, and makes its folder if there is none.
    ///
    /// # Errors
    /// The reason, in words.
    fn write(&self, file: &str, text: &str) -> Result<(), String>;

    /// Writes to standard output. A host whose reader is gone ends the program.
    fn out(&self, text: &str);

    /// Writes to standard error.
    fn err(&self, text: &str);

    /// Runs `kubectl` with these arguments.
    ///
    /// # Errors
    /// It cannot be run, or prints more than [`LIMIT`](crate::reading::LIMIT): why, in words.
    fn kubectl(&self, arguments: &[String]) -> Result<Printed, String>;

    /// Style of standard output.
    fn style(&self) -> Style;

    /// Number of processors.
    fn cores(&self) -> usize;

    /// Shows how many of the planned runs are done; `None` ends the display.
    fn progress(&self, runs: Option<(usize, usize)>);

    /// Whether the user asked to stop.
    fn interrupted(&self) -> bool;

    /// Answers a client of the Model Context Protocol on standard input and output until it is gone.
    ///
    /// # Errors
    /// The client does not speak the protocol, or the streams fail: why, in words.
    fn serve(&self, tools: Arc<dyn Tools>) -> Result<(), String>;
}

/// A tool as a client lists it.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Its name for a reader.
    pub title: &'static str,
    /// What it answers, for a model.
    pub description: &'static str,
    /// JSON Schema of its arguments.
    pub schema: Map<String, Value>,
}

/// The answer of a tool.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The answer in words.
    pub text: String,
    /// The figures; `None` if there is no answer.
    pub figures: Option<Value>,
}

/// The tools of a server of the Model Context Protocol.
pub trait Tools: Send + Sync {
    /// All of them.
    fn list(&self) -> Vec<Tool>;

    /// Calls one. `stop` says whether the call is broken off: by its client, or at the
    /// [limit](crate::mcp::TIME_LIMIT). Without figures the reply is an error, in words.
    fn call(&self, name: &str, arguments: Value, stop: &(dyn Fn() -> bool + Sync)) -> Reply;
}
