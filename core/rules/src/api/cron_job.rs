//! CronJobs, as far as the pods of their Jobs matter.

use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::{Fields, ObjectMeta, Workload, WorkloadKind, WorkloadSpec, is_default, nullable};
use crate::time::Time;

/// `batch/v1` `CronJob`: makes Jobs by the clock. The engine runs none; it reads what their pods
/// are like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CronJob {
    /// Name, namespace, labels and so on.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub spec: CronJobSpec,
    /// Everything else.
    #[serde(flatten)]
    pub other: Fields,
}

/// `batch/v1` `CronJobSpec`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CronJobSpec {
    /// What its Jobs are like.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub job_template: JobTemplate,
    /// Everything else.
    #[serde(flatten)]
    pub other: Fields,
}

/// `batch/v1` `JobTemplateSpec`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JobTemplate {
    /// Labels and annotations of the Jobs.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub metadata: ObjectMeta,
    /// What is asked for.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub spec: WorkloadSpec,
}

impl CronJob {
    /// The Job that the controller makes for this time of its schedule. Mirrors
    /// `getJobFromTemplate2`.
    #[must_use]
    pub fn job(&self, scheduled: Time) -> Workload {
        let template = &self.spec.job_template;
        let mut job = Workload {
            api_version: WorkloadKind::Job.api_version().into(),
            kind: WorkloadKind::Job,
            metadata: template.metadata.clone(),
            spec: template.spec.clone(),
            ..Workload::default()
        };
        job.metadata.name = self.job_name(scheduled);
        job.metadata.namespace.clone_from(&self.metadata.namespace);
        job
    }

    fn job_name(&self, scheduled: Time) -> String {
        format!("{}-{}", self.metadata.name, scheduled.unix_seconds() / 60)
    }
}
