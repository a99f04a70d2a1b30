// One plan of a report, by messages: in a worker, or in the thread that asks.

import { ReportPlan } from "taintlab";

/** Answers calls by name. */
export function server() {
  let plan;
  return {
    /** Settles the cluster; what the report is about, if asked for. */
    open({ manifests, isScenario, options, report }, withRuns) {
      const make = isScenario ? ReportPlan.fromScenario : ReportPlan.fromManifests;
      const answer = make(manifests, options, report);
      if (!answer.ok) return answer;
      ({ plan } = answer);
      const { warnings, imported } = answer;
      if (!withRuns) return { ok: true };
      return { ok: true, warnings, imported, outline: plan.outline(), runs: plan.runs() };
    },
    run: (run) => plan.run(run),
    remedies: (results) => plan.remedies(results),
    timelineSvg: (run, subject) => plan.timelineSvg(run, subject),
    close() {
      plan?.free();
      plan = undefined;
    },
  };
}
