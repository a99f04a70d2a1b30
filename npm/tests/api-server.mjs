// A small API server: it answers with recorded lists, and as the tests tell it, it forbids some, is
// slow, or breaks off.

import { createServer } from "node:http";

/** What there is: `group/version` (`v1` has no group) and the resources in it. */
const RESOURCES = {
  v1: [
    ["nodes", "Node", false, "no"],
    ["pods", "Pod", true, "po"],
    ["persistentvolumes", "PersistentVolume", false, "pv"],
    ["persistentvolumeclaims", "PersistentVolumeClaim", true, "pvc"],
    ["services", "Service", true, "svc"],
  ],
  "coordination.k8s.io/v1": [["leases", "Lease", true]],
  "apps/v1": [
    ["deployments", "Deployment", true, "deploy"],
    ["replicasets", "ReplicaSet", true, "rs"],
    ["statefulsets", "StatefulSet", true, "sts"],
    ["daemonsets", "DaemonSet", true, "ds"],
  ],
  "batch/v1": [["jobs", "Job", true]],
  "policy/v1": [["poddisruptionbudgets", "PodDisruptionBudget", true, "pdb"]],
  "scheduling.k8s.io/v1": [["priorityclasses", "PriorityClass", false, "pc"]],
  "storage.k8s.io/v1": [["storageclasses", "StorageClass", false, "sc"]],
};

const status = (code, reason, message, details) => [
  code,
  { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message, details },
];

/** What says which APIs there are; `absent` are groups that are not. */
function discovery(path, absent) {
  const versions = Object.keys(RESOURCES).filter((version) => !absent.includes(version));
  if (path === "/api") return { kind: "APIVersions", apiVersion: "v1", versions: ["v1"] };
  if (path === "/apis") {
    const groups = versions
      .filter((groupVersion) => groupVersion.includes("/"))
      .map((groupVersion) => {
        const [name, version] = groupVersion.split("/");
        const preferredVersion = { groupVersion, version };
        return { name, versions: [preferredVersion], preferredVersion };
      });
    return { kind: "APIGroupList", apiVersion: "v1", groups };
  }
  const groupVersion = /^\/apis?\/((?:[^/]+\/)?v1)$/.exec(path)?.[1];
  if (!versions.includes(groupVersion)) return undefined;
  const resources = RESOURCES[groupVersion].map(([name, kind, namespaced, ...shortNames]) => ({
    name,
    shortNames,
    singularName: "",
    namespaced,
    kind,
    verbs: ["get", "list", "watch"],
  }));
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources };
}

/**
 * Serves objects until `close()` is called. `forbidden`, `slow` and `broken` are lists of the
 * resources that are not allowed to be listed in the whole cluster, are never answered, and end in
 * the middle of the answer; `shop/pods` may not be listed in that namespace, and of `get nodes` not
 * one be read. `absent` are APIs that the server does not have, and `expired` resources of which no
 * second page can be had.
 */
export async function serve(objects, options = {}) {
  const { forbidden = [], slow = [], broken = [], absent = [], expired = [] } = options;
  const { version = "v1.31.2" } = options;
  const requests = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const answer = (code, body) => {
      response.writeHead(code, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    const { pathname, searchParams } = new URL(request.url, "http://server");
    if (pathname === "/version")
      return answer(200, { major: "1", minor: "31", gitVersion: version });
    const api = discovery(pathname, absent);
    if (api) return answer(200, api);
    // kubectl asks whether there is a namespace in which it has not found something.
    const [, asked] = /^\/api\/v1\/namespaces\/([^/]+)$/.exec(pathname) ?? [];
    if (asked) return answer(200, { apiVersion: "v1", kind: "Namespace", metadata: { name: asked } });
    const parts =
      /^\/apis?\/((?:[^/]+\/)?v1)\/(?:namespaces\/([^/]+)\/)?([a-z]+)(?:\/([^/]+))?$/;
    const [, groupVersion, namespace, resource, name] = parts.exec(pathname) ?? [];
    const known = RESOURCES[groupVersion]?.find(([name]) => name === resource);
    if (!known) return answer(...status(404, "NotFound", "the server could not find the resource"));
    if (slow.includes(resource)) return undefined;
    const scope = namespace ? `in the namespace "${namespace}"` : "at the cluster scope";
    const whole = namespace ? `${namespace}/${resource}` : resource;
    if (forbidden.includes(name ? `get ${resource}` : whole)) {
      const group = groupVersion.includes("/") ? groupVersion.split("/")[0] : "";
      const verb = name ? "get" : "list";
      const what = `cannot ${verb} resource "${resource}" in API group "${group}" ${scope}`;
      const message = `${resource} is forbidden: User "reader" ${what}`;
      return answer(...status(403, "Forbidden", message));
    }
    const [, kind] = known;
    const items = objects.filter(
      (object) => object.kind === kind && (!namespace || object.metadata.namespace === namespace),
    );
    if (name) {
      const one = items.find(({ metadata }) => metadata.name === name);
      if (one) return answer(200, { apiVersion: groupVersion, ...one });
      const details = { name, kind: resource };
      return answer(...status(404, "NotFound", `${resource} "${name}" not found`, details));
    }
    // The elements of a list do not say what they are.
    const bare = items.map(({ apiVersion, kind, ...rest }) => rest);
    const list = { kind: `${kind}List`, apiVersion: groupVersion, metadata: {}, items: bare };
    if (expired.includes(resource) && searchParams.has("continue")) {
      const message = "The provided continue parameter is too old to display a consistent list";
      return answer(...status(410, "Expired", message));
    }
    if (expired.includes(resource) && searchParams.has("limit")) {
      return answer(200, { ...list, metadata: { continue: "2" }, items: bare.slice(0, 1) });
    }
    if (!broken.includes(resource)) return answer(200, list);
    const text = JSON.stringify(list);
    response.writeHead(200, { "content-type": "application/json", "content-length": text.length });
    response.write(text.slice(0, text.length / 2), () => response.destroy());
    return undefined;
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url, requests, close };
}

/** A kubeconfig with one context, `test`, whose namespace is `shop`. */
export const kubeconfig = (server) =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server } }],
    users: [{ name: "reader", user: {} }],
    contexts: [{ name: "test", context: { cluster: "test", user: "reader", namespace: "shop" } }],
    "current-context": "test",
  });
