//! Times a function and prints the result beside what Kubernetes' own Go code takes.
//!
//! A benchmark library would time as well, but none lets its results stand beside figures from
//! elsewhere.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long one sample takes at least.
const SAMPLE: Duration = Duration::from_millis(50);
/// How many samples are taken; the median counts.
const SAMPLES: usize = 9;

/// What Kubernetes 1.20.2 takes, unmodified, `go test -bench`, the median of three, on two cores of an Intel
/// Xeon: nanoseconds per operation with Go 1.19.8 and with Go 1.27.3. Machines differ, so the
/// ratio is one of orders.
const GO: &[(&str, f64, f64)] = &[
    ("ComputeZoneState_5000", 4_378.0, 4_003.0),
    ("GetMatchingTolerations_3x5", 453.0, 448.0),
    ("GetMatchingTolerations_3x5_MinTime", 456.0, 447.0),
    ("HandleNodeUpdate_110pods/already_scheduled", 88_284.0, 50_271.0),
    ("HandleNodeUpdate_110pods/taint_then_untaint", 250_828.0, 168_248.0),
    ("MonitorNodeHealth_5000nodes/healthy_no_change_0pods", 29_071_071.0, 28_250_880.0),
    ("MonitorNodeHealth_5000nodes/healthy_no_change_30pods", 58_425_929.0, 66_677_968.0),
    ("MonitorNodeHealth_5000nodes/leases_renewed_0pods", 29_780_068.0, 26_119_415.0),
    ("MonitorNodeHealth_5000nodes/leases_renewed_30pods", 60_442_611.0, 72_065_263.0),
    ("ProcessPodOnNode/already_scheduled", 534.0, 514.0),
    ("ProcessPodOnNode/schedule_distinct_150k", 2_074.0, 1_614.0),
    ("ProcessPodOnNode/schedule_then_cancel", 1_557.0, 1_634.0),
    ("ProcessPodOnNode/tolerates_forever", 638.0, 641.0),
    ("TimedWorkerQueue_150k/add_all_cancel_all_per_entry", 1_472.0, 1_416.0),
    ("TimedWorkerQueue_150k/add_cancel_with_150k_pending", 999.0, 803.0),
];

/// Runs benchmarks whose names contain one of the arguments of the program; all if there are none.
pub struct Harness {
    filters: Vec<String>,
}

impl Harness {
    /// Reads the arguments and prints the heading.
    #[must_use]
    pub fn from_args() -> Self {
        // Cargo adds `--bench`.
        let filters = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
        println!("{:<54} {:>12} {:>12} {:>12}  Go ÷ here", "", "here", "Go 1.19.8", "Go 1.27.3");
        Self { filters }
    }

    /// Whether that benchmark was asked for.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| name.contains(filter.as_str()))
    }

    /// Times `operation`, again and again.
    pub fn time<T>(&self, name: &str, mut operation: impl FnMut() -> T) {
        self.time_each(name, 1, || (), |()| operation());
    }

    /// Times `operation` on what `prepare` makes for it, which is not counted. One call counts as
    /// `per_call` operations.
    pub fn time_each<S, T>(
        &self,
        name: &str,
        per_call: u32,
        mut prepare: impl FnMut() -> S,
        mut operation: impl FnMut(&mut S) -> T,
    ) {
        if !self.wants(name) {
            return;
        }
        let mut sample = |calls: u32| {
            let mut states: Vec<S> = (0..calls).map(|_| prepare()).collect();
            let start = Instant::now();
            for state in &mut states {
                black_box(operation(black_box(state)));
            }
            start.elapsed()
        };
        let mut calls = 1;
        // States without a size take no memory, so that short operations can be called often.
        let most_calls = if size_of::<S>() == 0 { 1 << 30 } else { 1 << 16 };
        while sample(calls) < SAMPLE && calls < most_calls {
            calls *= 2;
        }
        let mut samples: Vec<Duration> = (0..SAMPLES).map(|_| sample(calls)).collect();
        samples.sort_unstable();
        let nanos = samples[SAMPLES / 2].as_nanos() as f64;
        print_row(name, nanos / f64::from(calls) / f64::from(per_call));
    }
}

fn print_row(name: &str, nanos: f64) {
    let here = format_nanos(nanos);
    match GO.iter().find(|(known, ..)| *known == name) {
        None => println!("{name:<54} {here:>12} {:>12} {:>12}", "–", "–"),
        Some((_, old, new)) => {
            let ratio = old.min(*new) / nanos;
            let (old, new) = (format_nanos(*old), format_nanos(*new));
            println!("{name:<54} {here:>12} {old:>12} {new:>12}  {ratio:.1} ×");
        }
    }
}

/// Nanoseconds in the unit that fits.
fn format_nanos(nanos: f64) -> String {
    match nanos {
        ..1e3 => format!("{nanos:.1} ns"),
        ..1e6 => format!("{:.2} µs", nanos / 1e3),
        _ => format!("{:.2} ms", nanos / 1e6),
    }
}
