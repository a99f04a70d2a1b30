// The package beside Kubernetes' recorded answers, by the runner for TypeScript that others copy.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { transformSync } from "esbuild";

import { install } from "./support.mjs";

const vectors = fileURLToPath(new URL("../../tests/vectors/", import.meta.url));

let taintlab;
let runner;
before(async () => {
  const folder = await install();
  taintlab = createRequire(join(folder, "main.cjs"))("taintlab");
  // Node 22.18 and later take the types out themselves.
  const source = readFileSync(join(vectors, "runners/vectors.ts"), "utf8");
  const compiled = join(folder, "vectors.mjs");
  writeFileSync(compiled, transformSync(source, { loader: "ts" }).code);
  runner = await import(pathToFileURL(compiled));
});

/** Runs a family, and returns whether all agree, with what was printed. */
function run(family, answer) {
  const printed = [];
  const agrees = runner.run(vectors, family, answer, { print: (line) => printed.push(line) });
  return [agrees, printed];
}

/** A toleration with a time that JavaScript has; it changes nothing of what it tolerates. */
function readable({ tolerationSeconds, ...rest }) {
  return Number.isSafeInteger(tolerationSeconds) ? { tolerationSeconds, ...rest } : rest;
}

test("tolerates_1.36: the package says what Kubernetes said", () => {
  const [agrees, printed] = run("tolerates_1.36", (input) => {
    const gate = input.enable_comparison_operators ?? false;
    const options = { release: "1.36", featureGates: { TaintTolerationComparisonOperators: gate } };
    const tolerations = [readable(input.toleration)];
    const found = taintlab.matchTolerations([input.taint], tolerations, options);
    return { tolerates: found.taints[0].tolerationIndex !== undefined };
  });
  assert.ok(agrees, printed.join("\n"));
});

test("a wrong entry is shown", () => {
  const [agrees, printed] = run("tolerates", () => ({ tolerates: true }));
  assert.equal(agrees, false);
  assert.equal(printed.length, 10);
  assert.match(printed[0], /^tolerates, case 1: \{"taint":/);
  assert.match(printed.at(-1), /^tolerates: \d+ of 2546 agree$/);
  assert.throws(() => run("nothing", () => ({})), /there is no family nothing/);
});
