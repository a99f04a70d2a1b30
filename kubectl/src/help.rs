//! Help for verbs and flags.

use crate::failure::Failure;
use crate::flags::{self, Arguments, Kind};
use crate::session::Session;
use crate::verb::Verb;

/// Prints the list of all verbs.
pub(crate) fn overview(session: &mut Session<'_>, verbs: &[Verb]) {
    session.print("kubectl controls the simulated cluster.\n\nCommands:");
    for verb in verbs {
        session.print(format!("  {:<15} {}", verb.name, verb.about));
    }
    session.print(
        "\nUsage:\n  kubectl [flags] [options]\n\n\
         Use \"kubectl <command> --help\" for more information about a given command.",
    );
}

/// Prints the help of a verb.
pub(crate) fn of_verb(session: &mut Session<'_>, verb: &Verb) {
    session.print(format!("{}\n\nExamples:", verb.about));
    for line in verb.examples.lines() {
        session.print(format!("  kubectl {line}"));
    }
    session.print("\nOptions:");
    for flag in verb.all_flags() {
        let short = flag.short.map_or_else(|| "    ".to_owned(), |short| format!("-{short}, "));
        let value = match flag.kind {
            Kind::Bool => "=false",
            Kind::Int => "=0",
            Kind::Duration => "=0s",
            Kind::Text | Kind::Optional(_) => "=''",
        };
        session.print(format!("    {short}--{}{value}:\n\t{}", flag.name, flag.help));
    }
    session.print(format!("\nUsage:\n  kubectl {} [options]", verb.usage));
}

/// `kubectl version`.
pub(crate) fn version(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let release = session.release();
    if arguments.is(&flags::SHORT) {
        if release.version_is_always_short() {
            return Err(Failure::plain(
                "unknown flag: --short\nSee 'kubectl version --help' for usage.",
            ));
        }
        if release.version_short_is_deprecated() {
            session.warn(
                "Flag --short has been deprecated, and will be removed in the future. The --short \
                 output will become the default.",
            );
        }
    }
    session.print(format!("Client Version: {}", release.version()));
    if let Some(version) = release.kustomize_version() {
        session.print(format!("Kustomize Version: {version}"));
    }
    session.print(format!("Server Version: {}", release.version()));
    Ok(())
}
