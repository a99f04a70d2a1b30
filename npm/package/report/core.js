// One plan of a report, by messages: in a worker, or in the thread that asks.

/** Answers calls by name; the class is that of the engine that is loaded there. */
export function server(ReportPlan) {
  let plan;
  return {
    /** Whether it answers: what a worker is asked first. */
    ready: () => true,
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

/** Answers messages in their order, also those that come before the server is there. */
export function answering(server, post) {
  return async ({ id, method, args }) => {
    try {
      post({ id, value: (await server)[method](...args) });
    } catch (error) {
      post({ id, error: { name: error?.name, message: String(error?.message ?? error) } });
    }
  };
}
