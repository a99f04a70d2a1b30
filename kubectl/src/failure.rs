//! Errors, in the words of `kubectl` and of the API server.

use taintlab_core::command::CommandError;

/// The reason why a line failed; the cases are those of `cmdutil.CheckErr`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// An error of `kubectl` itself: printed after `error: `, unless there are several.
    Plain(String),
    /// An answer of the API server, or another text that is printed as it is.
    AsIs(String),
    /// Several errors, each on a line of its own.
    Several(Vec<Failure>),
}

impl Failure {
    /// An error of `kubectl` itself.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::Plain(text.into())
    }

    /// A wrong use of a verb. Mirrors `cmdutil.UsageErrorf`.
    pub(crate) fn usage(verb: &str, text: &str) -> Self {
        Self::Plain(format!("{text}\nSee 'kubectl {verb} -h' for help and examples"))
    }

    /// An answer of the API server: `Error from server (REASON): TEXT`.
    pub(crate) fn server(reason: &str, text: impl AsRef<str>) -> Self {
        Self::AsIs(format!("Error from server ({reason}): {}", text.as_ref()))
    }

    /// An object does not exist (404).
    pub(crate) fn not_found(resource: &str, name: &str) -> Self {
        Self::server("NotFound", format!("{resource} \"{name}\" not found"))
    }

    /// Combines errors; no errors are a success.
    pub(crate) fn all(mut failures: Vec<Self>) -> Result<(), Self> {
        match failures.len() {
            0 => Ok(()),
            1 => Err(failures.swap_remove(0)),
            _ => Err(Self::Several(failures)),
        }
    }

    /// The text for the standard error output.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Plain(text) if text.starts_with("error: ") => text.clone(),
            Self::Plain(text) => format!("error: {text}"),
            Self::AsIs(text) => text.clone(),
            Self::Several(failures) => {
                let mut lines: Vec<String> = Vec::new();
                for failure in failures {
                    let line = match failure {
                        Self::Plain(text) | Self::AsIs(text) => text.clone(),
                        Self::Several(_) => {
                            format!("[{}]", failure.text().replace('\n', ", "))
                        }
                    };
                    if !lines.contains(&line) {
                        lines.push(line);
                    }
                }
                lines.join("\n")
            }
        }
    }
}

/// The answer of the API server to a command that it refuses.
impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        match &error {
            CommandError::NodeNotFound(node) => Self::not_found("nodes", node.as_str()),
            CommandError::PodNotFound(pod) => Self::not_found("pods", pod.name()),
            CommandError::NodeAlreadyExists(node) => {
                Self::server("AlreadyExists", format!("nodes \"{node}\" already exists"))
            }
            CommandError::PodAlreadyExists(pod) => {
                Self::server("AlreadyExists", format!("pods \"{}\" already exists", pod.name()))
            }
            CommandError::Invalid { object, errors } => Self::AsIs(match errors.as_slice() {
                [error] => format!("The {object} is invalid: {error}"),
                errors => {
                    let lines = errors.iter().map(|error| format!("\n* {error}"));
                    format!("The {object} is invalid: {}", lines.collect::<String>())
                }
            }),
            CommandError::WorkloadNotFound(_)
            | CommandError::BudgetNotFound(_)
            | CommandError::DeviceObjectNotFound(..) => Self::server("NotFound", error.to_string()),
            CommandError::WorkloadAlreadyExists(_)
            | CommandError::BudgetAlreadyExists(_)
            | CommandError::DeviceObjectAlreadyExists(..) => {
                Self::server("AlreadyExists", error.to_string())
            }
            CommandError::NotAdmitted { .. } => Self::server("Forbidden", error.to_string()),
            CommandError::BudgetForbids { .. } => Self::server("Forbidden", error.to_string()),
            CommandError::DisruptionBudget { .. } | CommandError::BudgetNotProcessed { .. } => {
                Self::server("TooManyRequests", error.to_string())
            }
            CommandError::RequestFailed { error: kind, .. } => {
                Self::server(kind.reason(), error.to_string())
            }
            CommandError::NoControlPlane => Self::plain(
                "the scheduler and the controllers of workloads do not take part in this \
                 simulation; switch the control plane on",
            ),
            _ => Self::Plain(error.to_string()),
        }
    }
}
