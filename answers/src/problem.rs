//! Problems: mistakes of a user.

use std::borrow::Cow;

use serde::Serialize;
use taintlab_core::policy::validation::FieldError;
#[cfg(feature = "simulator")]
use taintlab_core::{command::CommandError, scenario::ScenarioError, simulator::TimeWentBack};
#[cfg(feature = "simulator")]
use taintlab_manifest::Diagnostic;

macro_rules! codes {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        #[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
        pub enum $name {
            $($(#[$vmeta])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// The name in JSON.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }
    };
}

codes! {
    /// What kind of problem it is.
    ProblemCode {
        /// A manifest that cannot be read, or is not what the API server would take.
        InvalidManifest = "invalidManifest",
        /// A scenario file that cannot be read, or whose objects the API server would not take.
        InvalidScenario = "invalidScenario",
        /// An expectation of a scenario that was not met.
        ExpectationNotMet = "expectationNotMet",
        /// A release, a feature gate, a flag or a setting that cannot be.
        InvalidConfiguration = "invalidConfiguration",
        /// A taint that `kubectl taint` would not take.
        InvalidTaint = "invalidTaint",
        /// A text that is no duration.
        InvalidDuration = "invalidDuration",
        /// A text that does not name a pod.
        InvalidName = "invalidName",
        /// A field of an object that the scheduler or the kubelet cannot read.
        InvalidObject = "invalidObject",
        /// A text that is no eviction signal, or one that the kubelet does not rank for.
        InvalidSignal = "invalidSignal",
        /// The simulation has no scheduler and no controllers of workloads.
        NoControlPlane = "noControlPlane",
        /// There is no such workload.
        WorkloadNotFound = "workloadNotFound",
        /// There is such a workload already.
        WorkloadAlreadyExists = "workloadAlreadyExists",
        /// There is no such budget.
        BudgetNotFound = "budgetNotFound",
        /// There is such a budget already.
        BudgetAlreadyExists = "budgetAlreadyExists",
        /// Admission refuses the object.
        NotAdmitted = "notAdmitted",
        /// 429: a budget does not allow the eviction now.
        DisruptionBudget = "disruptionBudget",
        /// `failPodWrites` made the request fail; it counts.
        RequestFailed = "requestFailed",
        /// A value of a command is out of range, or the cluster does not take it for another
        /// reason.
        InvalidCommand = "invalidCommand",
        /// The simulation has passed that moment.
        TimeWentBack = "timeWentBack",
        /// So much happens until that moment that the call ended before.
        TooManyMoments = "tooManyMoments",
        /// There is no such node.
        NodeNotFound = "nodeNotFound",
        /// There is no such pod.
        PodNotFound = "podNotFound",
        /// There is such a node already.
        NodeAlreadyExists = "nodeAlreadyExists",
        /// There is such a pod already.
        PodAlreadyExists = "podAlreadyExists",
        /// The pod has a node already.
        PodAlreadyBound = "podAlreadyBound",
        /// The node has no such taint.
        TaintNotFound = "taintNotFound",
        /// There is no such zone, or there are several.
        ZoneNotFound = "zoneNotFound",
        /// The simulation has no kubelets and no node lifecycle controller.
        NoNodeLifecycle = "noNodeLifecycle",
        /// The API server: the value has the wrong form.
        FieldValueInvalid = "FieldValueInvalid",
        /// The API server: the value is none of those that are allowed.
        FieldValueNotSupported = "FieldValueNotSupported",
        /// The API server: there is no value.
        FieldValueRequired = "FieldValueRequired",
        /// The API server: another element of the list has this value already.
        FieldValueDuplicate = "FieldValueDuplicate",
        /// The API server: this change is not allowed.
        FieldValueForbidden = "FieldValueForbidden",
    }
}

/// One thing that is wrong, where, and what would be valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// What kind of problem it is.
    pub code: ProblemCode,
    /// What is wrong, and what would be valid.
    pub message: String,
    /// The field, for example `items[3].spec.taints[0].effect`; empty if the whole is meant.
    pub path: String,
    /// The name of the file, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in the text, counted from 1; absent if no text was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in the line, counted from 1, in characters; absent if no text was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// What to do, if there is something to propose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// What comes back where a user got something wrong. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
pub struct Failure {
    /// Whether it worked: no.
    #[cfg_attr(feature = "typescript", tsify(type = "false"))]
    pub ok: bool,
    /// What is wrong; at least one.
    pub errors: Vec<Problem>,
}

impl Problem {
    /// A problem at a field, without a place in a text.
    #[must_use]
    pub fn new(code: ProblemCode, path: &str, message: &str) -> Self {
        let (message, path) = (bounded(message).into_owned(), bounded(path).into_owned());
        Self { code, message, path, file: None, line: None, column: None, help: None }
    }

    /// The problem that a diagnostic of a text reports.
    #[cfg(feature = "simulator")]
    #[must_use]
    pub fn of_diagnostic(diagnostic: Diagnostic, code: ProblemCode) -> Self {
        let Diagnostic { file, line, column, path, message, help, .. } = diagnostic;
        let file = Some(file).filter(|file| !file.is_empty());
        Self { code, message, path, file, line: Some(line), column: Some(column), help }
    }

    /// The problem of an object that the API server refuses, in its words.
    #[must_use]
    pub fn of_field(error: &FieldError) -> Self {
        use taintlab_core::policy::validation::FieldErrorType as Type;
        let code = match error.type_ {
            Type::Invalid => ProblemCode::FieldValueInvalid,
            Type::NotSupported => ProblemCode::FieldValueNotSupported,
            Type::Required => ProblemCode::FieldValueRequired,
            Type::Duplicate => ProblemCode::FieldValueDuplicate,
            Type::Forbidden => ProblemCode::FieldValueForbidden,
        };
        // The API server's words, without the path, which has a field of its own.
        let message = error.to_string();
        let message = message.strip_prefix(error.field.as_str()).unwrap_or(&message);
        Self::new(code, &error.field, message.strip_prefix(": ").unwrap_or(message))
    }

    /// The problems of a command; `path` says where it came from, empty for a single command.
    #[cfg(feature = "simulator")]
    #[must_use]
    pub fn of_command(error: &CommandError, path: &str) -> Vec<Self> {
        use ProblemCode as Code;
        let code = match error {
            CommandError::Invalid { errors, .. } => {
                return errors.iter().map(Self::of_field).collect();
            }
            CommandError::TimeWentBack { .. } => Code::TimeWentBack,
            CommandError::NodeNotFound(_) => Code::NodeNotFound,
            CommandError::PodNotFound(_) => Code::PodNotFound,
            CommandError::NodeAlreadyExists(_) => Code::NodeAlreadyExists,
            CommandError::PodAlreadyExists(_) => Code::PodAlreadyExists,
            CommandError::PodAlreadyBound { .. } => Code::PodAlreadyBound,
            CommandError::TaintNotFound { .. } => Code::TaintNotFound,
            CommandError::ZoneNotFound { .. } => Code::ZoneNotFound,
            CommandError::NoNodeLifecycle => Code::NoNodeLifecycle,
            CommandError::NoControlPlane => Code::NoControlPlane,
            CommandError::WorkloadNotFound(_) => Code::WorkloadNotFound,
            CommandError::WorkloadAlreadyExists(_) => Code::WorkloadAlreadyExists,
            CommandError::BudgetNotFound(_) => Code::BudgetNotFound,
            CommandError::BudgetAlreadyExists(_) => Code::BudgetAlreadyExists,
            CommandError::NotAdmitted { .. } => Code::NotAdmitted,
            CommandError::DisruptionBudget { .. } => Code::DisruptionBudget,
            CommandError::RequestFailed { .. } => Code::RequestFailed,
            _ => Code::InvalidCommand,
        };
        vec![Self::new(code, path, &error.to_string())]
    }

    /// The problem of a moment that has passed.
    #[cfg(feature = "simulator")]
    #[must_use]
    pub fn of_time(error: TimeWentBack) -> Self {
        Self::new(ProblemCode::TimeWentBack, "at", &error.to_string())
    }

    /// The problem of a configuration given as options.
    #[cfg(feature = "simulator")]
    #[must_use]
    pub fn of_config(error: &ScenarioError) -> Self {
        let path = error.path();
        let path = path.strip_prefix("kubernetes.").unwrap_or(&path);
        Self::new(ProblemCode::InvalidConfiguration, path, &error.to_string())
    }
}

/// Characters kept of the beginning and of the end of a long message.
const HALF: usize = 1_000;

/// A message without its middle if it is very long, since it repeats the caller's input. Its
/// beginning says what is wrong, its end what would be valid.
#[must_use]
pub fn bounded(message: &str) -> Cow<'_, str> {
    let mut places = message.char_indices();
    let begin = places.nth(HALF).and_then(|(at, _)| message.get(..at));
    let end = places.nth_back(HALF).and_then(|(at, _)| message.get(at..));
    match begin.zip(end) {
        Some((begin, end)) => Cow::Owned(format!("{begin}…{end}")),
        None => Cow::Borrowed(message),
    }
}
