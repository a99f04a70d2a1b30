//! What a user got wrong.

use serde::Serialize;
use taintlab_core::command::CommandError;
use taintlab_core::scenario::ScenarioError;
use taintlab_core::simulator::TimeWentBack;
use taintlab_core::validation::FieldError;
use taintlab_manifest::Diagnostic;
use tsify::Tsify;
use wasm_bindgen::JsValue;

use crate::output::to_js;

/// What kind of problem it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub enum ProblemCode {
    /// A manifest that cannot be read, or is not what the API server would take.
    InvalidManifest,
    /// A scenario file that cannot be read, or whose objects the API server would not take.
    InvalidScenario,
    /// An expectation of a scenario that was not met.
    ExpectationNotMet,
    /// A release, a feature gate, a flag or a setting that cannot be.
    InvalidConfiguration,
    /// A taint that `kubectl taint` would not take.
    InvalidTaint,
    /// A text that is no duration.
    InvalidDuration,
    /// A text that does not name a pod.
    InvalidName,
    /// A field of an object that the scheduler cannot read.
    InvalidObject,
    /// The simulation has no scheduler and no controllers of workloads.
    NoControlPlane,
    /// There is no such workload.
    WorkloadNotFound,
    /// There is such a workload already.
    WorkloadAlreadyExists,
    /// There is no such budget.
    BudgetNotFound,
    /// There is such a budget already.
    BudgetAlreadyExists,
    /// Admission refuses the object.
    NotAdmitted,
    /// 429: a budget does not allow the eviction now.
    DisruptionBudget,
    /// A value of a command is out of range, or the cluster does not take it for another reason.
    InvalidCommand,
    /// The simulation has passed that moment.
    TimeWentBack,
    /// There is no such node.
    NodeNotFound,
    /// There is no such pod.
    PodNotFound,
    /// There is such a node already.
    NodeAlreadyExists,
    /// There is such a pod already.
    PodAlreadyExists,
    /// The pod has a node already.
    PodAlreadyBound,
    /// The node has no such taint.
    TaintNotFound,
    /// There is no such zone, or there are several.
    ZoneNotFound,
    /// The simulation has no kubelets and no node lifecycle controller.
    NoNodeLifecycle,
    /// The API server: the value has the wrong form.
    #[serde(rename = "FieldValueInvalid")]
    FieldValueInvalid,
    /// The API server: the value is none of those that are allowed.
    #[serde(rename = "FieldValueNotSupported")]
    FieldValueNotSupported,
    /// The API server: there is no value.
    #[serde(rename = "FieldValueRequired")]
    FieldValueRequired,
    /// The API server: another element of the list has this value already.
    #[serde(rename = "FieldValueDuplicate")]
    FieldValueDuplicate,
    /// The API server: this change is not allowed.
    #[serde(rename = "FieldValueForbidden")]
    FieldValueForbidden,
}

/// One thing that is wrong, where, and what would be valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Tsify)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Tsify)]
pub struct Failure {
    /// Whether it worked: no.
    #[tsify(type = "false")]
    pub ok: bool,
    /// What is wrong; at least one.
    pub errors: Vec<Problem>,
}

impl Problem {
    pub(crate) fn new(code: ProblemCode, path: &str, message: &str) -> Self {
        let (message, path) = (message.into(), path.into());
        Self { code, message, path, file: None, line: None, column: None, help: None }
    }

    pub(crate) fn of_diagnostic(diagnostic: Diagnostic, code: ProblemCode) -> Self {
        let Diagnostic { file, line, column, path, message, help, .. } = diagnostic;
        let file = Some(file).filter(|file| !file.is_empty());
        Self { code, message, path, file, line: Some(line), column: Some(column), help }
    }

    pub(crate) fn of_field(error: &FieldError) -> Self {
        use taintlab_core::validation::FieldErrorType as Type;
        let code = match error.type_ {
            Type::Invalid => ProblemCode::FieldValueInvalid,
            Type::NotSupported => ProblemCode::FieldValueNotSupported,
            Type::Required => ProblemCode::FieldValueRequired,
            Type::Duplicate => ProblemCode::FieldValueDuplicate,
            Type::Forbidden => ProblemCode::FieldValueForbidden,
        };
        Self::new(code, &error.field, &error.to_string())
    }

    /// Those of a command; `path` is where it came from, empty for a single one.
    pub(crate) fn of_command(error: &CommandError, path: &str) -> Vec<Self> {
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
            _ => Code::InvalidCommand,
        };
        vec![Self::new(code, path, &error.to_string())]
    }

    pub(crate) fn of_time(error: TimeWentBack) -> Self {
        Self::new(ProblemCode::TimeWentBack, "at", &error.to_string())
    }

    /// That of a configuration given as options.
    pub(crate) fn of_config(error: &ScenarioError) -> Self {
        let path = error.path();
        let path = path.strip_prefix("kubernetes.").unwrap_or(&path);
        Self::new(ProblemCode::InvalidConfiguration, path, &error.to_string())
    }
}

/// The failure with these problems, for JavaScript.
pub(crate) fn fail(errors: Vec<Problem>) -> Result<JsValue, JsValue> {
    to_js(&Failure { ok: false, errors })
}
