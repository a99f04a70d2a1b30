// What is read: files, standard input, and the files that scenarios name.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

import * as taintlab from "../dist/node.js";
import { EXIT, Stop, ok, systemText } from "./problems.js";

/** What is larger is not read; a text cannot be much longer in JavaScript. */
export const LIMIT = 500_000_000;
/** From this size on, the user is told that something is being read. */
const LARGE = 20_000_000;

const megabytes = (bytes) => `${Math.round(bytes / 1e6)} MB`;

/** The name of a file in messages. */
export const named = (file) => (file === "-" ? "standard input" : file);

const stop = (file, why) => new Stop(`${named(file)}: error: ${why}`, EXIT.failed);

const tooLarge = (file, bytes) =>
  stop(file, `it has ${megabytes(bytes)}, and at most ${megabytes(LIMIT)} are read`);

/** The bytes of a file, or of standard input as they come: a pipe may be slow. */
async function readBytes(file) {
  const chunks = [];
  let length = 0;
  let told = false;
  const { size } = file === "-" ? { size: 0 } : await stat(file);
  if (size > LIMIT) throw tooLarge(file, size);
  const tell = (bytes) => {
    if (told || bytes < LARGE) return;
    told = true;
    console.error(`reading ${named(file)}: ${file === "-" ? "more than " : ""}${megabytes(bytes)}`);
  };
  tell(size);
  for await (const chunk of file === "-" ? process.stdin : createReadStream(file)) {
    length += chunk.length;
    if (length > LIMIT)
      throw stop(file, `it has more than ${megabytes(LIMIT)}, which is the limit`);
    chunks.push(chunk);
    tell(length);
  }
  return Buffer.concat(chunks, length);
}

/** The encoding that the first bytes name. */
function encodingOf([first, second]) {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return "utf-8";
}

/** The text of a file; `-` is standard input. */
export async function readText(file) {
  let text;
  try {
    const bytes = await readBytes(file);
    text = new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof Stop) throw error;
    throw stop(
      file,
      error instanceof TypeError ? "this is not a text in UTF-8" : systemText(error),
    );
  }
  if (text.trim() === "") {
    const why = file === "-" ? "; did the command before the pipe fail?" : "";
    throw stop(file, `it is empty${why}`);
  }
  return text;
}

const SCENARIO =
  /^\s*["']?(kind["']?\s*:\s*["']?Scenario\b|apiVersion["']?\s*:\s*["']?taintlab\/)/m;

export const isScenario = (text) => SCENARIO.test(text);

/** The texts of the files that lie beside a scenario and that it names. */
export async function filesBeside(file, text) {
  const files = {};
  const folder = file === "-" ? "." : dirname(file);
  // The engine says which names it misses, so that the list is not read twice.
  for (;;) {
    const answer = taintlab.testScenario(text, { file: named(file), files, until: "0s" });
    const missing = answer.ok ? undefined : answer.errors.map(missingName).find(Boolean);
    if (missing === undefined) return files;
    files[missing] = await readText(resolve(folder, missing));
  }
}

const missingName = ({ message }) => /`options\.files` has no text for `(.+)`/.exec(message)?.[1];

/**
 * The objects of several files as one list, and what says of an answer about it, by file, what is
 * wrong with which object.
 */
export function objectsOf(texts) {
  const [objects, files] = [[], []];
  for (const { file, text } of texts) {
    const { nodes, pods, workloads, budgets, others } = ok(
      // What may be secret is left out when the cluster is made, and told of then.
      taintlab.parseManifests(text, { file, keepAll: true }),
    );
    for (const object of [...nodes, ...pods, ...workloads, ...budgets, ...others]) {
      objects.push(object);
      files.push(file);
    }
  }
  const same = (a, b) =>
    ["kind", "apiVersion"].every((field) => a[field] === b[field]) &&
    ["name", "namespace"].every((field) => a.metadata?.[field] === b.metadata?.[field]);
  const place = (problem) => {
    const [, index, path] = /^\[(\d+)\]\.?(.*)$/s.exec(problem.path) ?? [];
    if (index === undefined) return problem;
    const first = files[objects.findIndex((object) => same(object, objects[index]))];
    // The list is one line, of which nobody wrote anything.
    const message = problem.message.replace(/in the object on line \d+$/, `in ${first}`);
    return { ...problem, path, message, file: files[index], line: undefined };
  };
  const placed = (answer) => {
    const errors = answer.errors?.map(place);
    const warnings = answer.warnings?.map(place);
    return { ...answer, ...(errors && { errors }), ...(warnings && { warnings }) };
  };
  return { objects, placed };
}
