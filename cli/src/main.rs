//! The command `taintlab`: files, a terminal and `kubectl` around `taintlab_command`.

mod mcp;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio, exit};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mimalloc::MiMalloc;
use taintlab_command::reading::{LARGE, LIMIT, announcement, too_large};
use taintlab_command::{FAILED, Host, OK, Printed, Program, Tools, run};
use taintlab_words::Style;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// This machine.
struct Machine {
    style: Style,
    /// Whether runs are being made, which Ctrl+C keeps.
    making: Arc<AtomicBool>,
    interrupted: Arc<AtomicBool>,
    bar: Mutex<Option<ProgressBar>>,
}

/// Error of the operating system, in words.
fn system_text(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "permission denied".into(),
        ErrorKind::IsADirectory => "this is a folder".into(),
        ErrorKind::NotFound => "no such file".into(),
        ErrorKind::StorageFull => "no space left on the device".into(),
        _ => error.to_string(),
    }
}

/// Reads all of a stream, and says so if it is much.
fn read_all(file: &str, mut stream: impl Read, size: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    let mut told = false;
    let mut tell = |length: u64| {
        if !told && length >= LARGE {
            told = true;
            eprintln!("{}", announcement(file, length));
        }
    };
    tell(size);
    loop {
        let read = (&mut stream).take(1 << 20).read_to_end(&mut bytes);
        let read = read.map_err(|error| system_text(&error))?;
        let length = bytes.len() as u64;
        if length > LIMIT {
            return Err(too_large(None));
        }
        tell(length);
        if read == 0 {
            return Ok(bytes);
        }
    }
}

impl Host for Machine {
    fn read(&self, file: &str) -> Result<Vec<u8>, String> {
        if file == "-" {
            return read_all(file, io::stdin().lock(), 0);
        }
        let open = File::open(file).map_err(|error| system_text(&error))?;
        let size = open.metadata().map_or(0, |metadata| metadata.len());
        if size > LIMIT {
            return Err(too_large(Some(size)));
        }
        read_all(file, open, size)
    }

    fn write(&self, file: &str, text: &str) -> Result<(), String> {
        if let Some(folder) = Path::new(file).parent() {
            std::fs::create_dir_all(folder)
                .map_err(|error| format!("the folder cannot be made: {}", system_text(&error)))?;
        }
        std::fs::write(file, text).map_err(|error| system_text(&error))
    }

    fn out(&self, text: &str) {
        let mut out = io::stdout().lock();
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // A reader such as `head` may go before all is written.
            if error.kind() == ErrorKind::BrokenPipe {
                exit(OK.into());
            }
            self.err(&format!(
                "error: standard output cannot be written: {}\n",
                system_text(&error)
            ));
            exit(FAILED.into());
        }
    }

    fn err(&self, text: &str) {
        // Nobody is left to be told.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    fn kubectl(&self, arguments: &[String]) -> Result<Printed, String> {
        let program = std::env::var("KUBECTL").ok().filter(|name| !name.is_empty());
        let program = program.unwrap_or_else(|| "kubectl".into());
        let cannot = |error: &io::Error| {
            let why = match error.kind() {
                ErrorKind::NotFound => "there is no such program on PATH".into(),
                _ => system_text(error),
            };
            format!("`{program}` cannot be run: {why}")
        };
        let mut child = Command::new(&program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| cannot(&error))?;
        let mut stderr = child.stderr.take();
        let said = thread::spawn(move || {
            let mut text = Vec::new();
            if let Some(stderr) = &mut stderr {
                let _ = stderr.read_to_end(&mut text);
            }
            String::from_utf8_lossy(&text).into_owned()
        });
        let mut stdout = Vec::new();
        if let Some(stream) = &mut child.stdout {
            let read = stream.take(LIMIT + 1).read_to_end(&mut stdout);
            read.map_err(|error| cannot(&error))?;
        }
        if stdout.len() as u64 > LIMIT {
            let _ = child.kill();
            let what = arguments.get(1).map_or("kubectl", String::as_str);
            return Err(format!("{what}: kubectl prints more than {} MB", LIMIT / 1_000_000));
        }
        let status = child.wait().map_err(|error| cannot(&error))?;
        let stderr = said.join().unwrap_or_default();
        let stdout = String::from_utf8_lossy(&stdout).into_owned();
        Ok(Printed { stdout, stderr, ok: status.success() })
    }

    fn style(&self) -> Style {
        self.style
    }

    fn cores(&self) -> usize {
        thread::available_parallelism().map_or(1, NonZero::get)
    }

    fn progress(&self, runs: Option<(usize, usize)>) {
        self.making.store(runs.is_some(), Ordering::Relaxed);
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((done, planned)) = runs else {
            if let Some(bar) = bar.take() {
                bar.finish_and_clear();
            }
            return;
        };
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:30} {pos} of {len} runs");
            bar.set_style(
                style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("█░"),
            );
            bar
        });
        bar.set_length(planned as u64);
        bar.set_position(done as u64);
    }

    fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn serve(&self, tools: Arc<dyn Tools>) -> Result<(), String> {
        mcp::serve(&*tools)
    }
}

/// Whether standard output is a terminal that shows colours.
fn style() -> Style {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let colours = io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb;
    if colours { Style::Ansi } else { Style::Plain }
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let name = arguments.first().map(|name| name.to_string_lossy().into_owned());
    let program = Program::named(&name.unwrap_or_default());
    let (making, interrupted) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (makes, asked) = (Arc::clone(&making), Arc::clone(&interrupted));
    // Runs that are done are kept the first time; nobody waits for anything else.
    let set = ctrlc::set_handler(move || {
        if !makes.load(Ordering::Relaxed) || asked.swap(true, Ordering::Relaxed) {
            exit(130);
        }
    });
    drop(set);
    let machine = Machine { style: style(), making, interrupted, bar: Mutex::new(None) };
    ExitCode::from(run(&machine, program, arguments))
}
