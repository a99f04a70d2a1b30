//! Every version and limit that the tasks hold to.
//!
//! Others live elsewhere because their own tools read them there: those of wasm-bindgen and mdBook
//! in Cargo.lock (the tools must be of the libraries' versions), the npm packages' in package.json,
//! and those of other sites' generators in `tests/sites`.

/// A command-line tool that cargo builds from crates.io.
pub(crate) struct CargoTool {
    /// The crate.
    pub package: &'static str,
    /// The program that it installs.
    pub program: &'static str,
    /// What the project needs it for.
    pub purpose: &'static str,
    /// Arguments of `cargo install` besides the version.
    pub install_args: &'static [&'static str],
    /// How long a first build takes on two cores.
    pub build_time: &'static str,
}

/// Builds and serves the page. Newer ones than [`TRUNK_VERSION`] want a newer Rust than ours.
///
/// Without default features it has no TLS: it is run offline and never downloads.
pub(crate) const TRUNK: CargoTool = CargoTool {
    package: "trunk",
    program: "trunk",
    purpose: "builds and serves the playground",
    install_args: &["--locked", "--no-default-features"],
    build_time: "2 minutes",
};

/// The version of [`TRUNK`].
pub(crate) const TRUNK_VERSION: &str = "0.21.14";

/// Builds and serves the book, in the version of `mdbook-preprocessor` in Cargo.lock: they are
/// released together.
pub(crate) const MDBOOK: CargoTool = CargoTool {
    package: "mdbook",
    program: "mdbook",
    purpose: "builds and serves the book",
    install_args: &["--locked"],
    build_time: "2 minutes",
};

/// Writes the JavaScript beside the wasm. Not `--locked`: its lock file names yanked versions.
/// Without default features it has no TLS, which only its test runner uses.
pub(crate) const WASM_BINDGEN: CargoTool = CargoTool {
    package: "wasm-bindgen-cli",
    program: "wasm-bindgen",
    purpose: "joins the playground's wasm to JavaScript",
    install_args: &["--bin", "wasm-bindgen", "--no-default-features"],
    build_time: "a minute",
};

/// The oldest Node that has all that the tests use, `--test-concurrency` last: major and minor
/// version.
pub(crate) const NODE: (u32, u32) = (20, 10);

/// What the page and the npm package are compiled for.
pub(crate) const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// What Rust's wasm targets use by default, and so what wasm-opt may meet.
pub(crate) const WASM_FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// A target with no std at all: what builds for it is truly `no_std`.
pub(crate) const NO_STD_TARGET: &str = "wasm32v1-none";

/// The cargo profile of the playground's release and of the npm package.
pub(crate) const WEB_PROFILE: &str = "web";

/// The most bytes, gzipped, that the page may weigh. What the session and the page say to each
/// other, to bytes and back, are some 70,000 of them.
pub(crate) const PAGE_BUDGET_GZIP: u64 = 2_325_000;

/// How many bytes of brotli the npm package should be, wasm and the code around it.
pub(crate) const PACKAGE_GOAL_BROTLI: u64 = 90_000;

/// The most that it may be: a little more than it is. Whoever raises it says why in the commit.
pub(crate) const PACKAGE_BUDGET_BROTLI: u64 = 1_134_000;

/// The same for `taintlab/lite`.
pub(crate) const LITE_GOAL_BROTLI: u64 = 60_000;

/// The same for `taintlab/lite`.
pub(crate) const LITE_BUDGET_BROTLI: u64 = 44_700;

/// The most bytes, gzipped, that the script and the styles of the element `<taint-lab>` may have.
pub(crate) const ELEMENT_BUDGET_GZIP: u64 = 17_000;

/// The most bytes, gzipped, that a page with five demos may have before a reader edits one, with
/// the script and the styles.
pub(crate) const DEMO_PAGE_BUDGET_GZIP: u64 = 45_000;

/// The examples of that page.
pub(crate) const DEMO_PAGE: [&str; 5] = [
    "why-345-seconds",
    "same-outage-1.35",
    "recovery-storm",
    "zero-and-negative-seconds",
    "service-in-an-outage",
];
