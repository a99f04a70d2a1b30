//! Runs targets with bytes made from numbers, and tells of the input on which one fails.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use arbtest::arbtest;

/// A function that panics if the code under test does something wrong with what the bytes stand for.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name on the command line.
    pub name: &'static str,
    /// The function.
    pub run: fn(&[u8]),
    /// Greatest number of bytes that the search makes.
    pub most_bytes: u32,
    /// Executions in the bounded test: a second or two in a build without optimisation.
    pub bounded: u64,
}

/// The end of a search that finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A number of executions: the same inputs each time.
    Executions(u64),
    /// A time, for each target.
    Time(Duration),
}

/// The result of a search without a failure.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Number of executions.
    pub executions: u64,
    /// The time that they took.
    pub time: Duration,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (executions, seconds) = (self.executions, self.time.as_secs_f64());
        let rate = executions as f64 / seconds.max(1e-9);
        write!(f, "{executions} executions in {seconds:.1} s, {rate:.0} executions/s")
    }
}

/// The longest that one execution may take; more is a hang.
const HANG: u32 = 20;

/// Time in which a failing input is made smaller.
const SHRINKING: Duration = Duration::from_secs(10);

/// Whether targets print their inputs.
static SHOWS: AtomicBool = AtomicBool::new(false);

/// Prints an input in the form in which the code under test gets it, when a failure is replayed.
pub fn show(what: &str, input: &dyn fmt::Debug) {
    if SHOWS.load(Ordering::Relaxed) {
        eprintln!("  {what}: {input:?}");
    }
}

/// Runs a target once, with its input printed.
pub fn replay(target: &Target, data: &[u8]) {
    SHOWS.store(true, Ordering::Relaxed);
    (target.run)(data);
    SHOWS.store(false, Ordering::Relaxed);
}

/// Bytes as the option `--replay` takes them.
fn hex(data: &[u8]) -> String {
    data.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The seed of an execution, in the form of arbtest: the number of bytes in the lower half. Most
/// inputs are short, since a change more is mostly one more that goes wrong.
fn seed_of(seed: u64, number: u64, most_bytes: u32) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let most = most_bytes >> (z % 4);
    // A xorshift that begins with nothing stays there.
    (z | 1 << 32) & !0xffff_ffff | u64::from(((z >> 8) as u32 & 0xff_ffff) % most.max(1))
}

/// Runs a target with the bytes of a seed.
fn execute(target: &Target, seed: u64) {
    arbtest(|bytes| {
        (target.run)(bytes.bytes(bytes.len())?);
        Ok(())
    })
    .seed(seed)
    .run();
}

/// The smallest failing input that is found from a failing seed within [`SHRINKING`].
fn shrunk(target: &Target, seed: u64) -> Vec<u8> {
    let mut smallest: Option<Vec<u8>> = None;
    let property = |bytes: &mut arbtest::arbitrary::Unstructured<'_>| {
        let data = bytes.bytes(bytes.len())?;
        if let Err(failure) = catch_unwind(|| (target.run)(data)) {
            smallest = Some(data.to_vec());
            std::panic::resume_unwind(failure);
        }
        Ok(())
    };
    let minimize = || arbtest(property).seed(seed).minimize().budget(SHRINKING).run();
    // A failure that does not come again says so.
    let _ = catch_unwind(AssertUnwindSafe(minimize));
    smallest.unwrap_or_default()
}

/// Ends the process if an execution takes too long, and tells of its input first.
struct Watchdog {
    seed: Arc<AtomicU64>,
    number: Arc<AtomicU64>,
    _end: mpsc::Sender<()>,
}

impl Watchdog {
    fn new(target: Target) -> Self {
        let (seed, number) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let (end, ended) = mpsc::channel::<()>();
        let (its_seed, its_number) = (seed.clone(), number.clone());
        thread::spawn(move || {
            let (mut known, mut seconds) = (0, 0);
            // The channel closes with the search.
            while ended.recv_timeout(Duration::from_secs(1)) == Err(mpsc::RecvTimeoutError::Timeout)
            {
                let now = its_number.load(Ordering::Relaxed);
                seconds = if now == known { seconds + 1 } else { 0 };
                known = now;
                if seconds >= HANG {
                    tell_of_hang(target, its_seed.load(Ordering::Relaxed));
                }
            }
        });
        Self { seed, number, _end: end }
    }
}

fn tell_of_hang(target: Target, seed: u64) -> ! {
    eprintln!("{}: an execution takes more than {HANG} s; its input:", target.name);
    SHOWS.store(true, Ordering::Relaxed);
    let again = thread::spawn(move || {
        arbtest(|bytes| {
            let data = bytes.bytes(bytes.len())?;
            eprintln!("  replay: cargo xtask fuzz --target {} --replay {}", target.name, hex(data));
            (target.run)(data);
            Ok(())
        })
        .seed(seed)
        .run();
    });
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(2) && !again.is_finished() {
        thread::yield_now();
    }
    process::exit(2);
}

/// Runs a target until it fails or the limit is reached.
///
/// # Errors
/// The target fails: the panic. The input is printed before.
pub fn search(target: &Target, seed: u64, limit: Limit) -> Result<Found, Box<dyn Any + Send>> {
    let watchdog = Watchdog::new(*target);
    let begin = Instant::now();
    let mut executions = 0;
    loop {
        let goes_on = match limit {
            Limit::Executions(most) => executions < most,
            // The clock is asked now and then only: cheap targets take less time than that.
            Limit::Time(time) => executions % 64 != 0 || begin.elapsed() < time,
        };
        if !goes_on {
            return Ok(Found { executions, time: begin.elapsed() });
        }
        let number = seed_of(seed, executions, target.most_bytes);
        watchdog.seed.store(number, Ordering::Relaxed);
        watchdog.number.store(executions + 1, Ordering::Relaxed);
        if let Err(failure) = catch_unwind(|| execute(target, number)) {
            tell_of_failure(target, seed, executions, number);
            return Err(failure);
        }
        executions += 1;
    }
}

fn tell_of_failure(target: &Target, seed: u64, execution: u64, number: u64) {
    let name = target.name;
    eprintln!("{name}: execution {execution} of seed {seed} fails; making it smaller");
    let data = shrunk(target, number);
    eprintln!("{name}: the smallest input found has {} bytes:", data.len());
    let hook = take_hook();
    set_hook(Box::new(|_| ()));
    let _ = catch_unwind(|| replay(target, &data));
    SHOWS.store(false, Ordering::Relaxed);
    set_hook(hook);
    eprintln!("  replay: cargo xtask fuzz --target {name} --replay {}", hex(&data));
}
