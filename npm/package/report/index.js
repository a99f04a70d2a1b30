// The resilience report: its runs know nothing of one another, and are spread over workers where
// the host has them.

import { ReportPlan, mergeReport } from "taintlab";

// Of Node or of a browser: see `imports` in package.json.
import { connect, cores } from "#report-host";

import { server } from "./core.js";

/** Lets whatever else waits be done: a click on Cancel, the bar of progress. */
const breathe = () => new Promise((resolve) => setTimeout(resolve, 0));

/** A plan in this thread. */
function local() {
  const calls = server(ReportPlan);
  return {
    async call(method, ...args) {
      await breathe();
      return calls[method](...args);
    },
    close: () => calls.close(),
  };
}

/** How many milliseconds a worker may take until it answers for the first time. */
const LONGEST_START = 30_000;

const KINDS = { TypeError, RangeError };

/** A plan in a worker; `undefined` where the host has none, or it does not begin. */
async function remote() {
  const waiting = new Map();
  let [next, broken] = [0, undefined];
  const failed = (error) => {
    broken ??= error;
    for (const { reject } of waiting.values()) reject(broken);
    waiting.clear();
  };
  const answered = ({ id, value, error }) => {
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error === undefined) resolve?.(value);
    else reject?.(new (KINDS[error.name] ?? Error)(error.message));
  };
  let worker;
  try {
    worker = connect(answered, failed);
  } catch {
    return undefined;
  }
  const call = (method, ...args) =>
    new Promise((resolve, reject) => {
      if (broken) return reject(broken);
      waiting.set(next, { resolve, reject });
      worker.postMessage({ id: next++, method, args });
    });
  const close = () => {
    failed(new Error("the worker was ended"));
    worker.terminate();
  };
  const late = () => failed(new Error("the worker does not begin"));
  const timer = setTimeout(late, LONGEST_START);
  try {
    await call("ready");
    return { call, close };
  } catch {
    close();
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * So many runs go to a worker at a time that none waits for long at the end. The plan lists the
 * largest failures first, and runs that share a cluster or more one after the other.
 */
function batches(runs, planned) {
  const groups = [];
  let last;
  for (const run of runs) {
    // Those of one change share its cluster, outages of one domain their beginning.
    const { remedy, seed, domain } = run;
    const key = planned ? undefined : JSON.stringify(remedy ? [remedy, seed] : [seed, domain]);
    if (key !== undefined && key === last) groups.at(-1).push(run);
    else groups.push([run]);
    last = key;
  }
  return groups;
}

/** The runs of part `index` of `count`, counted from 1: every so many. */
const shardOf = (runs, [index, count]) =>
  runs.filter((_, place) => place % count === index - 1);

const isList = (value) => Array.isArray(value);
const isObject = (value) => typeof value === "object" && value !== null && !isList(value);

/** Whether this is `[index, count]` of a part. */
function isShard(value) {
  if (!isList(value)) return false;
  const [index, count] = value;
  return [index, count].every(Number.isInteger) && 1 <= index && index <= count;
}

/** A `TypeError` about a value that is something else. */
function unlike(name, wanted, value) {
  const shown = ["string", "number", "boolean"].includes(typeof value);
  const type = isList(value) ? "array" : typeof value;
  const short = String(shown ? value : "").slice(0, 40);
  const found = shown ? `the ${type} \`${short}\`` : `a value of type ${type}`;
  return new TypeError(`${name}: expected ${wanted}, found ${found}`);
}

class Failed extends Error {
  constructor(answer) {
    super(answer.errors?.[0]?.message);
    this.answer = answer;
  }
}

function ok(answer) {
  if (answer.ok === false) throw new Failed(answer);
  return answer;
}

/** Options of this module: what each has to be, and whether a value is that. */
const OWN = {
  onProgress: ["a function", (it) => typeof it === "function"],
  signal: ["an AbortSignal", (it) => typeof it.throwIfAborted === "function"],
  workers: ["a whole number, 0 or more", (it) => Number.isInteger(it) && it >= 0],
  shard: ["[index, count] with 1 <= index <= count", isShard],
  isScenario: ["true or false", (it) => typeof it === "boolean"],
  simulator: ["an object", isObject],
  parts: ["parts of a report", (it) => isList(it) && it.every((part) => isList(part?.results))],
};

/** The options, none for `null`; those of this module are what they have to be. */
function checked(options) {
  if (options === undefined || options === null) return {};
  if (!isObject(options)) throw unlike("options", "an object", options);
  for (const [name, [wanted, isThat]] of Object.entries(OWN)) {
    const value = options[name];
    const leftOut = value === undefined || value === null;
    if (!leftOut && !isThat(value)) throw unlike(`options.${name}`, wanted, value);
  }
  return options;
}

/**
 * Makes the runs of a report: what it is about and the results, which `merge` puts together. If it
 * is aborted by the signal, these are the results so far.
 */
export async function runs(manifests, settings) {
  const options = checked(settings);
  const { onProgress, signal, shard, isScenario = false, simulator, parts } = options;
  const others = Object.entries(options).filter(([name]) => !Object.hasOwn(OWN, name));
  const report = Object.fromEntries(others);
  const opened = { manifests, isScenario, options: simulator, report };
  const wanted = Math.max(1, Math.min(options.workers ?? cores(), 64));
  const staff = [];
  let hasEnded = false;
  const close = () => {
    hasEnded = true;
    staff.forEach((worker) => worker.close());
  };
  const results = parts?.flatMap((part) => part.results) ?? [];
  try {
    // One worker leaves nothing for others to do, but keeps this thread free.
    const worker = options.workers === 0 ? undefined : await remote();
    const first = worker ?? local();
    staff.push(first);
    const plan = ok(await first.call("open", opened, true));
    const { outline, warnings, imported } = plan;
    const assigned = parts ? [] : shard ? shardOf(plan.runs, shard) : plan.runs;
    // Of parts only what would help is left, of which it is not known how many runs it takes.
    const more = (parts ? wanted : Math.min(wanted, assigned.length || 1)) - 1;
    let [done, planned] = [0, assigned.length];
    onProgress?.({ done, planned });
    const another = async () => {
      const other = await remote();
      if (other) staff.push(other);
      if (hasEnded) other?.close();
      else if (other) ok(await other.call("open", opened, false));
      return other;
    };
    const all = [first, ...Array.from({ length: worker ? more : 0 }, another)];
    const make = async (list) => {
      const queue = batches(list, list === assigned);
      await Promise.all(
        all.map(async (coming) => {
          const one = await coming;
          for (let batch; one && !signal?.aborted && (batch = queue.shift()); ) {
            for (const run of batch) {
              if (signal?.aborted) return;
              const { ok: _, ...result } = ok(await one.call("run", run));
              results.push(result);
              done += 1;
              onProgress?.({ done, planned });
            }
          }
        }),
      );
    };
    await make(assigned);
    const complete = parts !== undefined || assigned.length === plan.runs.length;
    // What helps is tried in other failures once it is known.
    while (complete && !shard && !signal?.aborted) {
      const list = await first.call("remedies", results);
      if (list.length === 0) break;
      planned += list.length;
      await make(list);
    }
    const timelineSvg = async (run, subject) => {
      return ok(await first.call("timelineSvg", run, subject)).svg;
    };
    return { ok: true, outline, warnings, imported, results, timelineSvg, close };
  } catch (error) {
    close();
    if (error instanceof Failed) return error.answer;
    throw error;
  }
}

/** Puts results together: the same report, whoever made the runs and in whatever order. */
export function merge(outline, results) {
  return mergeReport(outline, results);
}

/** A resilience report of a cluster. */
export async function report(manifests, settings) {
  const options = checked(settings);
  options.signal?.throwIfAborted();
  const made = await runs(manifests, options);
  if (!made.ok) return made;
  made.close();
  options.signal?.throwIfAborted();
  const { warnings, imported } = made;
  const answer = merge(made.outline, made.results);
  return answer.ok ? { ...answer, warnings, ...(imported && { imported }) } : answer;
}
