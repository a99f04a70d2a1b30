// `kubectl taintlab when`: when a pod is evicted if something happens to its node now.

import { parse, release } from "./arguments.js";
import { CONNECTION } from "./cluster.js";
import { bold } from "./colours.js";
import { VERDICT, taintOf } from "./explain.js";
import { notOnANode, podNamed, podOf } from "./pods.js";
import { EXIT, ok, usage, warn } from "./problems.js";
import { clock, openCluster, printTable, tell } from "./run.js";

const OPTIONS = {
  ...CONNECTION,
  if: { type: "string" },
  taint: { type: "string" },
  release: { type: "string" },
  json: { type: "boolean", default: false },
};

/** What can happen to a node: in words, and as commands. */
const FAULTS = {
  unreachable: {
    text: (node) => `${node} is unreachable from now on`,
    command: (node) => ({ cutNetwork: { node } }),
  },
  stopped: {
    text: (node) => `the kubelet of ${node} stops now`,
    command: (node) => ({ stopKubelet: { node } }),
  },
  nothing: { text: () => "nothing happens" },
};

/** How long what is said of a pod that stays is waited for: longer than any grace period. */
const SETTLED = "1h";

export async function when(args, help) {
  const { values, positionals } = parse(OPTIONS, args);
  if (values.help) return help();
  const wanted = podNamed("when", positionals, values.namespace);
  const fault = faultOf(values);
  const made = await openCluster(values, release(values.release));
  const { simulator, imported } = made;
  warn(made.warnings);
  tell(imported, values.release);
  const node = podOf(simulator, wanted).spec.nodeName;
  if (node === undefined) throw notOnANode(wanted);
  if (fault.command) ok(simulator.command(fault.command(node)));
  const budget = simulator.timeBudget(wanted.key);
  if (values.json) console.log(JSON.stringify({ pod: wanted.key, node, budget }, undefined, 2));
  else if (budget === undefined) printStays(simulator, wanted.key, fault.text(node));
  else print(budget, fault.text(node));
  simulator.free();
  return EXIT.ok;
}

function faultOf({ if: name, taint: text }) {
  if (text !== undefined) {
    if (name !== undefined) throw usage("--if and --taint cannot be used together");
    const taint = taintOf(text);
    return {
      text: (node) => `${node} is tainted with ${text} now`,
      command: (node) => ({ taint: { node, taint } }),
    };
  }
  const fault = Object.hasOwn(FAULTS, name ?? "unreachable") && FAULTS[name ?? "unreachable"];
  if (fault) return fault;
  throw usage(`--if: expected ${Object.keys(FAULTS).join(", ")}, found \`${name}\``);
}

function print({ pod, evictedAt, goneAt, awaitsKubelet, terms, range }, fault) {
  console.log(bold(`${pod}: if ${fault}, it is evicted after ${clock(evictedAt)}`));
  const rows = terms.map(({ durationMilliseconds, text, setBy = "" }) => [
    clock(durationMilliseconds),
    text,
    setBy,
  ]);
  printTable(["TIME", "WHAT", "SET BY"], rows);
  if (range) console.log(range.text);
  if (awaitsKubelet) console.log("its object stays until the kubelet is back");
  else if (goneAt !== undefined) console.log(`its object is gone after ${clock(goneAt)}`);
}

function printStays(simulator, pod, fault) {
  ok(simulator.advanceTo(SETTLED));
  console.log(bold(`${pod}: if ${fault}, it is not evicted`));
  // It may be gone by then: a Job's pod that is done, or one that was being deleted already.
  const { verdict } = simulator.explain(pod)?.matching ?? {};
  if (verdict) console.log(VERDICT[verdict.type](verdict));
}
