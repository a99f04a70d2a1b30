// The policy module says what the package says, byte for byte: the hosts of the module compare their
// answers with these.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";

import { policyAnswers } from "../../tests/native.mjs";
import { install } from "./support.mjs";

let taintlab;
before(async () => {
  const folder = await install();
  taintlab = createRequire(join(folder, "main.cjs"))("taintlab");
});

/** Numbers that JavaScript does not have. */
const tooLarge = ({ request }) => /"tolerationSeconds":-?\d{16,}/.test(request);

const ask = {
  match: ({ taints, tolerations, options }) =>
    taintlab.matchTolerations(taints, tolerations, options),
  toleration_time: ({ tolerations }) => taintlab.minTolerationSeconds(tolerations),
  zone_state: ({ nodes, options }) => taintlab.zoneState(nodes, options),
  validate: ({ taints, tolerations, options }) =>
    taints ? taintlab.validateTaints(taints) : taintlab.validateTolerations(tolerations, options),
  when: ({ pod, node, options }) => taintlab.whenEvicted(pod, node, options),
  lint: ({ manifests, options }) => taintlab.lint(manifests, options),
  explain: ({ manifests, pod, options }) =>
    taintlab.Simulator.fromManifests(manifests, options).simulator.explain(pod),
};

for (const [module, least] of [
  ["policy-lite", 1_000],
  ["policy", 150],
]) {
  test(`${module}: the module and the package give the same bytes`, () => {
    const cases = policyAnswers(module);
    assert.ok(cases.length > least, `only ${cases.length} requests`);
    for (const { request, answer } of cases.filter((each) => !tooLarge(each))) {
      const asked = JSON.parse(request);
      assert.equal(JSON.stringify(ask[asked.function](asked)), answer, request);
    }
  });
}
