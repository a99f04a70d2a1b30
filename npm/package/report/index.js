// The resilience report: its runs know nothing of one another, and are spread over workers where
// the host has them.

import { mergeReport } from "taintlab";

import { server } from "./core.js";

const isNode = typeof process === "object" && Boolean(process.versions?.node);

/** Lets whatever else waits be done: a click on Cancel, the bar of progress. */
const breathe = () => new Promise((resolve) => setTimeout(resolve, 0));

/** A plan in this thread. */
function local() {
  const calls = server();
  return {
    async call(method, ...args) {
      await breathe();
      return calls[method](...args);
    },
    close: () => calls.close(),
  };
}

/** A plan in a worker; `undefined` where the host has none. */
async function remote() {
  let worker;
  try {
    if (isNode) {
      const threads = await import(/* webpackIgnore: true */ "node:worker_threads");
      worker = new threads.Worker(new URL("./worker.js", import.meta.url));
    } else if (typeof Worker === "function") {
      // As bundlers look for it.
      worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    } else return undefined;
  } catch {
    return undefined;
  }
  const waiting = new Map();
  let next = 0;
  const failed = (error) => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  const answered = ({ id, value, error }) => {
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(new Error(error));
  };
  if (isNode) {
    worker.on("message", answered);
    worker.on("error", failed);
  } else {
    worker.onmessage = ({ data }) => answered(data);
    worker.onerror = ({ message }) => failed(new Error(message));
  }
  return {
    call(method, ...args) {
      return new Promise((resolve, reject) => {
        const id = next++;
        waiting.set(id, { resolve, reject });
        worker.postMessage({ id, method, args });
      });
    },
    close() {
      failed(new Error("the worker was ended"));
      worker.terminate();
    },
  };
}

/** How many workers make the runs unless told otherwise. */
async function cores() {
  if (isNode) {
    return (await import(/* webpackIgnore: true */ "node:os")).availableParallelism();
  }
  return globalThis.navigator?.hardwareConcurrency ?? 1;
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
function shardOf(runs, [index, count]) {
  const whole = Number.isInteger(index) && Number.isInteger(count);
  if (!whole || index < 1 || index > count) {
    throw new TypeError("shard: expected [index, count] with 1 <= index <= count");
  }
  return runs.filter((_, place) => place % count === index - 1);
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

const OWN = ["onProgress", "signal", "workers", "shard", "isScenario", "simulator", "parts"];

/**
 * Makes the runs of a report: what it is about and the results, which `merge` puts together. If it
 * is aborted by the signal, these are the results so far.
 */
export async function runs(manifests, options = {}) {
  const { onProgress, signal, shard, isScenario = false, simulator, parts } = options;
  const others = Object.entries(options).filter(([name]) => !OWN.includes(name));
  const report = Object.fromEntries(others);
  const settings = { manifests, isScenario, options: simulator, report };
  const wanted = Math.max(1, Math.min(options.workers ?? (await cores()), 64));
  const staff = [];
  const results = parts?.flatMap((part) => part.results) ?? [];
  try {
    // One worker leaves nothing for others to do, but keeps this thread free.
    const first = (options.workers === 0 ? undefined : await remote()) ?? local();
    staff.push(first);
    const plan = ok(await first.call("open", settings, true));
    const { outline, warnings, imported } = plan;
    const assigned = parts ? [] : shard ? shardOf(plan.runs, shard) : plan.runs;
    // Of parts only what would help is left, of which it is not known how many runs it takes.
    const more = (parts ? wanted : Math.min(wanted, assigned.length || 1)) - 1;
    for (let index = 0; index < more && options.workers !== 0; index++) {
      const worker = await remote();
      if (!worker) break;
      staff.push(worker);
    }
    const opened = staff.map((worker, index) =>
      index === 0 ? undefined : worker.call("open", settings, false),
    );
    let [done, planned] = [0, assigned.length];
    onProgress?.({ done, planned });
    const make = async (list) => {
      const queue = batches(list, list === assigned);
      await Promise.all(
        staff.map(async (worker, index) => {
          if (opened[index]) ok(await opened[index]);
          for (let batch; !signal?.aborted && (batch = queue.shift()); ) {
            for (const run of batch) {
              if (signal?.aborted) return;
              const { ok: _, ...result } = ok(await worker.call("run", run));
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
    const close = () => staff.forEach((worker) => worker.close());
    return { ok: true, outline, warnings, imported, results, timelineSvg, close };
  } catch (error) {
    staff.forEach((worker) => worker.close());
    if (error instanceof Failed) return error.answer;
    throw error;
  }
}

/** Puts results together: the same report, whoever made the runs and in whatever order. */
export function merge(outline, results) {
  return mergeReport(outline, results);
}

/** A resilience report of a cluster. */
export async function report(manifests, options = {}) {
  options.signal?.throwIfAborted();
  const made = await runs(manifests, options);
  if (!made.ok) return made;
  made.close();
  options.signal?.throwIfAborted();
  const { warnings, imported } = made;
  const answer = merge(made.outline, made.results);
  return answer.ok ? { ...answer, warnings, ...(imported && { imported }) } : answer;
}
