//! The world, as far as the command needs it.

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

    /// Writes a file.
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
}
