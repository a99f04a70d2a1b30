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

/** What is read. Without what is `needed` there is nothing to simulate. */
const KINDS = [
  { kind: "nodes", needed: true },
  { kind: "leases", resource: "leases.coordination.k8s.io", args: ["-n", "kube-node-lease"] },
  { kind: "pods", needed: true, namespaced: true },
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

/** How many of them are asked for at the same time. */
const AT_ONCE = 4;

/**
 * The objects of the cluster that the options mean, and its release as far as the engine knows
 * it. What was read, and what could not be, goes to standard error.
 */
export async function readCluster(values) {
  const connection = connectionOf(values);
  const answers = await inParallel(KINDS, (wanted) => list(wanted, connection, values.namespace));
  const server = await serverVersion(connection);
  const read = answers.filter(({ items }) => items !== undefined);
  const name = values.context ?? (await currentContext(connection));
  const counts = read.map(({ kind, items, where }) => `${items.length} ${kind}${where}`);
  const of = `${name ? `context ${name}` : "the cluster"}${server ? ` (${server})` : ""}`;
  console.error(`read of ${of}: ${counts.join(", ")}`);
  for (const { kind, why, needed } of answers.filter(({ why }) => why !== undefined)) {
    if (needed) throw new Stop(`error: kubectl cannot list ${kind}: ${why}`, EXIT.failed);
    console.error(`not read: ${kind}: ${why}`);
  }
  const objects = read.flatMap(({ items }) => items);
  return { objects, ...releaseOf(server) };
}

/** The arguments of `kubectl` that say which cluster is meant. */
function connectionOf(values) {
  const names = Object.keys(CONNECTION).filter((name) => name !== "namespace");
  return names.flatMap((name) => [values[name] ?? []].flat().map((value) => `--${name}=${value}`));
}

/** Answers in the order of the questions, of which a few are asked at the same time. */
async function inParallel(questions, ask) {
  const answers = [];
  let next = 0;
  const worker = async () => {
    while (next < questions.length) {
      const index = next++;
      answers[index] = await ask(questions[index]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return answers;
}

/** The objects of a kind; where that is forbidden for the cluster, those of the namespace. */
async function list(wanted, connection, namespace) {
  const { resource = wanted.kind, args = wanted.namespaced ? ["-A"] : [] } = wanted;
  const get = (...more) => kubectl(["get", resource, "-o", "json", ...more, ...connection]);
  let { stdout, why, forbidden } = await get(...args);
  let where = "";
  if (forbidden && wanted.namespaced) {
    const own = await get(...(namespace === undefined ? [] : ["-n", namespace]));
    if (own.why === undefined) {
      ({ stdout, why } = own);
      where = ` (of the namespace ${namespace ?? "of the context"} alone)`;
    }
  }
  if (why !== undefined) return { ...wanted, why };
  const { items } = parsed(stdout, wanted.kind);
  return { ...wanted, items, where };
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

async function currentContext(connection) {
  const file = connection.filter((arg) => arg.startsWith("--kubeconfig="));
  const { stdout, why } = await kubectl(["config", "current-context", ...file]);
  return why === undefined ? stdout.trim() : undefined;
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
const ABSENT = /doesn't have a resource type|could not find the requested resource|\(NotFound\)/;

/**
 * What `kubectl` prints. `why` says that it may not be read or is not there; whatever else goes
 * wrong ends the program, since half of a cluster would be taken for the whole.
 */
async function kubectl(args) {
  const program = process.env.KUBECTL || "kubectl";
  const { stdout, stderr, code } = await execute(program, args);
  if (code === 0) return { stdout };
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
