// A cluster as GKE serves it: nodes with many labels, conditions and images, pods with probes,
// volumes and statuses, their owners, volumes and leases.

const START = Date.parse("2026-11-25T10:00:00Z");

/** The same numbers again for the same seed. */
function dice(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

/**
 * The list that `kubectl get -o json` prints: `size` nodes, and about `perNode` pods on each. With
 * 12 nodes and 39 pods of workloads there are 75 pods.
 */
export function gkeCluster({ nodes: size = 12, replicas = 1 } = {}) {
  const roll = dice(7);
  const letters = (count, from = "bcdfghjklmnpqrstvwxz2456789") =>
    Array.from({ length: count }, () => from[roll(from.length)]).join("");
  const hex = (count) => letters(count, "0123456789abcdef");
  const uid = () => [8, 4, 4, 4, 12].map(hex).join("-");
  const ago = (seconds) => `${new Date(START - seconds * 1000).toISOString().slice(0, 19)}Z`;
  const items = [];
  const pool = `gke-prod-eu-default-pool-${hex(8)}`;
  const names = Array.from({ length: size }, () => `${pool}-${letters(4)}`);
  const apps = [
    ["frontend", 6, "Deployment", "shop"],
    ["checkout", 4, "Deployment", "shop"],
    ["cart", 3, "Deployment", "shop"],
    ["payments", 3, "Deployment", "shop"],
    ["search", 3, "Deployment", "shop"],
    ["api", 4, "Deployment", "platform"],
    ["worker", 5, "Deployment", "platform"],
    ["kube-dns", 2, "Deployment", "kube-system"],
    ["konnectivity-agent", 2, "Deployment", "kube-system"],
    ["metrics-server-v1.31", 1, "Deployment", "kube-system"],
    ["event-exporter-gke", 1, "Deployment", "kube-system"],
    ["kafka", 3, "StatefulSet", "data"],
    ["postgres", 2, "StatefulSet", "data"],
    ["fluentbit-gke", 0, "DaemonSet", "kube-system"],
    ["gke-metrics-agent", 0, "DaemonSet", "kube-system"],
  ];
  const image = (app) =>
    `europe-west1-docker.pkg.dev/acme-prod/services/${app}@sha256:${hex(64)}`;
  const images = Object.fromEntries(apps.map(([app]) => [app, image(app)]));
  const conditionsOfNode = (age) =>
    [
      ["FrequentKubeletRestart", "False", "NoFrequentKubeletRestart", "kubelet is functioning"],
      ["FrequentDockerRestart", "False", "NoFrequentDockerRestart", "docker is functioning"],
      ["FrequentContainerdRestart", "False", "NoFrequentContainerdRestart", "containerd works"],
      ["KernelDeadlock", "False", "KernelHasNoDeadlock", "kernel has no deadlock"],
      ["ReadonlyFilesystem", "False", "FilesystemIsNotReadOnly", "Filesystem is not read-only"],
      ["CorruptDockerOverlay2", "False", "NoCorruptDockerOverlay2", "docker overlay2 is fine"],
      ["FrequentUnregisterNetDevice", "False", "NoFrequentUnregisterNetDevice", "node is fine"],
      ["NetworkUnavailable", "False", "RouteCreated", "NodeController create implicit route"],
      ["MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory"],
      ["DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
      ["PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID"],
      ["Ready", "True", "KubeletReady", "kubelet is posting ready status. AppArmor enabled"],
    ].map(([type, status, reason, message], index) => ({
      type,
      status,
      reason,
      message,
      lastHeartbeatTime: ago(index < 7 ? 40 + roll(250) : 10 + roll(250)),
      lastTransitionTime: ago(age - 30 - roll(9)),
    }));
  names.forEach((name, index) => {
    const zone = `europe-west1-${"bcd"[index % 3]}`;
    const age = 3_000_000 + roll(90_000);
    items.push({
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name,
        uid: uid(),
        resourceVersion: `${roll(99_999_999)}`,
        creationTimestamp: ago(age),
        annotations: {
          "container.googleapis.com/instance_id": `${roll(999_999_999)}${roll(999_999_999)}`,
          "csi.volume.kubernetes.io/nodeid": `{"pd.csi.storage.gke.io":"projects/acme/${name}"}`,
          "node.alpha.kubernetes.io/ttl": "0",
          "volumes.kubernetes.io/controller-managed-attach-detach": "true",
        },
        labels: {
          "beta.kubernetes.io/arch": "amd64",
          "beta.kubernetes.io/instance-type": "e2-standard-4",
          "beta.kubernetes.io/os": "linux",
          "cloud.google.com/gke-boot-disk": "pd-balanced",
          "cloud.google.com/gke-container-runtime": "containerd",
          "cloud.google.com/gke-cpu-scaling-level": "4",
          "cloud.google.com/gke-logging-variant": "DEFAULT",
          "cloud.google.com/gke-max-pods-per-node": "110",
          "cloud.google.com/gke-memory-gb-scaling-level": "16",
          "cloud.google.com/gke-nodepool": "default-pool",
          "cloud.google.com/gke-os-distribution": "cos",
          "cloud.google.com/gke-provisioning": "standard",
          "cloud.google.com/gke-stack-type": "IPV4",
          "cloud.google.com/machine-family": "e2",
          "cloud.google.com/private-node": "false",
          "disk-type.gke.io/pd-balanced": "true",
          "failure-domain.beta.kubernetes.io/region": "europe-west1",
          "failure-domain.beta.kubernetes.io/zone": zone,
          "kubernetes.io/arch": "amd64",
          "kubernetes.io/hostname": name,
          "kubernetes.io/os": "linux",
          "node.kubernetes.io/instance-type": "e2-standard-4",
          "topology.gke.io/zone": zone,
          "topology.kubernetes.io/region": "europe-west1",
          "topology.kubernetes.io/zone": zone,
        },
      },
      spec: {
        podCIDR: `10.4.${index}.0/24`,
        podCIDRs: [`10.4.${index}.0/24`],
        providerID: `gce://acme-prod/${zone}/${name}`,
      },
      status: {
        addresses: [
          { type: "InternalIP", address: `10.132.0.${index + 10}` },
          { type: "ExternalIP", address: `34.77.${roll(250)}.${roll(250)}` },
          { type: "Hostname", address: name },
        ],
        allocatable: {
          cpu: "3920m",
          "ephemeral-storage": "47060071478",
          "hugepages-2Mi": "0",
          memory: "13591684Ki",
          pods: "110",
        },
        capacity: {
          cpu: "4",
          "ephemeral-storage": "98831908Ki",
          "hugepages-2Mi": "0",
          memory: "16386180Ki",
          pods: "110",
        },
        conditions: conditionsOfNode(age),
        daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
        images: Object.values(images)
          .filter(() => roll(3) > 0)
          .map((reference) => ({ names: [reference], sizeBytes: 30_000_000 + reference.length }))
          .concat(
            Array.from({ length: 12 }, (_, at) => ({
              names: [`gke.gcr.io/other-${at}:v1.${at}`],
              sizeBytes: 9_000_000 + at,
            })),
          ),
        nodeInfo: {
          architecture: "amd64",
          bootID: uid(),
          containerRuntimeVersion: "containerd://1.7.24",
          kernelVersion: "6.6.93+",
          kubeProxyVersion: "v1.31.9-gke.1044000",
          kubeletVersion: "v1.31.9-gke.1044000",
          machineID: hex(32),
          operatingSystem: "linux",
          osImage: "Container-Optimized OS from Google",
          systemUUID: uid(),
        },
      },
    });
    items.push({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: {
        name,
        namespace: "kube-node-lease",
        uid: uid(),
        creationTimestamp: ago(age),
        ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid: uid() }],
      },
      spec: {
        holderIdentity: name,
        leaseDurationSeconds: 40,
        renewTime: `${ago(1 + roll(9)).slice(0, -1)}.${100_000 + roll(899_999)}Z`,
      },
    });
  });

  const tolerations = [
    ["node.kubernetes.io/not-ready", 300],
    ["node.kubernetes.io/unreachable", 300],
  ].map(([key, tolerationSeconds]) => ({
    effect: "NoExecute",
    key,
    operator: "Exists",
    tolerationSeconds,
  }));
  const everywhere = [{ operator: "Exists", effect: "NoExecute" }, { operator: "Exists" }];
  const probe = (path) => ({
    httpGet: { path, port: "http", scheme: "HTTP" },
    failureThreshold: 3,
    periodSeconds: 10,
    successThreshold: 1,
    timeoutSeconds: 1,
  });
  const specOf = (app, kind) => ({
    containers: [
      {
        name: app,
        image: images[app],
        imagePullPolicy: "IfNotPresent",
        env: [{ name: "LOG_LEVEL", value: "info" }],
        livenessProbe: probe("/healthz?token=hunter2"),
        readinessProbe: probe("/ready"),
        ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
        resources: {
          limits: { memory: "512Mi" },
          requests: { cpu: `${100 + 50 * (app.length % 4)}m`, memory: "256Mi" },
        },
        securityContext: { allowPrivilegeEscalation: false },
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
        volumeMounts: [{ name: "config", mountPath: "/etc/app" }],
      },
    ],
    dnsPolicy: "ClusterFirst",
    restartPolicy: "Always",
    schedulerName: "default-scheduler",
    securityContext: {},
    serviceAccountName: app,
    terminationGracePeriodSeconds: 30,
    ...(kind === "DaemonSet" && {
      hostNetwork: true,
      priorityClassName: "system-node-critical",
      tolerations: everywhere,
    }),
    volumes: [{ name: "config", configMap: { name: `${app}-config`, defaultMode: 420 } }],
  });
  const conditionsOfPod = (born) =>
    ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map(
      (type, index) => ({
        type,
        status: "True",
        lastProbeTime: null,
        lastTransitionTime: ago(born - [3, 1, 9, 9, 0][index]),
      }),
    );
  let address = 0;
  const pod = (name, namespace, labels, owner, spec, nodeName, born) => {
    address += 1;
    const volume = `kube-api-access-${letters(5)}`;
    items.push({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name,
        namespace,
        uid: uid(),
        resourceVersion: `${roll(99_999_999)}`,
        creationTimestamp: ago(born),
        labels,
        ...(owner.kind === "ReplicaSet" && { generateName: `${owner.name}-` }),
        ownerReferences: [{ ...owner, blockOwnerDeletion: true, controller: true }],
        ...(owner.kind === "Node" && {
          annotations: {
            "kubernetes.io/config.hash": hex(32),
            "kubernetes.io/config.mirror": hex(32),
            "kubernetes.io/config.source": "file",
          },
        }),
      },
      spec: {
        ...spec,
        nodeName,
        enableServiceLinks: true,
        preemptionPolicy: "PreemptLowerPriority",
        priority: spec.priorityClassName ? 2_000_001_000 : 0,
        serviceAccount: spec.serviceAccountName,
        tolerations: spec.tolerations ?? tolerations,
        volumes: [...spec.volumes, { name: volume, projected: { defaultMode: 420, sources: [] } }],
      },
      status: {
        conditions: conditionsOfPod(born),
        containerStatuses: spec.containers.map((container) => ({
          name: container.name,
          containerID: `containerd://${hex(64)}`,
          image: container.image,
          imageID: container.image,
          lastState: {},
          ready: true,
          restartCount: 0,
          started: true,
          state: { running: { startedAt: ago(born - 5) } },
        })),
        hostIP: "10.132.0.10",
        phase: "Running",
        podIP: `10.4.${address % size}.${address % 250}`,
        podIPs: [{ ip: `10.4.${address % size}.${address % 250}` }],
        qosClass: "Burstable",
        startTime: ago(born),
      },
    });
  };

  names.forEach((node) => {
    const spec = specOf("fluentbit-gke", "DaemonSet");
    spec.containers[0].name = "kube-proxy";
    spec.tolerations = everywhere.slice(0, 1);
    const owner = { apiVersion: "v1", kind: "Node", name: node, uid: uid() };
    const labels = { component: "kube-proxy", tier: "node" };
    pod(`kube-proxy-${node}`, "kube-system", labels, owner, spec, node, 2_900_000 + roll(90_000));
  });
  let next = 0;
  for (const [app, count, kind, namespace] of apps) {
    const wanted = count * replicas;
    const labels = { "app.kubernetes.io/name": app, "app.kubernetes.io/part-of": namespace };
    const template = { metadata: { labels }, spec: specOf(app, kind) };
    const age = 5_000_000 + roll(3_000_000);
    const owned = uid();
    const metadata = (name, more) => ({
      name,
      namespace,
      uid: owned,
      generation: 1 + roll(20),
      resourceVersion: `${roll(99_999_999)}`,
      creationTimestamp: ago(age),
      labels,
      annotations: { "meta.helm.sh/release-name": app, ...more },
    });
    const selector = { matchLabels: { "app.kubernetes.io/name": app } };
    const born = () => 100_000 + roll(2_000_000);
    if (kind === "Deployment") {
      const revision = 2 + roll(30);
      items.push({
        apiVersion: "apps/v1",
        kind,
        metadata: metadata(app, { "deployment.kubernetes.io/revision": `${revision}` }),
        spec: {
          replicas: wanted,
          selector,
          template,
          progressDeadlineSeconds: 600,
          revisionHistoryLimit: 10,
          strategy: {
            type: "RollingUpdate",
            rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" },
          },
        },
        status: {
          observedGeneration: 4,
          replicas: wanted,
          readyReplicas: wanted,
          availableReplicas: wanted,
          updatedReplicas: wanted,
          conditions: [
            ["Available", "MinimumReplicasAvailable", "Deployment has minimum availability."],
            ["Progressing", "NewReplicaSetAvailable", `ReplicaSet "${app}" has progressed.`],
          ].map(([type, reason, message]) => ({
            type,
            status: "True",
            reason,
            message,
            lastTransitionTime: ago(age - 20),
            lastUpdateTime: ago(age - 9),
          })),
        },
      });
      for (const old of [1, 0]) {
        const hash = letters(9);
        const set = `${app}-${hash}`;
        const setUid = uid();
        const own = { ...labels, "pod-template-hash": hash };
        const kept = old ? 0 : wanted;
        items.push({
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          metadata: {
            ...metadata(set, {
              "deployment.kubernetes.io/desired-replicas": `${wanted}`,
              "deployment.kubernetes.io/max-replicas": `${Math.ceil(wanted * 1.25)}`,
              "deployment.kubernetes.io/revision": `${revision - old}`,
            }),
            labels: own,
            uid: setUid,
            ownerReferences: [
              {
                apiVersion: "apps/v1",
                kind,
                name: app,
                uid: owned,
                blockOwnerDeletion: true,
                controller: true,
              },
            ],
          },
          spec: {
            replicas: kept,
            selector: { matchLabels: { ...selector.matchLabels, "pod-template-hash": hash } },
            template: { ...template, metadata: { labels: own } },
          },
          status: {
            observedGeneration: 2,
            replicas: kept,
            ...(kept > 0 && {
              availableReplicas: kept,
              fullyLabeledReplicas: kept,
              readyReplicas: kept,
            }),
          },
        });
        const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: set, uid: setUid };
        for (let at = 0; at < kept; at += 1) {
          const node = names[next++ % size];
          pod(`${set}-${letters(5)}`, namespace, own, owner, template.spec, node, born());
        }
      }
      continue;
    }
    const hash = letters(9);
    const all = kind === "DaemonSet" ? size : wanted;
    const claims = kind === "StatefulSet" && [
      {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name: "data" },
        spec: {
          accessModes: ["ReadWriteOnce"],
          resources: { requests: { storage: "50Gi" } },
          storageClassName: "premium-rwo",
          volumeMode: "Filesystem",
        },
        status: { phase: "Pending" },
      },
    ];
    items.push({
      apiVersion: "apps/v1",
      kind,
      metadata: metadata(app, {}),
      spec: {
        selector,
        template,
        revisionHistoryLimit: 10,
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
        ...(claims && {
          replicas: wanted,
          podManagementPolicy: "OrderedReady",
          serviceName: app,
          updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
          volumeClaimTemplates: claims,
        }),
      },
      status: {
        observedGeneration: 2,
        ...(claims
          ? {
              availableReplicas: all,
              collisionCount: 0,
              currentReplicas: all,
              currentRevision: `${app}-${hash}`,
              readyReplicas: all,
              replicas: all,
              updateRevision: `${app}-${hash}`,
              updatedReplicas: all,
            }
          : {
              currentNumberScheduled: all,
              desiredNumberScheduled: all,
              numberAvailable: all,
              numberMisscheduled: 0,
              numberReady: all,
              updatedNumberScheduled: all,
            }),
      },
    });
    const owner = { apiVersion: "apps/v1", kind, name: app, uid: owned };
    for (let at = 0; at < all; at += 1) {
      const own = {
        ...labels,
        "controller-revision-hash": claims ? `${app}-${hash}` : hash,
        ...(claims
          ? { "apps.kubernetes.io/pod-index": `${at}`, "statefulset.kubernetes.io/pod-name": `${app}-${at}` }
          : { "pod-template-generation": "3" }),
      };
      const node = claims ? names[next++ % size] : names[at];
      const spec = structuredClone(template.spec);
      if (!claims) {
        spec.affinity = {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                { matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] },
              ],
            },
          },
        };
        pod(`${app}-${letters(5)}`, namespace, own, owner, spec, node, born());
        continue;
      }
      const claim = `data-${app}-${at}`;
      const volume = `pvc-${uid()}`;
      spec.volumes.push({ name: "data", persistentVolumeClaim: { claimName: claim } });
      pod(`${app}-${at}`, namespace, own, owner, spec, node, born());
      const zone = `europe-west1-${"bcd"[names.indexOf(node) % 3]}`;
      items.push(
        {
          apiVersion: "v1",
          kind: "PersistentVolumeClaim",
          metadata: { name: claim, namespace, uid: uid(), creationTimestamp: ago(age), labels },
          spec: { ...claims[0].spec, volumeName: volume },
          status: {
            accessModes: ["ReadWriteOnce"],
            capacity: { storage: "50Gi" },
            phase: "Bound",
          },
        },
        {
          apiVersion: "v1",
          kind: "PersistentVolume",
          metadata: { name: volume, uid: uid(), creationTimestamp: ago(age) },
          spec: {
            accessModes: ["ReadWriteOnce"],
            capacity: { storage: "50Gi" },
            claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", name: claim, namespace },
            csi: {
              driver: "pd.csi.storage.gke.io",
              volumeHandle: `projects/acme-prod/zones/${zone}/disks/${volume}`,
            },
            nodeAffinity: {
              required: {
                nodeSelectorTerms: [
                  {
                    matchExpressions: [
                      { key: "topology.gke.io/zone", operator: "In", values: [zone] },
                    ],
                  },
                ],
              },
            },
            persistentVolumeReclaimPolicy: "Delete",
            storageClassName: "premium-rwo",
            volumeMode: "Filesystem",
          },
          status: { phase: "Bound" },
        },
      );
    }
  }
  for (const [app, spec] of [
    ["frontend", { minAvailable: "50%" }],
    ["checkout", { maxUnavailable: 1 }],
    ["kafka", { maxUnavailable: 1 }],
  ]) {
    items.push({
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: app, namespace: app === "kafka" ? "data" : "shop", uid: uid() },
      spec: { ...spec, selector: { matchLabels: { "app.kubernetes.io/name": app } } },
      status: {
        currentHealthy: 3,
        desiredHealthy: 2,
        disruptionsAllowed: 1,
        expectedPods: 3,
        observedGeneration: 1,
      },
    });
  }
  return { apiVersion: "v1", kind: "List", items };
}
