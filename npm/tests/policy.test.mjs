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
};

test("the policy module and the package give the same bytes", () => {
  const cases = policyAnswers();
  assert.ok(cases.length > 1_000, `only ${cases.length} requests`);
  for (const { request, answer } of cases.filter((each) => !tooLarge(each))) {
    const asked = JSON.parse(request);
    assert.equal(JSON.stringify(ask[asked.function](asked)), answer, request);
  }
});
