//! The versions and limits of the tasks.
//!
//! Others are where their own tools read them: the versions of wasm-bindgen and mdBook in
//! Cargo.lock (tools and libraries must have the same), those of the npm packages in package.json,
//! and those of other sites' generators in `tests/sites`.

/// A command-line tool that cargo builds from crates.io.
pub(crate) struct CargoTool {
    /// The crate.
    pub package: &'static str,
    /// The program that it installs.
    pub program: &'static str,
    /// The purpose in the project.
    pub purpose: &'static str,
    /// Arguments of `cargo install` besides the version.
    pub install_args: &'static [&'static str],
    /// Time of a first build on two cores.
    pub build_time: &'static str,
}

/// Builds and serves the page. Versions after [`TRUNK_VERSION`] need a newer Rust than ours.
///
/// Without default features it has no TLS: the tasks run it offline, and it downloads nothing.
pub(crate) const TRUNK: CargoTool = CargoTool {
    package: "trunk",
    program: "trunk",
    purpose: "builds and serves the playground",
    install_args: &["--locked", "--no-default-features"],
    build_time: "2 minutes",
};

/// The version of [`TRUNK`].
pub(crate) const TRUNK_VERSION: &str = "0.21.14";

/// Builds and serves the book. Its version is that of `mdbook-preprocessor` in Cargo.lock: both are
/// released together.
pub(crate) const MDBOOK: CargoTool = CargoTool {
    package: "mdbook",
    program: "mdbook",
    purpose: "builds and serves the book",
    install_args: &["--locked"],
    build_time: "2 minutes",
};

/// Writes the JavaScript beside the wasm. Not `--locked`, since its lock file names yanked
/// versions. Without default features it has no TLS, which only its test runner needs.
pub(crate) const WASM_BINDGEN: CargoTool = CargoTool {
    package: "wasm-bindgen-cli",
    program: "wasm-bindgen",
    purpose: "joins the playground's wasm to JavaScript",
    install_args: &["--bin", "wasm-bindgen", "--no-default-features"],
    build_time: "a minute",
};

/// Reads licences, advisories and sources of all crates.
pub(crate) const CARGO_DENY: CargoTool = CargoTool {
    package: "cargo-deny",
    program: "cargo-deny",
    purpose: "checks what the project is built from",
    install_args: &["--locked"],
    build_time: "4 minutes",
};

/// The version of [`CARGO_DENY`].
pub(crate) const CARGO_DENY_VERSION: &str = "0.20.2";

/// The oldest Node that has everything the tests use (the newest feature is `--test-concurrency`):
/// major and minor version.
pub(crate) const NODE: (u32, u32) = (20, 10);

/// The target of the page and the npm package.
pub(crate) const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// The features that Rust's wasm targets use by default, and that wasm-opt must accept.
pub(crate) const WASM_FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// A target without std: code that builds for it is truly `no_std`.
pub(crate) const NO_STD_TARGET: &str = "wasm32v1-none";

/// The cargo profile of the playground's release and of the npm package.
pub(crate) const WEB_PROFILE: &str = "web";

/// The size limit of the native command on Linux for x86-64 in bytes, without symbols.
pub(crate) const CLI_BUDGET: u64 = 7_215_000;

/// The size limit of all that is loaded before the first click, which need not wait for the engine, in
/// bytes, gzipped.
pub(crate) const FIRST_BUDGET_GZIP: u64 = 652_000;

/// The size limit of the page in bytes, gzipped. The messages between session and page, to bytes
/// and back, take some 70,000 of them.
pub(crate) const PAGE_BUDGET_GZIP: u64 = 2_290_000;

/// The desired size of the npm package in bytes of brotli: wasm and the code around it.
pub(crate) const PACKAGE_GOAL_BROTLI: u64 = 90_000;

/// The limit of that size, a little above the present one. Whoever raises it says why in the
/// commit.
pub(crate) const PACKAGE_BUDGET_BROTLI: u64 = 1_034_900;

/// The desired size of `taintlab/lite` in bytes of brotli.
pub(crate) const LITE_GOAL_BROTLI: u64 = 60_000;

/// The limit of that size.
pub(crate) const LITE_BUDGET_BROTLI: u64 = 45_300;

/// The size limit of the policy module without a simulator in bytes of brotli.
pub(crate) const POLICY_LITE_BUDGET_BROTLI: u64 = 51_500;

/// The size limit of the policy module in bytes of brotli.
pub(crate) const POLICY_BUDGET_BROTLI: u64 = 612_000;

/// The desired size of the policy module without a simulator in bytes of brotli.
pub(crate) const POLICY_LITE_GOAL_BROTLI: u64 = 60_000;

/// The desired size of the policy module. `when`, `lint` and `explain` need the whole simulator, of
/// which the schedulers and controllers are the largest part.
pub(crate) const POLICY_GOAL_BROTLI: u64 = 300_000;

/// The size limit of the policy of Kubewarden in bytes, as it is in a registry.
pub(crate) const KUBEWARDEN_BUDGET: u64 = 122_000;

/// The size limit of the policy of Kubewarden in bytes of brotli.
pub(crate) const KUBEWARDEN_BUDGET_BROTLI: u64 = 50_000;

/// The size limit of the script and the styles of the element `<taint-lab>` in bytes, gzipped.
pub(crate) const ELEMENT_BUDGET_GZIP: u64 = 17_000;

/// The size limit of a page with five demos in bytes, gzipped, with the script and the styles and
/// before a reader edits a demo.
pub(crate) const DEMO_PAGE_BUDGET_GZIP: u64 = 45_000;

/// The examples of that page.
pub(crate) const DEMO_PAGE: [&str; 5] = [
    "why-345-seconds",
    "same-outage-1.35",
    "recovery-storm",
    "zero-and-negative-seconds",
    "service-in-an-outage",
];
