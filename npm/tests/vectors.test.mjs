// Recorded answers of Kubernetes, through the package: it agrees as the engine does natively.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { gunzipSync } from "node:zlib";

import { ROOT, install } from "./support.mjs";

let taintlab;
before(async () => {
  const folder = await install();
  taintlab = createRequire(join(folder, "main.cjs"))("taintlab");
});

/** Numbers that JavaScript does not have: those beyond 2⁵³ would not be the recorded ones. */
const tooLarge = (line) => /"tolerationSeconds":-?\d{16,}/.test(line);

const cases = (name) =>
  gunzipSync(readFileSync(join(ROOT, "tests/vectors", `${name}.jsonl.gz`)))
    .toString("utf8")
    .split("\n")
    .filter((line) => line && !tooLarge(line))
    .map((line) => JSON.parse(line));

/** As an array; an absent list is an empty one. */
const list = (value) => value ?? [];

const gates = (on) => ({
  release: "1.35",
  featureGates: { TaintTolerationComparisonOperators: on },
});

for (const family of ["tolerates", "tolerates-numeric"]) {
  test(`${family}: matchTolerations`, () => {
    for (const line of cases(family)) {
      const options = gates(line.enable_comparison_operators ?? false);
      const answer = taintlab.matchTolerations([line.taint], [line.toleration], options);
      assert.equal(answer.taints[0].tolerationIndex === 0, line.tolerates, JSON.stringify(line));
    }
  });
}

test("matching: matchTolerations and minTolerationSeconds", () => {
  for (const line of cases("matching")) {
    const tolerations = list(line.tolerations);
    const { taints } = taintlab.matchTolerations(list(line.taints), tolerations);
    const all = taints.every(({ tolerationIndex }) => tolerationIndex !== undefined);
    assert.equal(all, line.all_tolerated, JSON.stringify(line));
    const used = all ? taints.map(({ tolerationIndex }) => tolerations[tolerationIndex]) : [];
    assert.deepEqual(used, list(line.used));
    const seconds = taintlab.minTolerationSeconds(used);
    const expected = line.infinite ? Infinity : Math.trunc(line.min_seconds ?? line.min_ns / 1e9);
    assert.equal(seconds, expected, JSON.stringify(line));
  }
});

test("zone_state: zoneState", () => {
  for (const line of cases("zone_state")) {
    const node = (status) => ({ status: { conditions: [{ type: "Ready", status }] } });
    const nodes = Array.from({ length: line.ready }, () => node("True"));
    for (let i = 0; i < line.not_ready; i++) {
      const kind = list(line.not_ready_kinds)[i] ?? "nil";
      nodes.push(kind === "nil" ? {} : node(kind));
    }
    const options = { unhealthyZoneThreshold: line.unhealthy_zone_threshold };
    const answer = taintlab.zoneState(nodes, options);
    assert.equal(answer.state, line.result_state, JSON.stringify(line));
    assert.equal(answer.notReady, line.result_not_ready);
  }
});

test("kubectl_taint_1.36: parseTaint, which speaks as the newest kubectl", () => {
  const bare = ({ key, value = "", effect = "" }) => ({ key, value, effect });
  for (const line of cases("kubectl_taint_1.36")) {
    if (line.spec?.length !== 1) continue;
    const answer = taintlab.parseTaint(line.spec[0]);
    assert.equal(answer.ok, !line.error, JSON.stringify(line));
    if (!answer.ok) assert.equal(answer.errors[0].message, line.error);
    else {
      const [taint] = answer.remove ? line.remove : line.add;
      assert.deepEqual(bare(answer.taint), bare(taint));
    }
  }
});

test("validation: validateTaints and validateTolerations", () => {
  for (const line of cases("validation")) {
    if (line.kind === "only_added_tolerations") continue;
    const answer =
      line.kind === "node_taints"
        ? taintlab.validateTaints(list(line.taints))
        : taintlab.validateTolerations(list(line.tolerations), { release: "1.20" });
    const errors = answer.ok ? [] : answer.errors;
    // The path is apart from the message.
    const said = errors.map(({ message, path, code }) => [`${path}: ${message}`, path, code]);
    assert.deepEqual(
      said,
      list(line.errors).map(({ error, field, type }) => [error, field, type]),
    );
  }
});
