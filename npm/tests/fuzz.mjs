// Random calls of everything that the package exports, with values of all kinds.
//
// Nothing may be thrown but what the calls document and what the values themselves throw; the
// module must answer afterwards as it did before; no call may take long; memory must not grow
// without bound.
//
//     node npm/tests/fuzz.mjs --calls 10000000 --seed 1     # many calls; every episode has a seed
//     of its own node npm/tests/fuzz.mjs --episode 123 --verbose       # one episode again, call by
//     call
//
// Environment: TAINTLAB_PACKAGE, the tarball that `cargo xtask npm` built.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

import { EXAMPLES, install } from "./support.mjs";
import { values } from "./fuzz-values.mjs";

/** How many calls have the same simulators and values. */
const EPISODE = 100;
/** A call that takes longer than this, in milliseconds, hangs. */
const HANGS = 30_000;
/** What calls may throw besides what a value throws itself. */
const DOCUMENTED = [
  [TypeError, /./],
  [RangeError, /Maximum call stack|Invalid string length|at most 1000000 can be read|no more memory|mine/],
  [Error, /^this (Simulator|Snapshot) is busy/],
  [Error, /^taintlab: reset\(\) cannot be called/],
  [Error, /^this (Simulator|Snapshot) stopped because of an internal error/],
];

/** Runs an episode; how many calls it made. */
function episode(modules, seed, examples, { verbose, called }) {
  const { taintlab, lite } = modules;
  const make = values(seed, examples);
  const { random, pick, chance } = make;
  const simulators = [];
  const snapshots = [];
  let calls = 0;
  let nested = 0;

  /** One random call. */
  const call = () => {
    calls += 1;
    let what;
    try {
      what = operation();
    } catch {
      // A value that throws when it is looked at was put into another.
      return;
    }
    called(calls);
    if (verbose) console.log(`${calls} ${what.name}`);
    const outer = nested;
    nested += 1;
    try {
      keep(what());
    } catch (error) {
      if (
        error !== make.MINE &&
        !DOCUMENTED.some(([type, text]) => error instanceof type && text.test(error.message))
      ) {
        throw new Error(
          `call ${calls} of episode ${seed}, ${what.name}: ${error?.stack ?? error}`,
          { cause: error },
        );
      }
    } finally {
      nested = outer;
    }
  };
  make.reenter = () => nested < 4 && call();

  function keep(answer) {
    if (answer instanceof taintlab.Snapshot) snapshots.push(answer);
    const simulator = answer?.simulator;
    if (simulator instanceof taintlab.Simulator) simulators.push(simulator);
    for (const list of [simulators, snapshots]) if (list.length > 4) list.shift().free();
  }

  const named = (name, work) => Object.defineProperty(work, "name", { value: name });
  function operation() {
    const module = chance(0.5) ? taintlab : lite;
    if (simulators.length === 0 || chance(0.6)) return question(module);
    const simulator = pick(simulators);
    const name = pick(METHODS);
    const args =
      {
        advanceTo: [make.time()],
        runUntil: [make.condition(), make.options("run")],
        restore: [chance(0.8) ? pick(snapshots) : make.odd()],
        command: [make.command(), chance(0.7) ? undefined : make.time()],
        kubectl: [make.line(), chance(0.7) ? undefined : make.time(), make.options("kubectl")],
        events: [make.options("events")],
        pods: [make.options("pods")],
        node: [make.name()],
        explain: [make.name()],
        timeBudget: [make.name()],
        availability: [make.name()],
        wallClock: [make.time()],
      }[name] ?? [];
    if (name === "now") return named("now", () => simulator.now);
    if (name === "free" && chance(0.8))
      return named("nextDeadline", () => simulator.nextDeadline());
    return named(`${name}(${show(args)})`, () => simulator[name](...args));
  }

  function question(module) {
    const name = pick(
      Object.keys(module).filter(
        (name) => !/^(ReportPlan|Simulator|Snapshot|reset|default|initSync)$/.test(name),
      ),
    );
    if (module === taintlab && chance(simulators.length === 0 ? 0.3 : 0.05)) {
      const from = chance(0.7) ? "fromManifests" : "fromScenario";
      const args = [
        from === "fromManifests" ? make.manifests() : make.scenario(),
        make.options("simulator"),
      ];
      return named(`${from}(${show(args)})`, () => taintlab.Simulator[from](...args));
    }
    const args = {
      matchTolerations: [make.taints(), make.tolerations(), make.options("release")],
      minTolerationSeconds: [make.tolerations()],
      validateTaints: [make.taints()],
      validateTolerations: [make.tolerations(), make.options("release")],
      parseTaint: [make.text()],
      zoneState: [make.objects(), make.options("zone")],
      whenEvicted: [make.object("Pod"), make.object("Node"), make.options("when")],
      schedule: [make.object("Pod"), make.objects(), make.objects(), make.options("release")],
      parseManifests: [make.text(), make.options("manifest")],
      lint: [make.manifests(), make.options("simulator")],
      testScenario: [make.scenario(), make.options("scenario")],
      rankForEviction: [make.objects(), make.text(), make.options("rank")],
    }[name] ?? [make.odd()];
    return named(`${name}(${show(args)})`, () => module[name](...args));
  }

  const METHODS = Object.getOwnPropertyNames(taintlab.Simulator.prototype).filter(
    (name) => !/^(constructor|__)/.test(name),
  );
  const show = (args) => (verbose ? make.show(args) : "");

  for (let i = 0; i < EPISODE; i++) call();
  for (const object of [...simulators, ...snapshots]) object.free();
  const matched = taintlab.matchTolerations(
    [{ key: "a", effect: "NoExecute" }],
    [{ operator: "Exists" }],
  );
  if (matched.taints[0].tolerationIndex !== 0 || lite.minTolerationSeconds([]) !== 0)
    throw new Error(`episode ${seed} changed answers`);
  void random;
  return calls;
}

/** The package, and what its modules hold of memory. */
async function load(folder) {
  const instances = [];
  const { Instance } = WebAssembly;
  WebAssembly.Instance = class extends Instance {
    constructor(module, imports) {
      super(module, imports);
      instances.push(this.exports);
    }
  };
  const require = createRequire(join(folder, "main.cjs"));
  const modules = { taintlab: require("taintlab"), lite: require("taintlab/lite") };
  WebAssembly.Instance = Instance;
  const held = () => ({
    memory: instances.map(({ memory }) => memory.buffer.byteLength),
    table: instances.map(
      (exports) => Object.values(exports).find((e) => e instanceof WebAssembly.Table).length,
    ),
    heap: process.memoryUsage().heapUsed,
  });
  return { modules, held };
}

/** The scenarios of the repository without groups of nodes: many calls matter more than large ones. */
const smallExamples = () =>
  EXAMPLES.map((file) => readFileSync(file, "utf8")).filter((text) => !/count:/.test(text));

/** Runs episodes from a seed on in a thread, which is watched; what came of them. */
export function fuzz({ folder, seed, calls, milliseconds = Infinity, onProgress }) {
  const at = new Float64Array(new SharedArrayBuffer(24));
  const worker = new Worker(fileURLToPath(import.meta.url), {
    workerData: { folder, seed, calls, milliseconds, at },
  });
  return new Promise((resolve, reject) => {
    let last = [-1, -1];
    let since = Date.now();
    const watch = setInterval(() => {
      if (at[0] === last[0] && at[1] === last[1]) {
        if (Date.now() - since < HANGS) return;
        worker.terminate();
        clearInterval(watch);
        reject(new Error(`call ${at[1]} of episode ${at[0]} hangs`));
      }
      last = [at[0], at[1]];
      since = Date.now();
    }, 1000);
    worker.on("message", (message) => (message.done ? resolve(message) : onProgress?.(message)));
    worker.on("error", (error) =>
      reject(new Error(`episode ${at[0]}: ${error.stack}`, { cause: error })),
    );
    worker.on("exit", () => clearInterval(watch));
  });
}

async function work() {
  const { folder, seed, calls, milliseconds, at } = workerData;
  const { modules, held } = await load(folder);
  const examples = smallExamples();
  const start = performance.now();
  let number = 0;
  let longest = 0;
  let slowest;
  let before = performance.now();
  let told = start;
  let first;
  for (let next = seed; number < calls && performance.now() - start < milliseconds; next++) {
    at[0] = next;
    number += episode(modules, next, examples, {
      called: (call) => {
        at[1] = call;
        const now = performance.now();
        // The time is that of the call before.
        if (now - before > longest) [longest, slowest] = [now - before, [next, call - 1]];
        before = now;
      },
    });
    first ??= held();
    if (performance.now() - told > 10_000) {
      told = performance.now();
      parentPort.postMessage({
        number,
        episode: next,
        seconds: (told - start) / 1000,
        longest,
        slowest,
        ...held(),
      });
    }
  }
  parentPort.postMessage({
    done: true,
    number,
    seconds: (performance.now() - start) / 1000,
    longest,
    slowest,
    first,
    last: held(),
  });
}

if (!isMainThread) {
  await work();
} else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = {
    calls: { type: "string" },
    seed: { type: "string" },
    episode: { type: "string" },
    verbose: { type: "boolean" },
  };
  const { values: given } = parseArgs({ options });
  const folder = await install();
  if (given.episode) {
    const { modules } = await load(folder);
    const examples = smallExamples();
    const { verbose } = given;
    console.log(
      episode(modules, Number(given.episode), examples, { verbose, called: () => {} }),
      "calls",
    );
  } else {
    const onProgress = (message) => console.log(JSON.stringify(message));
    const calls = Number(given.calls ?? 100_000);
    console.log(
      JSON.stringify(await fuzz({ folder, seed: Number(given.seed ?? 1), calls, onProgress })),
    );
  }
}
