// What the engine says natively of the scenarios of `examples/`: `cargo xtask test` lets the
// program
// `native-answers` write it. As wasm, in Node and in Chromium, it must say the same.
//
// Environment: TAINTLAB_NATIVE, the folder with it; unless given, target/native.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER =
  process.env.TAINTLAB_NATIVE ?? fileURLToPath(new URL("../target/native", import.meta.url));

const read = (file) => readFileSync(`${FOLDER}/${file}`, "utf8");

/** The events of a scenario, JSON in one line. */
export const nativeEvents = (name) => read(`${name}.events.json`);

/** The resilience report of a scenario's cluster, JSON in one line. */
export const nativeReport = (name) => read(`${name}.report.json`);

/** The zones and time budgets of a scenario, moment by moment. */
export const views = (name) => read(`${name}.views.jsonl`).trim().split("\n").map(JSON.parse);

/** Requests of a policy module and their answers, each a text; `policy` or `policy-lite`. */
export const policyAnswers = (module) =>
  read(`${module}.jsonl`).trimEnd().split("\n").map(JSON.parse);
