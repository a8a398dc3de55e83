import {
  apply,
  changing,
  core,
  creating,
  entries,
  json,
  members,
  merge,
  strategic,
  type Law,
} from "./law.ts";

const maps = `${core}/configmaps`;
const pods = `${core}/pods`;
const owner = (index: number) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  name: `o${index}`,
  uid: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
});
const finalizer = (index: number) => `f${index}.example.com/f`;
const container = (index: number) => ({ name: `c${index}`, image: "i" });
const pod = (spec: object) => ({ metadata: { name: "p" }, spec: { containers: [container(0)], ...spec } });
const inContainer = (more: object) => pod({ containers: [{ ...container(0), ...more }] });
const map = (metadata: object, data: object = {}) => ({ metadata: { name: "m", ...metadata }, data });

const metadataLaws: readonly Law[] = [
  creating("owner references", 1000, maps, (n) => map({ ownerReferences: entries(n, owner) })),
  creating("finalizers", 4000, maps, (n) => map({ finalizers: entries(n, finalizer) })),
  creating("labels", 4000, maps, (n) => map({ labels: members(n, (i) => `v${i}`) })),
  creating("annotations", 3000, maps, (n) => map({ annotations: members(n, (i) => `v${i}`) })),
  creating("keys of a config map", 4000, maps, (n) =>
    map(
      {},
      members(n, (i) => `v${i}`),
    ),
  ),
  changing("update owner references", 1000, {
    path: maps,
    object: (n) => map({ ownerReferences: entries(n, owner) }),
    change: (n, name) => map({ name, ownerReferences: entries(n, (i) => owner(n + i)) }),
    contentType: "application/json",
  }),
  changing("update labels", 4000, {
    path: maps,
    object: (n) => map({ labels: members(n, (i) => `v${i}`) }),
    change: (n, name) => map({ name, labels: members(n, (i) => `w${i}`) }),
    contentType: "application/json",
  }),
  changing("patch owner references by uid", 1000, {
    path: maps,
    object: (n) => map({ ownerReferences: entries(n, owner) }),
    change: (n) => ({
      metadata: { ownerReferences: entries(n, (i) => ({ ...owner(n - 1 - i), name: "x" })) },
    }),
    contentType: strategic,
  }),
  changing("patch finalizers away", 4000, {
    path: maps,
    object: (n) => map({ finalizers: entries(n, finalizer) }),
    change: (n) => ({ metadata: { "$deleteFromPrimitiveList/finalizers": entries(n, finalizer) } }),
    contentType: strategic,
  }),
  changing("patch labels to null", 4000, {
    path: maps,
    object: (n) => map({ labels: members(n, (i) => `v${i}`) }),
    change: (n) => ({ metadata: { labels: members(n, () => null) } }),
    contentType: merge,
  }),
  changing("apply labels of another manager", 4000, {
    path: maps,
    object: (n) => map({ labels: members(n, (i) => `v${i}`) }),
    change: (n, name) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      ...map({ name, labels: members(n, (i) => `w${i}`) }),
    }),
    contentType: apply,
    query: "&fieldManager=other",
    status: 409,
  }),
  changing("set managers", 1000, {
    path: maps,
    object: () => map({}),
    change: (n, name) => ({
      metadata: {
        name,
        managedFields: entries(n, (i) => ({
          manager: `m${i}`,
          operation: "Update",
          apiVersion: "v1",
          time: "2026-01-01T00:00:00Z",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:data": { [`f:k${i}`]: {} } },
        })),
      },
      data: members(n, String),
    }),
    contentType: "application/json",
  }),
];

const patchLaws: readonly Law[] = [
  changing("JSON patch with additions at the begin of a list", 500, {
    path: maps,
    object: () => map({ finalizers: ["a.example.com/f"] }),
    change: (n) => entries(n, (i) => ({ op: "add", path: "/metadata/finalizers/0", value: finalizer(i) })),
    contentType: json,
  }),
  changing("JSON patch with moves", 2000, {
    path: maps,
    object: (n) => map({}, members(n, String)),
    change: (n) => entries(n, (i) => ({ op: "move", from: `/data/k${i}`, path: `/data/l${i}` })),
    contentType: json,
  }),
  changing("JSON patch with tests of the whole object", 500, {
    path: maps,
    object: () => map({}, members(20, String)),
    change: (n) => entries(n, () => ({ op: "test", path: "/data", value: members(20, String) })),
    contentType: json,
  }),
  changing("patch containers by name, in another order", 500, {
    path: pods,
    object: (n) => pod({ containers: entries(n, container) }),
    change: (n) => ({
      spec: {
        "$setElementOrder/containers": entries(n, (i) => ({ name: `c${n - 1 - i}` })),
        containers: entries(n, (i) => ({ name: `c${n - 1 - i}`, image: "j" })),
      },
    }),
    contentType: strategic,
    status: 422,
  }),
  changing("patch that deletes list entries", 1000, {
    path: maps,
    object: (n) => map({ ownerReferences: entries(n, owner) }),
    change: (n) => ({
      metadata: { ownerReferences: entries(n, (i) => ({ $patch: "delete", uid: owner(i).uid })) },
    }),
    contentType: strategic,
  }),
];

const podLaws: readonly Law[] = [
  creating("containers", 500, pods, (n) => pod({ containers: entries(n, container) })),
  creating("ports", 3000, pods, (n) =>
    inContainer({ ports: entries(n, (i) => ({ name: `p${i}`, containerPort: 1 + i })) }),
  ),
  creating("host ports", 3000, pods, (n) =>
    inContainer({ ports: entries(n, (i) => ({ containerPort: 1 + i, hostPort: 1 + i })) }),
  ),
  creating("env", 4000, pods, (n) =>
    inContainer({ env: entries(n, (i) => ({ name: `E${i}`, value: "v" })) }),
  ),
  creating("volumes that are mounted", 1000, pods, (n) =>
    pod({
      volumes: entries(n, (i) => ({ name: `v${i}`, emptyDir: {} })),
      containers: [
        { ...container(0), volumeMounts: entries(n, (i) => ({ name: `v${i}`, mountPath: `/m${i}` })) },
      ],
    }),
  ),
  creating("tolerations", 3000, pods, (n) =>
    pod({ tolerations: entries(n, (i) => ({ key: `t${i}`, operator: "Exists" })) }),
  ),
  creating("pull secrets", 4000, pods, (n) =>
    pod({ imagePullSecrets: entries(n, (i) => ({ name: `s${i}` })) }),
  ),
  creating("topology constraints", 1000, pods, (n) =>
    pod({
      topologySpreadConstraints: entries(n, (i) => ({
        maxSkew: 1,
        topologyKey: `t${i}`,
        whenUnsatisfiable: "DoNotSchedule",
      })),
    }),
  ),
  changing("set conditions of a pod", 2500, {
    path: pods,
    object: () => pod({}),
    change: (n) => ({ status: { conditions: entries(n, (i) => ({ type: `C${i}`, status: "True" })) } }),
    contentType: merge,
    subresource: "/status",
  }),
];

const otherLaws: readonly Law[] = [
  creating("hard limits of a quota", 3000, `${core}/resourcequotas`, (n) => ({
    metadata: { name: "q" },
    spec: { hard: Object.fromEntries(entries(n, (i) => [`count/r${i}.g.example.com`, "1"])) },
  })),
  creating("ports of a service", 500, `${core}/services`, (n) => ({
    metadata: { name: "s" },
    spec: { ports: entries(n, (i) => ({ name: `p${i}`, port: 1 + i })) },
  })),
  creating("addresses of endpoints", 2000, `${core}/endpoints`, (n) => ({
    metadata: { name: "e" },
    subsets: [
      {
        addresses: entries(n, (i) => ({ ip: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` })),
        ports: [{ port: 1 }],
      },
    ],
  })),
  creating(
    "rules of a network policy",
    1000,
    "/apis/networking.platform.io/v1/namespaces/default/networkpolicies",
    (n) => ({
      metadata: { name: "n" },
      spec: {
        podSelector: { matchExpressions: entries(n, (i) => ({ key: `k${i}`, operator: "Exists" })) },
        ingress: entries(n, (i) => ({ ports: [{ port: 1 + i }] })),
      },
    }),
  ),
  creating(
    "rules of an ingress",
    1000,
    "/apis/networking.platform.io/v1/namespaces/default/ingresses",
    (n) => ({
      metadata: { name: "i" },
      spec: {
        rules: entries(n, (i) => ({
          host: `h${i}.example.com`,
          http: {
            paths: [
              { path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 1 } } } },
            ],
          },
        })),
      },
    }),
  ),
  creating(
    "webhooks",
    300,
    "/apis/admissionregistration.platform.io/v1/validatingwebhookconfigurations",
    (n) => ({
      metadata: { name: "w" },
      webhooks: entries(n, (i) => ({
        name: `w${i}.example.com`,
        clientConfig: { url: "https://127.0.0.1/w" },
        rules: [{ apiGroups: [`g${i}`], apiVersions: ["v1"], operations: ["CREATE"], resources: ["r"] }],
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      })),
    }),
  ),
];

/** Objects of built-in kinds with many entries, and patches of them. */
export const objectLaws: readonly Law[] = [...metadataLaws, ...patchLaws, ...podLaws, ...otherLaws];
