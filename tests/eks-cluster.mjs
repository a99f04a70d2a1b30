// A cluster as a managed service has it, as `kubectl get -o json` prints it: many small Deployments,
// DaemonSets on every node, budgets and the leases of the nodes. The same as
// `tests/benches/report/eks.rs`, by which the engine alone is measured.

const NODES = 100;
const DEPLOYMENTS = 618;
const DAEMON_SETS = ["aws-node", "ebs-csi-node", "kube-proxy"];
/** How many pods the Deployments have, in turn: most have few. */
const REPLICAS = [2, 3, 2, 6, 3, 2, 10, 4, 2, 8, 3, 6, 8];
const CPU = ["100m", "250m", "50m", "500m", "150m"];
const MEMORY = ["256Mi", "512Mi", "128Mi", "1024Mi"];

const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
const nameOf = (node) =>
  `ip-10-0-${(node % 3) * 16 + Math.floor(node / 50)}-${17 + node * 2}.eu-west-1.compute.internal`;
const owner = (kind, name) => [
  { apiVersion: "apps/v1", kind, name, controller: true, uid: `${kind}-${name}` },
];
const tolerations = ["not-ready", "unreachable"].map((key) => ({
  key: `node.kubernetes.io/${key}`,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 300,
}));

/** Every third Deployment is spread over zones, as charts have it. */
function specOf(app, matchLabels) {
  const requests = { cpu: CPU[app % CPU.length], memory: MEMORY[app % MEMORY.length] };
  const spread = {
    maxSkew: 1,
    topologyKey: "topology.kubernetes.io/zone",
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels },
  };
  return {
    containers: [{ name: "app", image: "app", resources: { requests } }],
    ...(app % 3 === 0 && { topologySpreadConstraints: [spread] }),
  };
}

function deployment(app, place) {
  const [name, namespace] = [`service-${app}`, `team-${app % 24}`];
  const set = `${name}-6f9d8c7b5`;
  const own = { "app.kubernetes.io/name": name };
  const labels = { ...own, "pod-template-hash": "6f9d8c7b5" };
  const spec = specOf(app, own);
  const replicas = REPLICAS[app % REPLICAS.length];
  const workload = (kind, name, labels, ownerReferences) => ({
    apiVersion: "apps/v1",
    kind,
    metadata: { name, namespace, labels, uid: `${kind}-${name}`, ownerReferences },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
  const pods = Array.from({ length: replicas }, (_, replica) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${set}-${String(replica).padStart(5, "0")}`,
      namespace,
      labels,
      ownerReferences: owner("ReplicaSet", set),
    },
    spec: { ...spec, nodeName: nameOf(((place + replica) * 37) % NODES), tolerations },
    status,
  }));
  const budget = {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace },
    spec: { maxUnavailable: 1, selector: { matchLabels: own } },
  };
  return [
    workload("Deployment", name, own, []),
    workload("ReplicaSet", set, labels, owner("Deployment", name)),
    ...pods,
    ...(app % 3 === 0 ? [budget] : []),
  ];
}

/** The objects. */
export function eksCluster() {
  const items = [];
  for (let index = 0; index < NODES; index += 1) {
    const name = nameOf(index);
    const labels = {
      "topology.kubernetes.io/zone": ["eu-west-1a", "eu-west-1b", "eu-west-1c"][index % 3],
      "topology.kubernetes.io/region": "eu-west-1",
      "kubernetes.io/hostname": name,
      "eks.amazonaws.com/nodegroup": ["general", "general", "spot"][Math.floor(index / 4) % 3],
    };
    items.push({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels },
      status: {
        allocatable: { cpu: "7910m", memory: "29Gi", pods: "58" },
        conditions: [{ type: "Ready", status: "True" }],
      },
    });
    items.push({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name, namespace: "kube-node-lease" },
      spec: { holderIdentity: name, leaseDurationSeconds: 40 },
    });
  }
  for (const name of DAEMON_SETS) {
    const labels = { "k8s-app": name };
    const spec = { containers: [{ name }] };
    const [namespace, kind] = ["kube-system", "DaemonSet"];
    items.push({
      apiVersion: "apps/v1",
      kind,
      metadata: { name, namespace, uid: `${kind}-${name}` },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });
    for (let node = 0; node < NODES; node += 1) {
      items.push({
        apiVersion: "v1",
        kind: "Pod",
        metadata: {
          name: `${name}-${String(node).padStart(5, "0")}`,
          namespace,
          labels,
          ownerReferences: owner(kind, name),
        },
        spec: { ...spec, nodeName: nameOf(node), tolerations: [{ operator: "Exists" }] },
        status,
      });
    }
  }
  let place = 0;
  for (let app = 0; app < DEPLOYMENTS; app += 1) {
    items.push(...deployment(app, place));
    place += REPLICAS[app % REPLICAS.length];
  }
  return items;
}
