// A large cluster as `kubectl get -o json` prints it, the less interesting fields left out: pods of
// Deployments, with their ReplicaSets and PodDisruptionBudgets, spread over three zones. The
// benchmarks of the engine, the package and the page measure the same one. As a program it writes
// the text: `node tests/large-cluster.mjs | cargo run --release --bin large-cluster`.

import { pathToFileURL } from "node:url";

/** How many Deployments share a namespace. */
const IN_NAMESPACE = 100;

const id = (index) => `00000000-0000-4000-9000-${String(index).padStart(12, "0")}`;
const created = "2026-01-02T03:04:05Z";
const ready = { type: "Ready", status: "True", lastTransitionTime: created };

function nodeOf(index) {
  const amounts = { cpu: "16", memory: "64Gi", pods: "110" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: `node-${index}`,
      labels: { "topology.kubernetes.io/zone": `zone-${index % 3}` },
      uid: id(index),
      creationTimestamp: created,
    },
    status: { conditions: [ready], allocatable: amounts, capacity: amounts },
  };
}

const tolerate = (key) => ({
  key: `node.kubernetes.io/${key}`,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 300,
});

const containers = [
  {
    name: "web",
    image: "registry.example/web:1",
    resources: { requests: { cpu: "100m", memory: "128Mi" } },
  },
];

/** A Deployment, its ReplicaSet and its budget. */
function workloadOf(index, replicas, uid) {
  const [name, namespace] = [`app-${index}`, `team-${Math.floor(index / IN_NAMESPACE)}`];
  const set = `${name}-5d4f8c7b9`;
  const own = { app: name };
  const labels = { ...own, "pod-template-hash": "5d4f8c7b9" };
  const owner = (kind, name, uid) => [
    { apiVersion: "apps/v1", kind, name, uid, controller: true, blockOwnerDeletion: true },
  ];
  const counts = {
    observedGeneration: 1,
    replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
  };
  const metadata = (name, labels, uid) => ({
    name,
    namespace,
    labels,
    uid,
    creationTimestamp: created,
    generation: 1,
  });
  const budget = { maxUnavailable: "25%", selector: { matchLabels: own } };
  const objects = [
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: metadata(name, own, uid(0)),
      spec: {
        replicas,
        selector: { matchLabels: own },
        template: { metadata: { labels: own }, spec: { containers } },
      },
      status: { ...counts, updatedReplicas: replicas },
    },
    {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: {
        ...metadata(set, labels, uid(1)),
        ownerReferences: owner("Deployment", name, uid(0)),
      },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
      status: { ...counts, fullyLabeledReplicas: replicas },
    },
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: metadata(name, own, uid(2)),
      spec: budget,
    },
  ];
  const ownerReferences = owner("ReplicaSet", set, uid(1));
  return { objects, namespace, set, labels, ownerReferences };
}

/**
 * The objects of a cluster with so many nodes, pods, and Deployments that own these in equal parts;
 * with none, nobody owns them.
 */
export function largeCluster({ nodes = 5_000, pods = 150_000, deployments = 5_000 } = {}) {
  const all = Array.from({ length: nodes }, (_, index) => nodeOf(index));
  const workloads = Array.from({ length: deployments }, (_, index) => {
    const replicas = Math.floor(pods / deployments) + Number(index < pods % deployments);
    return workloadOf(index, replicas, (part) => id(nodes + pods + 3 * index + part));
  });
  all.push(...workloads.flatMap(({ objects }) => objects));
  for (let index = 0; index < pods; index += 1) {
    const turn = Math.floor(index / Math.max(deployments, 1));
    const owner = workloads[index % Math.max(deployments, 1)];
    const suffix = index.toString(36).padStart(5, "0");
    all.push({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: owner ? `${owner.set}-${suffix}` : `web-${index}`,
        namespace: owner?.namespace ?? "shop",
        labels: owner?.labels ?? { app: "web" },
        uid: id(nodes + index),
        creationTimestamp: created,
        ...(owner && { ownerReferences: owner.ownerReferences }),
      },
      spec: {
        // The pods of one Deployment are on nodes far apart, and in all zones.
        nodeName: `node-${owner ? (index + turn * 167) % nodes : index % nodes}`,
        containers,
        tolerations: [tolerate("not-ready"), tolerate("unreachable")],
      },
      status: { phase: "Running", conditions: [ready], startTime: created },
    });
  }
  return all;
}

/** The same as the text of one list. */
export const largeClusterText = (size) =>
  JSON.stringify({ apiVersion: "v1", kind: "List", items: largeCluster(size) });

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [nodes, pods, deployments] = process.argv.slice(2).map(Number);
  process.stdout.write(largeClusterText({ nodes, pods, deployments }));
}
