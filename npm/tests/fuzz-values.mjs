// Random values of all kinds for the fuzzer: right ones, nearly right ones and odd ones. The same
// seed gives the same values.

/** A generator of numbers from 0 to below 1 (mulberry32). */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const KEYS = [
  "a",
  "example.com/maintenance",
  "node.kubernetes.io/unreachable",
  "node.kubernetes.io/not-ready",
  "",
  "a/b/c",
  "A b",
];
const EFFECTS = ["NoExecute", "NoSchedule", "PreferNoSchedule", "", "noexecute"];
const DURATIONS = [
  "5m0s",
  "1h",
  "0s",
  "1ns",
  "1ms",
  "250ms",
  "-5s",
  "2562047h",
  "9223372036s",
  "5",
  "",
  "soon",
  "10s",
  "40s",
  0,
  1,
  90,
  0.5,
  1e15,
];
const NAMES = [
  "a",
  "b",
  "c",
  "p",
  "q",
  "default/p",
  "kube-system/q",
  "deployment/web",
  "deployment/default/web",
  "z",
  "a/b/c",
  "",
  "web-0",
];
const RELEASES = ["1.18", "1.20", "1.26", "1.31", "1.35", "1.5", "1.99", "", 1.3];
const GATES = ["TaintTolerationComparisonOperators", "SeparateTaintEvictionController", "Nonsense"];
const LINES = [
  "get nodes",
  "get pods -A -o yaml",
  "kubectl get pods -o json",
  "describe node a",
  "describe pod p",
  "taint nodes a x=1:NoExecute",
  "taint nodes --all x-",
  "cordon a",
  "uncordon a",
  "drain a --ignore-daemonsets --force",
  "delete pod p",
  "delete node a",
  "get events",
  "scale deployment web --replicas=5",
  "apply -f -",
  'patch node a -p \'{"spec":{"unschedulable":true}}\'',
  "label node a x=y",
  "get nodes -o jsonpath='{.items[*].metadata.name}'",
  "rollout status deployment web",
  "top nodes",
  "explain pod",
  "--help",
  "",
  "taint",
  "'",
  "get pods -o custom-columns=A:.metadata.name",
];
const FLAGS = [
  "node-monitor-period",
  "node-monitor-grace-period",
  "node-eviction-rate",
  "secondary-node-eviction-rate",
  "unhealthy-zone-threshold",
  "large-cluster-size-threshold",
  "pod-eviction-timeout",
  "nonsense",
];

export function values(seed, examples) {
  const random = generator(seed);
  const chance = (probability) => random() < probability;
  const below = (number) => Math.floor(random() * number);
  const pick = (list) => list[below(list.length)];
  const some = (most, make) => Array.from({ length: below(most + 1) }, make);
  const MINE = new RangeError("mine");
  const make = { random, chance, pick, MINE, reenter: () => undefined };

  const throws = () => {
    throw MINE;
  };

  /** A value of any type, at times one that runs code when it is looked at. */
  function odd(depth = 0) {
    const plain = [
      undefined,
      null,
      true,
      false,
      0,
      -0,
      1,
      -1,
      0.5,
      NaN,
      Infinity,
      -Infinity,
      2 ** 53,
      1e308,
      -(2 ** 63),
      5n,
      "",
      "a",
      "\ud800",
      "\udc00x",
      "\ufffd",
      "\0",
      "𝒳",
      "__proto__",
      "x".repeat(below(3000)),
      Symbol("s"),
      Symbol.iterator,
      throws,
      () => true,
      class A {},
    ];
    if (depth > 3 || chance(0.5)) return pick(plain);
    const object = () =>
      Object.fromEntries(
        some(4, () => [
          pick([...KEYS, "key", "effect", "metadata", "spec", "toJSON", "length"]),
          odd(depth + 1),
        ]),
      );
    const list = () => some(4, () => odd(depth + 1));
    return pick([
      object,
      list,
      () => new Date(pick([0, NaN, 1e12])),
      () => Object.create(null),
      () => new Map([[odd(depth + 1), 1]]),
      () => new Uint8Array(below(9)),
      () =>
        new Proxy(object(), {
          get: chance(0.5) ? throws : Reflect.get,
          ownKeys: chance(0.3) ? throws : Reflect.ownKeys,
        }),
      () =>
        new Proxy(list(), {
          get: (target, name) =>
            name === "length" && chance(0.5) ? pick([5, -1, NaN, 2 ** 32, "x"]) : target[name],
        }),
      () => ({
        get key() {
          return throws();
        },
      }),
      () => ({ toJSON: pick([throws, () => odd(depth + 1), make.reenter]) }),
      () => ({
        get effect() {
          make.reenter();
          return "NoExecute";
        },
        get key() {
          return "a";
        },
      }),
      () => {
        const { proxy, revoke } = Proxy.revocable(chance(0.5) ? [] : {}, {});
        revoke();
        return proxy;
      },
      () => {
        const cycle = [];
        cycle.push({ cycle });
        return cycle;
      },
      () => {
        let deep = [];
        for (let i = below(3000); i > 0; i--) deep = chance(0.5) ? [deep] : { deep };
        return deep;
      },
      () => [, , odd(depth + 1)],
      () => new Array(below(2000)),
      () => new String("a"),
      () => Object.assign(list(), { key: odd(depth + 1) }),
      () => Object.freeze(object()),
      () =>
        new (class Taint {
          key = "a";
          effect = "NoExecute";
        })(),
    ])();
  }

  /** Mostly what \`right\` gives; at times something else, or with something else inside. */
  function nearly(right) {
    if (chance(0.06)) return odd();
    const value = right();
    if (typeof value !== "object" || value === null || !chance(0.08)) return value;
    const names = Object.keys(value);
    if (names.length > 0 && !Object.isFrozen(value)) {
      const name = pick(names);
      if (chance(0.3))
        Object.defineProperty(value, name, {
          get: chance(0.5)
            ? throws
            : () => {
                make.reenter();
                return undefined;
              },
          enumerable: true,
        });
      else value[chance(0.2) ? name.toLowerCase() : name] = odd();
    }
    return value;
  }

  const duration = () => nearly(() => pick(DURATIONS));
  const name = () => nearly(() => pick(NAMES));
  const seconds = () =>
    nearly(() => pick([0, 1, 30, 90, 300, -1, 2 ** 40, 9.5, null, 9223372036854775000]));
  const taint = () =>
    nearly(() => ({
      key: nearly(() => pick(KEYS)),
      effect: nearly(() => pick(EFFECTS)),
      ...(chance(0.3) && { value: nearly(() => pick(["1", "x", ""])) }),
      ...(chance(0.1) && {
        timeAdded: pick([new Date(), new Date(NaN), "2026-01-01T00:00:00Z", "soon"]),
      }),
    }));
  const toleration = () =>
    nearly(() => ({
      ...(chance(0.8) && { key: nearly(() => pick(KEYS)) }),
      ...(chance(0.8) && {
        operator: nearly(() => pick(["Exists", "Equal", "Lt", "Gt", "", "Near"])),
      }),
      ...(chance(0.6) && { effect: nearly(() => pick(EFFECTS)) }),
      ...(chance(0.3) && { value: pick(["1", "x", 5]) }),
      ...(chance(0.6) && { tolerationSeconds: seconds() }),
    }));
  const taints = () => nearly(() => some(4, taint));
  const tolerations = () => nearly(() => some(5, toleration));
  const usage = () =>
    nearly(() => ({
      containers: some(2, () => ({
        name: "c",
        memory: nearly(() => ({ constant: pick(["1Mi", "5Gi", "0", "much"]) })),
      })),
    }));

  function object(kind) {
    const metadata = nearly(() => ({
      name: pick(["a", "b", "c", "p", "q", "web"]),
      ...(chance(0.7) && { namespace: pick(["default", "kube-system"]) }),
      labels: { app: "web", "topology.kubernetes.io/zone": pick(["x", "y"]) },
    }));
    const containers = () =>
      some(2, () =>
        nearly(() => ({
          name: "c",
          image: "i",
          resources: {
            requests: { cpu: pick(["1", "100m", "x"]), memory: pick(["1Gi", "-1", "much"]) },
          },
        })),
      );
    const spec =
      {
        Node: () => ({ taints: taints(), unschedulable: chance(0.1) }),
        Pod: () => ({
          nodeName: pick(["a", "b", ""]),
          tolerations: tolerations(),
          containers: containers(),
          terminationGracePeriodSeconds: seconds(),
        }),
        PodDisruptionBudget: () => ({
          minAvailable: pick([1, "50%", -1, "x"]),
          selector: { matchLabels: { app: "web" } },
        }),
      }[kind] ??
      (() => ({
        replicas: pick([0, 1, 3, 20, -1]),
        selector: { matchLabels: { app: "web" } },
        template: {
          metadata: { labels: { app: "web" } },
          spec: { tolerations: tolerations(), containers: containers() },
        },
      }));
    const status = {
      conditions: [{ type: "Ready", status: pick(["True", "False", "Unknown"]) }],
      allocatable: { cpu: "4", memory: "8Gi", pods: "110" },
      capacity: { cpu: "4", memory: "8Gi", pods: "110" },
    };
    const group =
      { Node: "v1", Pod: "v1", PodDisruptionBudget: "policy/v1", Job: "batch/v1" }[kind] ??
      "apps/v1";
    return nearly(() => ({
      apiVersion: group,
      kind,
      metadata,
      spec: nearly(spec),
      ...(kind === "Node" && chance(0.5) && { status }),
    }));
  }
  const anyObject = () =>
    object(
      pick([
        "Node",
        "Node",
        "Pod",
        "Pod",
        "Pod",
        "Deployment",
        "StatefulSet",
        "DaemonSet",
        "Job",
        "ReplicaSet",
        "PodDisruptionBudget",
        "ConfigMap",
      ]),
    );
  const cluster = () => [
    ...["a", "b", "c"].map((name) => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { "topology.kubernetes.io/zone": name } },
    })),
    ...some(5, anyObject),
  ];

  const command = () => {
    const node = pick(["a", "b", "c", "z"]);
    const pod = pick(["default/p", "default/q", "z"]);
    return nearly(() =>
      pick([
        () => ({ taint: { node, taint: taint() } }),
        () => ({ setTaints: { node, taints: taints() } }),
        () => ({ untaint: { node, key: pick(KEYS) } }),
        () => ({ createNode: object("Node") }),
        () => ({ updateNode: object("Node") }),
        () => ({ deleteNode: { node } }),
        () => ({ createPod: object("Pod") }),
        () => ({ updatePod: object("Pod") }),
        () => ({ deletePod: { pod, force: chance(0.3), gracePeriodSeconds: seconds() } }),
        () => ({ evictPod: { pod } }),
        () => ({ bindPod: { pod, node } }),
        () => ({ drain: { nodes: [node] } }),
        () => ({ cancelDrain: { drain: below(3) } }),
        () => ({ stopKubelet: { node } }),
        () => ({ startKubelet: { node } }),
        () => ({ restartKubelet: { node } }),
        () => ({
          flapKubelet: {
            node,
            down: duration(),
            up: duration(),
            ...(chance(0.7) && { times: pick([0, 1, 5, 1e9]) }),
          },
        }),
        () => ({
          shutDownNode: {
            node,
            shutdownGracePeriod: duration(),
            shutdownGracePeriodCriticalPods: duration(),
          },
        }),
        () => ({ cancelShutdown: { node } }),
        () => ({ powerOffNode: { node } }),
        () => ({ deleteClaim: { claim: pod } }),
        () => ({ deleteVolume: { volume: pick(["p", "z"]) } }),
        () => ({ cutNetwork: { node } }),
        () => ({ restoreNetwork: { node } }),
        () => ({ cutZoneNetwork: { zone: pick(["a", ":a", "b"]) } }),
        () => ({ restoreZoneNetwork: { zone: pick(["a", ":a"]) } }),
        () => ({ setTolerations: { pod, tolerations: tolerations() } }),
        () => ({
          failPodWrites: { pod, verb: pick(["delete", "patchStatus"]), times: pick([1, 5, 4e9]) },
        }),
        () => ({
          failNodeWrites: {
            node,
            write: pick(["status", "taints", "labels"]),
            times: pick([1, 5, 4e9]),
          },
        }),
        () => "restartTaintEvictionController",
        () => "restartControllerManager",
        () => ({
          setNodeCondition: {
            node,
            type: pick(["Ready", "MemoryPressure"]),
            status: pick(["True", "False", "Unknown"]),
          },
        }),
        () => ({ createWorkload: object("Deployment") }),
        () => ({ scale: { workload: "deployment/default/web", replicas: pick([0, 1, 5, 50]) } }),
        () => ({ setStartUpTime: { workload: "deployment/default/web", time: duration() } }),
        () => ({ createBudget: object("PodDisruptionBudget") }),
        () => ({ registerNode: { node: object("Node"), kubeletStartsAfter: duration() } }),
        () => ({ setPodUsage: { pods: { name: "p" }, usage: usage() } }),
        () => ({ loadNode: { node, memory: duration() } }),
        () => ({ setNodeResources: { node, memory: pick(["8Gi", "1"]) } }),
        () => ({ setUnschedulable: { node, unschedulable: chance(0.5) } }),
        () => odd(),
        () => ({
          configureKubelet: {
            node,
            configuration: {
              evictionHard: { "memory.available": "500Mi" },
              evictionPressureTransitionPeriod: duration(),
            },
          },
        }),
      ])(),
    );
  };

  const OPTIONS = {
    release: () => ({
      ...(chance(0.7) && { release: pick(RELEASES) }),
      ...(chance(0.4) && { featureGates: nearly(() => ({ [pick(GATES)]: chance(0.5) })) }),
    }),
    zone: () => ({ unhealthyZoneThreshold: pick([0, 0.5, 1, -1, NaN, "x"]) }),
    when: () => ({
      [pick(["nodeFault", "trouble"])]: pick(["unreachable", "lost", "tainted", "x"]),
      ...(chance(0.5) && { release: pick(RELEASES) }),
      ...(chance(0.3) && { controllerManagerFlags: { [pick(FLAGS)]: String(pick(DURATIONS)) } }),
    }),
    run: () => ({ until: duration() }),
    kubectl: () => ({
      namespace: pick(["default", "x", ""]),
      stdin: JSON.stringify(cluster()[below(3)]),
    }),
    events: () => ({ limit: pick([0, 1, 5, 1e6, -1, 1.5]), text: chance(0.5) }),
    pods: () => ({
      ...(chance(0.5) && { namespace: "default" }),
      ...(chance(0.5) && { node: "a" }),
    }),
    manifest: () => ({ file: "x.yaml" }),
    scenario: () => ({
      file: "x.yaml",
      files: nearly(() => ({ "cluster.yaml": "kind: Node" })),
      ...(chance(0.2) && { until: duration() }),
    }),
    rank: () => ({
      layout: pick(["oneFilesystem", "x"]),
      usage: nearly(() => ({ "default/p": usage() })),
      ...(chance(0.3) && { release: pick(RELEASES) }),
      ...(chance(0.2) && { at: duration() }),
    }),
    simulator: () => ({
      ...(chance(0.5) && { release: pick(RELEASES) }),
      ...(chance(0.2) && { nodeLifecycle: chance(0.5) }),
      ...(chance(0.3) && { controlPlane: chance(0.7) }),
      ...(chance(0.3) && {
        controllerManagerFlags: nearly(() => ({ [pick(FLAGS)]: String(pick(DURATIONS)) })),
      }),
      ...(chance(0.3) && {
        kubelets: nearly(() => ({
          nodeStatusUpdateFrequency: duration(),
          nodeLeaseDurationSeconds: pick([1, 40, 0, 4, -1]),
          phaseSeed: below(9),
        })),
      }),
      ...(chance(0.1) && { startUpTime: duration() }),
      ...(chance(0.1) && { descheduler: nearly(() => ({ deschedulingInterval: duration() })) }),
      ...(chance(0.1) && {
        autoscaler: nearly(() => ({
          scanInterval: duration(),
          nodeGroups: some(2, () => ({
            name: pick(["g", "h", ""]),
            maxSize: pick([0, 1, 5, -1]),
            provisioningTime: duration(),
            template: object("Node"),
          })),
        })),
      }),
      ...(chance(0.1) && { start: pick([new Date(), "2026-01-01T00:00:00Z", new Date(NaN)]) }),
      ...(chance(0.1) && { featureGates: { [pick(GATES)]: true } }),
    }),
  };

  return Object.assign(make, {
    odd,
    taints,
    tolerations,
    name,
    object,
    command,
    objects: () => nearly(() => some(4, anyObject)),
    options: (which) => (chance(0.5) ? undefined : nearly(OPTIONS[which])),
    manifests: () =>
      nearly(() =>
        chance(0.8) ? cluster() : chance(0.5) ? { items: cluster() } : JSON.stringify(cluster()),
      ),
    scenario: () =>
      nearly(() =>
        chance(0.6)
          ? pick(examples)
          : {
              apiVersion: "taintlab/v1",
              kind: "Scenario",
              objects: { nodes: [{ metadata: { name: "a" } }] },
              steps: some(3, () => ({ at: duration(), do: command() })),
            },
      ),
    text: () =>
      nearly(() =>
        pick([
          "a=b:NoExecute",
          "a-",
          "a:NoSchedule-",
          "=:",
          "memory.available",
          "nodefs.inodesFree",
          "kind: [",
          "{}",
          "- a",
          "\0",
          JSON.stringify(cluster()),
          pick(examples),
        ]),
      ),
    time: () =>
      nearly(() =>
        pick([
          0,
          1,
          1000,
          60_000,
          300_000.5,
          1e7,
          "5m",
          "1h",
          "10s",
          "1ns",
          ...(chance(0.05) ? [1e15, 1e300, "2562047h"] : []),
        ]),
      ),
    line: () => nearly(() => pick(LINES)),
    condition: () =>
      nearly(() =>
        pick([
          60_000,
          "10m",
          () => chance(0.2),
          () => {
            make.reenter();
            return chance(0.2);
          },
          throws,
          () => odd(),
          () => false,
        ]),
      ),
    show: (args) =>
      args
        .map((arg) => {
          try {
            return typeof arg === "function"
              ? String(arg)
              : (JSON.stringify(arg) ?? String(arg)).slice(0, 2000);
          } catch (error) {
            return `<${error?.message}>`;
          }
        })
        .join(", "),
  });
}
