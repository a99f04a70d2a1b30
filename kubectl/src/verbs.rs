//! The table of all verbs.

use crate::failure::Failure;
use crate::flags::{self, Arguments, Flag};
use crate::session::Session;
use crate::verb::{COMMON, Verb};
use crate::{
    api_resources, apply, cordon, create, delete, describe, get, help, label, patch, rollout,
    scale, taint,
};

/// All verbs, sorted by name.
pub(crate) static VERBS: [Verb; 19] = [
    Verb {
        name: "annotate",
        usage: "annotate (TYPE NAME | TYPE/NAME) KEY_1=VAL_1 ... KEY_N=VAL_N",
        about: "Sets or removes annotations of objects.",
        examples: "annotate node worker-1 note='in the cellar'\nannotate pod web-0 note-",
        flags: LABEL_FLAGS,
        run: label::annotate,
    },
    Verb {
        name: "api-resources",
        usage: "api-resources",
        about: "Lists the types of objects that this cluster has.",
        examples: "api-resources",
        flags: &[&flags::NO_HEADERS],
        run: api_resources::api_resources,
    },
    Verb {
        name: "apply",
        usage: "apply -f -",
        about: "Creates the objects that it reads, or brings those that are there into that shape.",
        examples: "apply -f - <<EOF",
        flags: &[&flags::FILENAME, &flags::DRY_RUN],
        run: apply::apply,
    },
    Verb {
        name: "cordon",
        usage: "cordon NODE",
        about: "Keeps new pods off nodes.",
        examples: "cordon worker-1\ncordon -l topology.kubernetes.io/zone=a",
        flags: &[&flags::SELECTOR, &flags::DRY_RUN],
        run: cordon::cordon,
    },
    Verb {
        name: "create",
        usage: "create (-f - | deployment NAME --image=IMAGE)",
        about: "Creates objects.",
        examples: "create deployment web --image=nginx --replicas=3\ncreate -f - <<EOF",
        flags: &[&flags::FILENAME, &flags::IMAGE, &flags::REPLICAS, &flags::DRY_RUN],
        run: create::create,
    },
    Verb {
        name: "delete",
        usage: "delete (-f - | TYPE [(NAME | -l LABEL | --all)])",
        about: "Deletes objects.",
        examples: "delete pod web-0 --grace-period=5\ndelete node worker-1\ndelete pods -l app=web\n\
                   delete pod stuck-0 --force --grace-period=0",
        flags: &[
            &flags::FILENAME,
            &flags::SELECTOR,
            &flags::FIELD_SELECTOR,
            &flags::ALL,
            &flags::ALL_NAMESPACES,
            &flags::FORCE,
            &flags::GRACE_PERIOD,
            &flags::NOW,
            &flags::CASCADE,
            &flags::IGNORE_NOT_FOUND,
            &flags::WAIT,
            &flags::TIMEOUT,
            &flags::DRY_RUN,
            &flags::OUTPUT,
        ],
        run: delete::delete,
    },
    Verb {
        name: "describe",
        usage: "describe (TYPE [NAME_PREFIX | -l LABEL] | TYPE/NAME)",
        about: "Tells all about objects, with what happened to them.",
        examples: "describe node worker-1\ndescribe pod web-0",
        flags: &[&flags::SELECTOR, &flags::ALL_NAMESPACES, &flags::SHOW_EVENTS],
        run: describe::describe,
    },
    Verb {
        name: "drain",
        usage: "drain NODE",
        about: "Empties nodes: no new pods, and those that are there are evicted as budgets allow.",
        examples: "drain worker-1 --ignore-daemonsets\ndrain worker-1 --force --timeout=5m",
        flags: &[
            &flags::IGNORE_DAEMONSETS,
            &flags::FORCE,
            &flags::DELETE_EMPTYDIR_DATA,
            &flags::DELETE_LOCAL_DATA,
            &flags::GRACE_PERIOD,
            &flags::TIMEOUT,
            &flags::SELECTOR,
            &flags::SKIP_WAIT_FOR_DELETE_TIMEOUT,
            &flags::IGNORE_ERRORS,
            &flags::POD_SELECTOR,
            &flags::DISABLE_EVICTION,
            &flags::DRY_RUN,
        ],
        run: cordon::drain,
    },
    Verb {
        name: "get",
        usage: "get (TYPE[,TYPE...] [NAME | -l LABEL] | TYPE/NAME ...)",
        about: "Lists objects.",
        examples: "get pods -A -o wide\nget node worker-1 -o yaml\n\
                   get pods --field-selector spec.nodeName=worker-1\n\
                   get nodes -o jsonpath='{.items[*].metadata.name}'",
        flags: &[
            &flags::OUTPUT,
            &flags::ALL_NAMESPACES,
            &flags::SELECTOR,
            &flags::FIELD_SELECTOR,
            &flags::SORT_BY,
            &flags::NO_HEADERS,
            &flags::SHOW_LABELS,
            &flags::LABEL_COLUMNS,
            &flags::SHOW_KIND,
            &flags::IGNORE_NOT_FOUND,
            &flags::WATCH_OBJECTS,
        ],
        run: get::get,
    },
    Verb {
        name: "help",
        usage: "help [VERB]",
        about: "Says how a verb is used.",
        examples: "help taint",
        flags: &[],
        run: help,
    },
    Verb {
        name: "label",
        usage: "label (TYPE NAME | TYPE/NAME) KEY_1=VAL_1 ... KEY_N=VAL_N",
        about: "Sets or removes labels of objects.",
        examples: "label node worker-1 disk=ssd\nlabel pods --all team=a --overwrite\n\
                   label node worker-1 disk-",
        flags: LABEL_FLAGS,
        run: label::label,
    },
    Verb {
        name: "patch",
        usage: "patch (TYPE NAME | TYPE/NAME) [--type=merge] -p PATCH",
        about: "Changes fields of an object.",
        examples: "patch node worker-1 -p '{\"spec\":{\"unschedulable\":true}}'",
        flags: &[&flags::PATCH, &flags::PATCH_TYPE, &flags::DRY_RUN],
        run: patch::patch,
    },
    Verb {
        name: "replace",
        usage: "replace -f -",
        about: "Replaces objects by those that it reads.",
        examples: "replace -f - <<EOF",
        flags: &[&flags::FILENAME, &flags::DRY_RUN],
        run: create::replace,
    },
    Verb {
        name: "rollout",
        usage: "rollout (status | restart) TYPE/NAME",
        about: "Tells how far a workload has come with its pods, or has it replace them all.",
        examples: "rollout status deployment/web\nrollout restart deployment web",
        flags: &[&flags::WATCH, &flags::TIMEOUT, &flags::SELECTOR],
        run: rollout::rollout,
    },
    Verb {
        name: "run",
        usage: "run NAME --image=IMAGE",
        about: "Creates a pod that no controller replaces.",
        examples: "run probe --image=busybox --labels=app=probe",
        flags: &[
            &flags::IMAGE,
            &flags::LABELS,
            &flags::OVERRIDES,
            &flags::RESTART,
            &flags::DRY_RUN,
        ],
        run: create::run,
    },
    Verb {
        name: "scale",
        usage: "scale --replicas=COUNT (TYPE NAME | TYPE/NAME ...)",
        about: "Says how many pods a workload is to have.",
        examples: "scale deployment web --replicas=5",
        flags: &[
            &flags::REPLICAS,
            &flags::CURRENT_REPLICAS,
            &flags::ALL,
            &flags::SELECTOR,
            &flags::OUTPUT,
            &flags::DRY_RUN,
        ],
        run: scale::scale,
    },
    Verb {
        name: "taint",
        usage: "taint NODE NAME KEY_1=VAL_1:TAINT_EFFECT_1 ... KEY_N=VAL_N:TAINT_EFFECT_N",
        about: "Sets or removes taints of nodes.",
        examples: "taint nodes worker-1 example.com/repair=disk:NoExecute\n\
                   taint nodes worker-1 worker-2 example.com/repair-\n\
                   taint nodes --all example.com/repair:NoExecute-\n\
                   taint nodes -l disk=ssd example.com/fast=true:PreferNoSchedule --overwrite",
        flags: &[&flags::ALL, &flags::SELECTOR, &flags::OVERWRITE, &flags::DRY_RUN],
        run: taint::taint,
    },
    Verb {
        name: "uncordon",
        usage: "uncordon NODE",
        about: "Lets new pods onto nodes again.",
        examples: "uncordon worker-1",
        flags: &[&flags::SELECTOR, &flags::DRY_RUN],
        run: cordon::uncordon,
    },
    Verb {
        name: "version",
        usage: "version",
        about: "Prints the release of Kubernetes that is simulated.",
        examples: "version",
        flags: &[&flags::SHORT],
        run: help::version,
    },
];

const LABEL_FLAGS: &[&Flag] = &[
    &flags::OVERWRITE,
    &flags::ALL,
    &flags::ALL_NAMESPACES,
    &flags::SELECTOR,
    &flags::FIELD_SELECTOR,
    &flags::LIST,
    &flags::DRY_RUN,
];

/// Verbs of `kubectl` that are not possible here, and why.
const ABSENT: [(&str, &str); 24] = [
    ("api-versions", "use `kubectl api-resources`"),
    ("attach", "containers do not really run"),
    ("auth", "there are no users: everything is allowed"),
    ("autoscale", "there is no horizontal autoscaler"),
    ("certificate", "there are no certificates"),
    ("cluster-info", "the simulated API server has no address"),
    ("completion", "there is no shell"),
    ("config", "there is one cluster; choose a namespace with -n"),
    ("cp", "containers do not really run"),
    ("debug", "containers do not really run"),
    ("diff", "use `kubectl get -o yaml`"),
    ("edit", "there is no editor; use `kubectl apply -f -`"),
    ("events", "use `kubectl get events`"),
    ("exec", "containers do not really run"),
    ("explain", "the reference of the fields is not in here"),
    ("expose", "services cannot be created here"),
    ("kustomize", "there are no files"),
    ("logs", "containers do not really run; `kubectl describe pod` tells what happened"),
    ("plugin", "there are no files"),
    ("port-forward", "containers do not really run"),
    ("proxy", "the simulated API server has no address"),
    ("set", "use `kubectl patch`"),
    ("top", "metrics are not simulated"),
    ("wait", "time stands still while a command runs; let the clock run instead"),
];

/// Finds a verb by its name.
pub(crate) fn verb(name: &str) -> Option<&'static Verb> {
    VERBS.iter().find(|verb| verb.name == name)
}

/// `kubectl help`.
fn help(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    match arguments.positional.first() {
        None => help::overview(session, &VERBS),
        Some(name) => match verb(name) {
            Some(verb) => help::of_verb(session, verb),
            None => return Err(Failure::plain(format!("Unknown help topic [`{name}`]"))),
        },
    }
    Ok(())
}

/// Runs a line without the word `kubectl`.
pub(crate) fn dispatch(session: &mut Session<'_>, words: &[String]) -> Result<(), Failure> {
    // `-n` may precede the verb.
    let mut start = 0;
    while let Some(word) = words.get(start).filter(|word| word.starts_with('-') && *word != "--") {
        start += match word.as_str() {
            "-n" | "--namespace" => 2,
            _ => 1,
        };
    }
    let before = words.get(..start.min(words.len())).unwrap_or_default();
    let leading = Arguments::parse("options", &COMMON, before)?;
    let Some((name, rest)) = words.get(start..).and_then(<[String]>::split_first) else {
        help::overview(session, &VERBS);
        return Ok(());
    };
    let Some(verb) = verb(name) else { return Err(unknown(name)) };
    let flags: Vec<&Flag> = verb.all_flags().collect();
    let arguments = Arguments::parse(verb.name, &flags, rest)?;
    if arguments.is(&flags::HELP) || leading.is(&flags::HELP) {
        help::of_verb(session, verb);
        return Ok(());
    }
    for given in [&leading, &arguments] {
        if let Some(namespace) = given.get(&flags::NAMESPACE).filter(|name| !name.is_empty()) {
            session.namespace = namespace.to_owned();
        }
    }
    (verb.run)(session, &arguments)
}

/// The error for an unknown command. Mirrors the message of cobra.
fn unknown(name: &str) -> Failure {
    if let Some((_, why)) = ABSENT.iter().find(|(absent, _)| *absent == name) {
        return Failure::plain(format!("`kubectl {name}` is not possible here: {why}"));
    }
    let name_in_lower_case = name.to_ascii_lowercase();
    let letters = name_in_lower_case.chars().count();
    let near = |verb: &&Verb| {
        // The distance takes time in the product of the lengths, and a line can have millions of
        // letters.
        (letters.abs_diff(verb.name.len()) <= 2
            && strsim::levenshtein(&name_in_lower_case, verb.name) <= 2)
            || (letters > 0 && verb.name.starts_with(&name_in_lower_case))
    };
    let near: Vec<&str> = VERBS.iter().filter(near).map(|verb| verb.name).collect();
    let mut text = format!("unknown command {name:?} for \"kubectl\"");
    if !near.is_empty() {
        text.push_str("\n\nDid you mean this?");
        for name in near {
            text.push_str("\n\t");
            text.push_str(name);
        }
    }
    Failure::plain(text)
}
