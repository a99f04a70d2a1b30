// What `kubectl taintlab` reads of a cluster: by `kubectl get`, and nothing is ever written.

import { spawn } from "node:child_process";

import * as taintlab from "../dist/node.js";
import { EXIT, Stop, systemText } from "./problems.js";
import { LIMIT } from "./reading.js";

/** The options of `kubectl` that say which cluster is meant, and how it is asked. */
export const CONNECTION = {
  context: { type: "string" },
  kubeconfig: { type: "string" },
  cluster: { type: "string" },
  user: { type: "string" },
  as: { type: "string" },
  "as-group": { type: "string", multiple: true },
  "request-timeout": { type: "string", default: "60s" },
  namespace: { type: "string", short: "n" },
};

const NODES = { kind: "nodes" };
const LEASES = {
  kind: "leases",
  resource: "leases.coordination.k8s.io",
  args: ["-n", "kube-node-lease"],
};
const PODS = { kind: "pods", namespaced: true };

/** What is read of a cluster as a whole. */
const KINDS = [
  NODES,
  LEASES,
  PODS,
  { kind: "deployments", resource: "deployments.apps", namespaced: true },
  { kind: "replicasets", resource: "replicasets.apps", namespaced: true },
  { kind: "statefulsets", resource: "statefulsets.apps", namespaced: true },
  { kind: "daemonsets", resource: "daemonsets.apps", namespaced: true },
  { kind: "jobs", resource: "jobs.batch", namespaced: true },
  { kind: "poddisruptionbudgets", resource: "poddisruptionbudgets.policy", namespaced: true },
  { kind: "priorityclasses", resource: "priorityclasses.scheduling.k8s.io" },
  { kind: "persistentvolumes" },
  { kind: "persistentvolumeclaims", namespaced: true },
  { kind: "storageclasses", resource: "storageclasses.storage.k8s.io" },
];

/** What is read besides, if a pod claims devices. */
const DEVICES = [
  { kind: "resourceslices", resource: "resourceslices.resource.k8s.io" },
  { kind: "resourceclaims", resource: "resourceclaims.resource.k8s.io", namespaced: true },
  { kind: "devicetaintrules", resource: "devicetaintrules.resource.k8s.io" },
];

/** How many of them are asked for at the same time. */
const AT_ONCE = 4;

/**
 * The objects of the cluster that the options mean, its release as far as the engine knows it, and
 * what could not be read. What was read, and what not, goes to standard error as well.
 */
export async function readCluster(values) {
  const asked = await ask(values, KINDS);
  const [nodes, , pods] = asked.answers;
  if (pods.why !== undefined) throw cannot("list pods", pods.why);
  if (nodes.why !== undefined) {
    const names = pods.items.flatMap(({ spec }) => spec?.nodeName ?? []);
    const read = await nodesNamed([...new Set(names)], asked.connection);
    if (read.length === 0) throw cannot("list nodes", nodes.why);
    const known = new Set(read.map(({ metadata }) => metadata.name));
    const stays = ({ spec }) => spec?.nodeName === undefined || known.has(spec.nodeName);
    const left = pods.items.filter((pod) => !stays(pod)).length;
    pods.items = pods.items.filter(stays);
    const without = left > 0 ? `, without ${left} on nodes that cannot be read` : "";
    Object.assign(nodes, { items: read, where: " (those of the pods)", limit: nodes.why });
    pods.where += without;
    if (without) pods.limit ??= `${left} are on nodes that cannot be read`;
  }
  await askDevices(asked, pods.items);
  return told(asked, values);
}

/** The same of one pod: with the nodes and their leases, on which depends when it is evicted. */
export async function readPod(wanted, values) {
  const asked = await ask(values, [NODES, LEASES], wanted);
  const { pod, connection } = asked;
  const [nodes, leases] = asked.answers;
  if (nodes.why !== undefined) {
    const name = pod.spec?.nodeName;
    const read = name === undefined ? [] : await nodesNamed([name], connection);
    const limit = `${nodes.why}; all others are taken for healthy`;
    if (read.length > 0) Object.assign(nodes, { items: read, where: " (that of the pod)", limit });
    leases.items &&= leases.items.filter(({ metadata }) => metadata.name === name);
  }
  await askDevices(asked, [pod]);
  return told(asked, values);
}

/** A pod and its node, or another one; without the node, where it may be so and is forbidden. */
export async function readPodAndNode(wanted, values, mayBeAlone) {
  const asked = await ask(values, [], wanted);
  const { pod, connection } = asked;
  const name = values.node ?? pod.spec?.nodeName;
  if (name !== undefined) {
    const get = ["get", "nodes", name, "-o", "json", ...connection];
    const { stdout, why, forbidden } = await kubectl(get);
    if (why !== undefined && !(forbidden && mayBeAlone)) {
      const help = forbidden ? "; name its taints with --taint" : "";
      throw new Stop(`error: ${why}${help}`, EXIT.failed);
    }
    if (why !== undefined) asked.answers.push({ ...NODES, why });
    else asked.answers.push({ ...NODES, items: [parsed(stdout, "nodes")], where: "" });
  }
  return told(asked, values);
}

const cannot = (what, why) => new Stop(`error: kubectl cannot ${what}: ${why}`, EXIT.failed);

/** Asks the cluster for lists, and for a pod if one is wanted, a few at the same time. */
async function ask(values, kinds, wanted) {
  const connection = connectionOf(values);
  const { name, namespace = "default" } = await contextOf(connection);
  const own = values.namespace ?? namespace;
  const questions = kinds.map((kind) => () => list(kind, connection, own));
  questions.push(() => serverVersion(connection));
  if (wanted) questions.push(() => podOf(wanted, own, connection));
  const answers = await inParallel(questions);
  const pod = wanted && answers.pop();
  return { connection, own, name, version: answers.pop(), pod, answers };
}

/** Asks for devices, if one of the pods claims some. Before 1.36 there need be no rules. */
async function askDevices({ connection, own, answers }, pods) {
  if (!pods.some(({ spec }) => spec?.resourceClaims?.length > 0)) return;
  const devices = await inParallel(DEVICES.map((kind) => () => list(kind, connection, own)));
  answers.push(...devices.filter(({ why, forbidden }) => why === undefined || forbidden));
}

async function podOf({ name, namespace }, own, connection) {
  const inside = namespace ?? own;
  const get = ["get", "pods", name, "-n", inside, "-o", "json"];
  const { stdout, why, forbidden } = await kubectl([...get, ...connection]);
  if (why === undefined) return parsed(stdout, "pods");
  const where = forbidden || !why.startsWith("pods ") ? "" : ` in the namespace ${inside}`;
  throw new Stop(`error: ${why}${where}`, EXIT.failed);
}

/** Says what was read and what not, and gives it to the caller. */
function told({ name, version, pod, answers }, values) {
  const read = answers.filter(({ items }) => items !== undefined);
  const counts = read.map(({ kind, items, where }) => `${count(items.length, kind)}${where}`);
  if (pod) counts.unshift(`the pod ${pod.metadata.namespace}/${pod.metadata.name}`);
  const of = `${name ? `context ${name}` : "the cluster"}${version ? ` (${version})` : ""}`;
  console.error(`read of ${of}: ${counts.join(", ")}`);
  const limited = answers.filter(({ why, limit = why }) => limit !== undefined);
  const notRead = limited.map(({ kind, why, limit = why }) => ({ kind, why: limit }));
  for (const line of notReadLines(notRead)) console.error(line);
  const objects = read.flatMap(({ items }) => items);
  const server = releaseOf(version);
  const known = { ...server, release: values.release ?? server.release };
  const [namespace] = read.flatMap(({ kind, only }) => (kind === "pods" && only ? [only] : []));
  return { objects, pod, notRead, namespace, context: name, version, ...known };
}

/** `1 node`, `2 nodes`, `1 priorityclass`. */
const count = (number, kind) =>
  `${number} ${number === 1 ? kind.replace(/(ss)es$|s$/, "$1") : kind}`;

/** A line for each kind that could not be read, or not all of it. */
export const notReadLines = (notRead = []) =>
  notRead.map(({ kind, why }) => `not read: ${kind}: ${why}`);

/** The arguments of `kubectl` that say which cluster is meant. */
function connectionOf(values) {
  const names = Object.keys(CONNECTION).filter((name) => name !== "namespace");
  return names.flatMap((name) => [values[name] ?? []].flat().map((value) => `--${name}=${value}`));
}

/** Answers in the order of the questions, of which a few are asked at the same time. */
async function inParallel(questions) {
  const answers = [];
  let next = 0;
  const worker = async () => {
    while (next < questions.length) {
      const index = next++;
      answers[index] = await questions[index]();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return answers;
}

/** The objects of a kind; where that is forbidden for the cluster, those of the namespace. */
async function list(wanted, connection, namespace) {
  const { resource = wanted.kind, args = wanted.namespaced ? ["-A"] : [] } = wanted;
  const get = (...more) => kubectl(["get", resource, "-o", "json", ...more, ...connection]);
  const all = await get(...args);
  let { stdout, why } = all;
  let [where, limit, only] = ["", undefined, undefined];
  if (all.forbidden && wanted.namespaced) {
    const own = await get("-n", namespace);
    if (own.why === undefined) {
      ({ stdout, why } = own);
      only = namespace;
      where = ` (of the namespace ${namespace} alone)`;
      limit = `${all.why}; only those of the namespace ${namespace} are known`;
    }
  }
  if (why !== undefined) return { ...wanted, why, forbidden: all.forbidden };
  return { ...wanted, items: parsed(stdout, wanted.kind).items, where, limit, only };
}

/** Those of the nodes that may be read. */
async function nodesNamed(names, connection) {
  if (names.length === 0) return [];
  const get = ["get", "nodes", ...names, "--ignore-not-found", "-o", "json", ...connection];
  // Of several, kubectl prints those that it may read.
  const { stdout } = await execute(process.env.KUBECTL || "kubectl", get);
  if (stdout.trim() === "") return [];
  const read = parsed(stdout, "nodes");
  return read.items ?? [read];
}

function parsed(text, kind) {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = `error: what kubectl printed of ${kind} is not JSON: ${error.message}`;
    throw new Stop(message, EXIT.failed);
  }
}

/** What the API server says of its version; nothing if it says nothing. */
async function serverVersion(connection) {
  const { stdout, why } = await kubectl(["version", "-o", "json", ...connection]);
  return why === undefined ? parsed(stdout, "the version").serverVersion?.gitVersion : undefined;
}

/** The name and the namespace of the context, as kubectl understands the options. */
async function contextOf(connection) {
  const view = ["config", "view", "--minify", "-o", "json", ...connection];
  const { stdout, why } = await kubectl(view);
  const { contexts, "current-context": name } = why === undefined ? parsed(stdout, "config") : {};
  return { name, namespace: contexts?.[0]?.context?.namespace };
}

/** The release that is simulated for a server of this version, and how that is told. */
function releaseOf(version) {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version ?? "") ?? [];
  if (minor === undefined) return {};
  const known = taintlab.releases();
  const release = `${major}.${minor}`;
  if (known.includes(release)) return { release, releaseText: `the API server is ${version}` };
  const number = (text) => Number(text.split(".")[1]);
  const nearest = number(release) < number(known[0]) ? known[0] : known.at(-1);
  return {
    release: nearest,
    releaseText: `the API server is ${version}, and ${nearest} is the nearest that is known`,
  };
}

/** What is no answer, but says that there is nothing to be had. */
const FORBIDDEN = /\(Forbidden\)/;
const EXPIRED = /\(Expired\)|continue parameter is too old/;
const ABSENT = /doesn't have a resource type|could not find the requested resource|\(NotFound\)/;

/**
 * What `kubectl` prints. `why` says that it may not be read or is not there; whatever else goes
 * wrong ends the program, since half of a cluster would be taken for the whole.
 */
async function kubectl(args) {
  const program = process.env.KUBECTL || "kubectl";
  const { stdout, stderr, code } = await execute(program, args);
  if (code === 0) return { stdout };
  // What was listed page by page has changed too much in between: all of it at once, then.
  const whole = "--chunk-size=0";
  if (EXPIRED.test(stderr) && !args.includes(whole)) return kubectl([...args, whole]);
  const lines = stderr.trim().split("\n");
  const why = lines.at(-1).replace(/^(error|Error from server( \(\w+\))?): /, "");
  const forbidden = FORBIDDEN.test(stderr);
  if (forbidden || ABSENT.test(stderr)) return { why, forbidden };
  if (args[0] === "get") {
    throw new Stop(`error: kubectl cannot list ${args[1].split(".")[0]}: ${why}`, EXIT.failed);
  }
  return { why };
}

function execute(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    const chunks = [];
    let length = 0;
    let stderr = "";
    child.on("error", (error) => {
      const why = error.code === "ENOENT" ? "there is no such program on PATH" : systemText(error);
      reject(new Stop(`error: \`${program}\` cannot be run: ${why}`, EXIT.failed));
    });
    child.stdout.on("data", (chunk) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length > LIMIT) {
        child.kill();
        const message = `error: ${args[1]}: kubectl prints more than ${LIMIT / 1e6} MB`;
        reject(new Stop(message, EXIT.failed));
      }
    });
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
    child.on("close", (code) => {
      resolve({ stdout: Buffer.concat(chunks).toString("utf8"), stderr, code });
    });
  });
}
