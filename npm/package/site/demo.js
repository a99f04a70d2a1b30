// Fences of a site, made into demos by the engine when the site is built.

import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import * as taintlab from "../dist/node.js";
import { pack } from "./pack.js";

const WORDS = /^\s*taintlab(?:\s|$)/;

/** What stands after the word `taintlab` of a fence; nothing of another fence. */
export const wordsOf = (info) => (WORDS.test(info) ? info.replace(WORDS, "").trim() : undefined);

const missingName = ({ message }) => /`options\.files` has no text for `(.+)`/.exec(message)?.[1];

/**
 * The demo of a fence as HTML in one line. Throws if the scenario cannot be read or run, or expects
 * something that does not turn out to be true.
 */
export function demoOf(words, content, id, { examples = "examples", playground = "" } = {}) {
  const name = /(?:^|\s)scenario=(\S+)/.exec(words)?.[1];
  const isEmpty = content.trim() === "";
  if (name && !isEmpty) throw new Error("the fence names a scenario and holds another");
  if (!name && isEmpty)
    throw new Error("the fence is empty: name a scenario, or write one into it");
  if (name && !/^[\w.-]+$/.test(name))
    throw new Error(`scenario: \`${name}\` is no name of a file`);
  const path = name && join(examples, `${name}.yaml`);
  const text = path ? readFileSync(path, "utf8") : content;
  const folder = path ? dirname(path) : examples;
  const files = {};
  for (;;) {
    const options = { file: path ?? "", files };
    const answer = taintlab.testScenario(text, options);
    const missing = answer.ok ? undefined : answer.errors.map(missingName).find(Boolean);
    if (missing !== undefined) {
      files[missing] = readFileSync(resolve(folder, missing), "utf8");
      continue;
    }
    if (!answer.ok) throw new Error(answer.errors.map(textOf).join("\n"));
    const failures = answer.outcomes.map(({ failure, expectation }) =>
      failure ? textOf({ ...failure, message: `${expectation}, but ${failure.message}` }) : "",
    );
    if (!answer.passed) throw new Error(failures.filter(Boolean).join("\n"));
    if (answer.outcomes.length === 0) {
      throw new Error(
        "the scenario expects nothing, so that nothing is checked: give it an `expect`",
      );
    }
    const made = taintlab.makeDemo(text, options, { fence: words, id, playground }, pack);
    if (!made.ok) throw new Error(made.errors.map(textOf).join("\n"));
    return made.html;
  }
}

/**
 * The options of a plugin, none for `null`. Throws if one is not among `types`, which names the type of
 * each.
 */
export function optionsOf(options, types) {
  const given = options ?? {};
  if (typeof given !== "object") throw new TypeError("taintlab: expected options as an object");
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(types, name)) {
      const known = Object.keys(types).join("`, `");
      throw new TypeError(`taintlab: there is no option \`${name}\`; there are \`${known}\``);
    }
    if (value !== undefined && typeof value !== types[name])
      throw new TypeError(`taintlab: ${name}: expected a ${types[name]}, found a ${typeof value}`);
  }
  return given;
}

const textOf = ({ file, line, message }) =>
  `${file ? `${file}:` : ""}${line ? `${file ? "" : "line "}${line}: ` : ""}${message}`;
