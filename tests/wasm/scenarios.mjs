// What `cargo xtask` built for comparing: the engine, and what it said natively of each scenario.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of `engine.wasm`, `NAME.scenario.yaml`, `NAME.events.jsonl` and `NAME.views.jsonl`. */
export const FOLDER =
  process.env.TAINTLAB_DETERMINISM ??
  fileURLToPath(new URL("../../target/determinism", import.meta.url));

/** The engine, compiled to wasm. */
export const engine = () => readFileSync(`${FOLDER}/engine.wasm`);

/** Every scenario: its name, its file, and the events that the native engine gave. */
export function scenarios() {
  const ending = ".scenario.yaml";
  const names = readdirSync(FOLDER)
    .filter((file) => file.endsWith(ending))
    .map((file) => file.slice(0, -ending.length));
  assert.ok(names.length > 0, `${FOLDER} has no scenario: run \`cargo xtask test\``);
  return names.sort().map((name) => ({
    name,
    scenario: readFileSync(`${FOLDER}/${name}${ending}`),
    events: readFileSync(`${FOLDER}/${name}.events.jsonl`, "utf8"),
  }));
}

/** The resilience report that the native engine made of a scenario's cluster, JSON in one line. */
export const nativeReport = (name) => readFileSync(`${FOLDER}/${name}.report.json`, "utf8");

/** What the native engine said of a scenario's zones and time budgets, moment by moment. */
export const views = (name) =>
  readFileSync(`${FOLDER}/${name}.views.jsonl`, "utf8").trim().split("\n").map(JSON.parse);
