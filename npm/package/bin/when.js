// `kubectl taintlab when`: when a pod is evicted if something happens to its node now.

import * as taintlab from "../dist/node.js";
import { parse, release } from "./arguments.js";
import { CONNECTION, notReadLines, readPod } from "./cluster.js";
import { bold, dim } from "./colours.js";
import { VERDICT, taintOf } from "./explain.js";
import { keyOf, notOnANode, podNamed } from "./pods.js";
import { EXIT, ok, usage, warn } from "./problems.js";
import {
  clock,
  printTable,
  simulated,
  simulatedLines,
  simulatorOfCluster,
  tell,
} from "./run.js";

const OPTIONS = {
  ...CONNECTION,
  fault: { type: "string" },
  // As --fault was once called.
  if: { type: "string" },
  taint: { type: "string" },
  release: { type: "string" },
  json: { type: "boolean", default: false },
};

/** What can happen to a node, by the names that `report --fault` has: in words, and as commands. */
const FAULTS = {
  lost: {
    text: (node) => `${node} is unreachable from now on`,
    command: (node) => ({ cutNetwork: { node } }),
    alone: { nodeFault: "lost" },
  },
  "network-cut": {
    text: (node) => `the network of ${node} is cut now`,
    command: (node) => ({ cutNetwork: { node } }),
    alone: { nodeFault: "lost" },
  },
  "power-off": {
    text: (node) => `${node} is off from now on`,
    command: (node) => ({ powerOffNode: { node } }),
    alone: { nodeFault: "lost" },
  },
  "kubelet-stopped": {
    text: (node) => `the kubelet of ${node} stops now`,
    command: (node) => ({ stopKubelet: { node } }),
    alone: { nodeFault: "lost" },
  },
  none: { text: () => "nothing happens", alone: { nodeFault: "tainted" } },
};

/** Names that they once had. */
const OLD = { unreachable: "lost", stopped: "kubelet-stopped", nothing: "none" };

/** How long what is said of a pod that stays is waited for: longer than any grace period. */
const SETTLED = "1h";

export async function when(args, help) {
  const { values, positionals } = parse(OPTIONS, args);
  if (values.help) return help();
  const wanted = podNamed("when", positionals, values.namespace);
  const fault = faultOf(values);
  release(values.release);
  const read = await readPod(wanted, values);
  const { pod, notRead } = read;
  const node = pod.spec?.nodeName;
  if (node === undefined) throw notOnANode(pod);
  // Without a list of the nodes nothing is known of the zones, and the others count as healthy.
  const isAlone = notRead.some(({ kind }) => kind === "nodes");
  const answer = isAlone ? aloneWith(read, fault, values) : inCluster(read, fault, values);
  if (values.json) {
    const known = simulated(read, values.release);
    const said = { pod: keyOf(pod), node, ...known, budget: answer.budget };
    const whole = { ...said, ...(notRead.length > 0 && { notRead }) };
    console.log(JSON.stringify(whole, undefined, 2));
    return EXIT.ok;
  }
  if (answer.budget) print(answer.budget, fault.text(node));
  else printStays(keyOf(pod), answer.verdict, fault.text(node));
  for (const line of simulatedLines(read, values.release)) console.log(dim(line));
  for (const line of notReadLines(notRead)) console.log(dim(line));
  return EXIT.ok;
}

/** In the cluster as it was read: the time budget, or the verdict on a pod that stays. */
function inCluster(read, fault, values) {
  const { pod, objects } = read;
  const made = simulatorOfCluster({ ...read, objects: [...objects, pod] });
  const { simulator, imported } = made;
  warn(made.warnings);
  tell(imported, values.release);
  if (fault.command) ok(simulator.command(fault.command(pod.spec.nodeName)));
  const budget = simulator.timeBudget(keyOf(pod));
  // A pod that stays may be gone by then: that of a Job that is done, or one that was deleted.
  if (budget === undefined) ok(simulator.advanceTo(SETTLED));
  const verdict = budget ? undefined : simulator.explain(keyOf(pod))?.matching.verdict;
  simulator.free();
  return { budget, verdict };
}

/** On its node in a healthy cluster. */
function aloneWith(read, fault, values) {
  const { pod, objects } = read;
  const name = pod.spec.nodeName;
  const node = objects.find(({ kind }) => kind === "Node") ?? { metadata: { name } };
  const taints = [...(node.spec?.taints ?? []), ...(fault.taint ? [fault.taint] : [])];
  tell(read, values.release);
  const tainted = { ...node, spec: { ...node.spec, taints } };
  const devices = objects.filter(({ apiVersion }) => apiVersion?.startsWith("resource.k8s.io/"));
  const options = { ...fault.alone, devices, ...release(read.release) };
  const { budget, matching } = ok(taintlab.whenEvicted(pod, tainted, options));
  return { budget, verdict: matching.verdict };
}

function faultOf({ fault: given, if: old, taint: text }) {
  const name = given ?? old;
  const [, kind, said] = /^(tainted)=(.*)$/s.exec(name ?? "") ?? [];
  if (name !== undefined && text !== undefined) {
    throw usage("--fault and --taint cannot be used together");
  }
  if (text !== undefined || kind) {
    const taint = taintOf(said ?? text);
    return {
      text: (node) => `${node} is tainted with ${said ?? text} now`,
      command: (node) => ({ taint: { node, taint } }),
      alone: { nodeFault: "tainted" },
      taint,
    };
  }
  const known = (Object.hasOwn(OLD, name ?? "") && OLD[name]) || (name ?? "lost");
  if (Object.hasOwn(FAULTS, known)) return FAULTS[known];
  const names = [...Object.keys(FAULTS), "tainted=TAINT"].join(", ");
  throw usage(`--fault: expected ${names}, found \`${name}\``);
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

function printStays(pod, verdict, fault) {
  console.log(bold(`${pod}: if ${fault}, it is not evicted`));
  if (verdict) console.log(VERDICT[verdict.type](verdict));
}
