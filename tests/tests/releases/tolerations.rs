//! How tolerations are matched and validated differently from release to release.

use taintlab_core::api::{PodKey, TolerationOperator};
use taintlab_core::command::Command;
use taintlab_core::policy::taints::kubectl::parse_taints;
use taintlab_tests::notation;
use taintlab_tests::text::Session;

use super::{Difference, play, verbs};

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "validation_shows_whole_toleration",
        last: "1.31",
        before: "the toleration",
        after: "the value",
        observe: |release| {
            let mut session = play(release, "node n");
            let mut pod = notation::tolerations("k=v/inf").unwrap();
            pod[0].operator = TolerationOperator::Exists;
            let simulator = session.simulator_mut().unwrap();
            let pod = notation::pod(&PodKey::new("d", "p"), "", pod);
            let now = simulator.now();
            let command = Command::CreatePod(pod);
            let error = simulator.handle_command(now, command).unwrap_err().to_string();
            let text = if error.contains("Invalid value: \"v\": value must be empty") {
                "the value"
            } else if error.contains("core.Toleration{") {
                "the toleration"
            } else {
                &error
            };
            text.to_owned()
        },
    },
    Difference {
        name: "validation_names_comparison_operators",
        last: "1.34",
        before: "\"Equal\", \"Exists\"",
        after: "\"Equal\", \"Exists\", \"Lt\", \"Gt\"",
        observe: |release| {
            let mut session = play(release, "node n");
            let refused = session.execute("pod d/p on n tolerates a>3/inf").unwrap();
            refused.split("supported values: ").nth(1).unwrap_or(&refused).trim().to_owned()
        },
    },
    Difference {
        name: "counts_bytes_of_labels",
        last: "1.34",
        before: "name part must be no more than 63 characters",
        after: "name part must be no more than 63 bytes",
        observe: |release| {
            let spec = format!("{}:NoExecute", "a".repeat(64));
            let refused = parse_taints(release, &[spec.as_str()]).unwrap_err();
            refused.rsplit(", ").next().unwrap_or(&refused).to_owned()
        },
    },
    Difference {
        name: "validation_shows_json",
        last: "1.33",
        before: "core.Taint{Key:\"a\", Value:\"\", Effect:\"NoExecute\", TimeAdded:<nil>}",
        after: "{\"Key\":\"a\",\"Value\":\"\",\"Effect\":\"NoExecute\",\"TimeAdded\":null}",
        observe: |release| {
            let mut session = play(release, "node n");
            let refused = session.execute("taints n a a").unwrap();
            let value = refused.split("Duplicate value: ").nth(1).unwrap_or(&refused);
            value.split(": taints must").next().unwrap_or(value).to_owned()
        },
    },
    Difference {
        name: "TaintTolerationComparisonOperators",
        last: "1.34",
        before: "refused",
        after: "tolerated",
        observe: |release| {
            let mut session = Session::default();
            let gate = "TaintTolerationComparisonOperators=true";
            if session.execute(&format!("cluster {release} {gate}")).is_err() {
                return "refused".to_owned();
            }
            session.execute("node n a=5\npod d/p on n tolerates a>3/inf").unwrap();
            if verbs(&session).is_empty() { "tolerated" } else { "not tolerated" }.to_owned()
        },
    },
];
