/**
 * Compares a program with recorded answers of Kubernetes.
 *
 * ```ts
 * import { run } from "./vectors.ts";
 *
 * const agrees = run("taintlab-vectors", "tolerates", ({ taint, toleration }) => ({
 *   tolerates: myTolerates(toleration, taint),
 * }));
 * ```
 *
 * `index.json` says which members of a case are the answer; the others are what the function gets. A
 * member that is absent, null, empty or false counts as the same. Under node:test or Vitest, let a
 * test assert what `run` returns. No dependency but Node 20; Node 22.18 and later runs this file as
 * it is.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** A value of JSON. Whole numbers beyond 2^53 are read as the nearest that JavaScript has. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;

/** A family of cases, as `index.json` describes it. */
export interface Family {
  family: string;
  release: string;
  upstream: string;
  asks: string;
  cases: number;
  /** The members of a case that are the answer. */
  answer: string[];
  /** Lists of a case, with the members of their items that are the answer. */
  steps?: Record<string, string[]>;
  notes: string[];
  uncertain?: string[];
  uncertainUnless?: string[];
}

/** A case: what is asked, what was answered, and whether Kubernetes does not always say so. */
export interface Case {
  input: Record<string, Json>;
  expected: Record<string, Json>;
  uncertain: boolean;
}

/** The families of a folder. */
export function families(folder: string): Family[] {
  return JSON.parse(readFileSync(join(folder, "index.json"), "utf8")).families;
}

/** The cases of a family. */
export function cases(folder: string, name: string): Case[] {
  const family = families(folder).find((each) => each.family === name);
  if (!family) throw new Error(`there is no family ${name} in ${folder}`);
  const text = gunzipSync(readFileSync(join(folder, `${name}.jsonl.gz`))).toString();
  return text.trimEnd().split("\n").map((line) => {
    const input = JSON.parse(line);
    const expected: Record<string, Json> = {};
    for (const key of family.answer) {
      if (key in input) expected[key] = input[key];
      delete input[key];
    }
    for (const [key, members] of Object.entries(family.steps ?? {})) {
      expected[key] = (input[key] ?? []).map((step: Record<string, Json>) => {
        const seen = Object.entries(step).filter(([member]) => members.includes(member));
        for (const [member] of seen) delete step[member];
        return Object.fromEntries(seen);
      });
    }
    const uncertain =
      (family.uncertain ?? []).some((key) => input[key]) ||
      (family.uncertainUnless ?? []).some((key) => !input[key]);
    return { input, expected, uncertain };
  });
}

/** A value without members that are absent, null, empty or false. */
function plain(value: Json): Json {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, plain(member)] as const);
  const isEmpty = (member: Json) =>
    member === undefined || member === null || member === "" || member === false ||
    (typeof member === "object" && Object.keys(member).length === 0);
  return Object.fromEntries(members.filter(([, member]) => !isEmpty(member)));
}

/** Whether two plain values are the same; numbers may differ in the last digits. */
function same(one: Json, other: Json): boolean {
  if (typeof one === "number" && typeof other === "number") {
    const whole = Number.isInteger(one) && Number.isInteger(other);
    const most = whole ? 0 : 1e-6 * Math.max(Math.abs(one), Math.abs(other));
    return Math.abs(one - other) <= most;
  }
  if (typeof one !== "object" || typeof other !== "object" || !one || !other) return one === other;
  const keys = Object.keys(one);
  return (
    Array.isArray(one) === Array.isArray(other) &&
    keys.length === Object.keys(other).length &&
    keys.every((key) => key in other && same(one[key], other[key]))
  );
}

/**
 * Asks `answer` every case of a family, prints the first differences and a summary, and returns
 * whether all agree. A case in which Kubernetes itself does not always say the same may differ.
 */
export function run(
  folder: string,
  family: string,
  answer: (input: Record<string, Json>) => Json,
  { show = 3, print = console.error as (line: string) => void } = {},
): boolean {
  let [agreed, differed, uncertain] = [0, 0, 0];
  for (const [index, each] of cases(folder, family).entries()) {
    const got = answer(each.input);
    if (same(plain(got), plain(each.expected))) agreed += 1;
    else if (each.uncertain) uncertain += 1;
    else if ((differed += 1) <= show) {
      print(`${family}, case ${index + 1}: ${JSON.stringify(each.input)}`);
      print(`  expected ${JSON.stringify(each.expected)}`);
      print(`  got      ${JSON.stringify(got)}`);
    }
  }
  const more = uncertain ? `, ${uncertain} uncertain differ` : "";
  print(`${family}: ${agreed} of ${agreed + differed} agree${more}`);
  return differed === 0 && agreed > 0;
}
