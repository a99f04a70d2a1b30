// A large cluster as kubectl prints it: nodes in three zones, Deployments with their ReplicaSets,
// and databases of one pod that tolerate a lost node for good.

const UNREACHABLE = ["not-ready", "unreachable"].map((key) => ({
  key: `node.kubernetes.io/${key}`,
  operator: "Exists",
  effect: "NoExecute",
}));

const CONTAINERS = [{ name: "c", image: "i", resources: { requests: { cpu: "100m" } } }];

const owned = (kind, name) => [
  { apiVersion: "apps/v1", kind, name, uid: `uid-${name}`, controller: true },
];

function pod(name, app, node, owner, tolerations) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "shop",
      uid: `uid-${name}`,
      labels: { app },
      ownerReferences: owner,
    },
    spec: {
      nodeName: node,
      tolerations,
      containers: CONTAINERS,
    },
    status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
  };
}

/**
 * The text of a List.
 *
 * @param {object} size
 * @param {number} size.nodes
 * @param {number} size.workloads so many Deployments
 * @param {number} size.pods of them on each node
 * @param {number} size.databases so many nodes have one
 */
export function largeCluster({ nodes, workloads, pods, databases }) {
  const items = [];
  const name = (number, of) => String(number).padStart(String(of - 1).length, "0");
  const nodeName = (number) => `pool-${number % 2}-${name(number, nodes)}`;
  const finite = UNREACHABLE.map((toleration) => ({ ...toleration, tolerationSeconds: 300 }));
  const workload = (kind, app, replicas, tolerations, more) => ({
    apiVersion: "apps/v1",
    kind,
    metadata: { name: app, namespace: "shop", uid: `uid-${app}` },
    spec: {
      replicas,
      selector: { matchLabels: { app: app.replace(/-rs$/, "") } },
      template: {
        metadata: { labels: { app: app.replace(/-rs$/, "") } },
        spec: { tolerations, containers: CONTAINERS },
      },
    },
    ...more,
  });
  for (let number = 0; number < nodes; number += 1) {
    items.push({
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name: nodeName(number),
        labels: {
          "kubernetes.io/hostname": nodeName(number),
          "topology.kubernetes.io/zone": `eu-1${"abc"[number % 3]}`,
          pool: `pool-${number % 2}`,
        },
      },
      status: {
        allocatable: { cpu: "8", memory: "32Gi", pods: "110" },
        conditions: [{ type: "Ready", status: "True" }],
      },
    });
  }
  const counts = new Array(workloads).fill(0);
  for (let number = 0; number < nodes * pods; number += 1) {
    const [app, node] = [number % workloads, Math.floor(number / pods)];
    const of = `web-${name(app, workloads)}`;
    const owner = owned("ReplicaSet", `${of}-rs`);
    items.push(pod(`${of}-${counts[app]}`, of, nodeName(node), owner, finite));
    counts[app] += 1;
  }
  for (let app = 0; app < workloads; app += 1) {
    const of = `web-${name(app, workloads)}`;
    items.push(workload("Deployment", of, counts[app], finite));
    const set = workload("ReplicaSet", `${of}-rs`, counts[app], finite);
    set.metadata.ownerReferences = owned("Deployment", of);
    items.push(set);
  }
  for (let number = 0; number < databases; number += 1) {
    const of = `db-${name(number, databases)}`;
    items.push(workload("StatefulSet", of, 1, UNREACHABLE));
    items.push(pod(`${of}-0`, of, nodeName(number * 2), owned("StatefulSet", of), UNREACHABLE));
  }
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}
