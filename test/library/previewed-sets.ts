import type { PreviewOptions } from "../../src/index.ts";
import { definitionOfThings, thing } from "./support.ts";

/** Objects to apply or delete. The sets build on those before them. */
export interface PreviewedSet {
  readonly title: string;
  readonly objects: readonly object[];
  readonly options?: PreviewOptions;
}

const meta = (name: string, more: object = {}) => ({ name, namespace: "shop", ...more });
const template = (app: string, image = `${app}:1`) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: app, image }], terminationGracePeriodSeconds: 0 },
});
const workload = (apiVersion: string, kind: string, name: string, spec: object = {}) => ({
  apiVersion,
  kind,
  metadata: meta(name),
  spec: { selector: { matchLabels: { app: name } }, template: template(name), ...spec },
});
const namespace = (name: string, labels?: object) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, ...(labels && { labels }) },
});
const map = (name: string, data: object = { a: "1" }, more: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: meta(name, more),
  data,
});
const rbac = "rbac.authorization.platform.io";
const role = (kind: string, name: string, more: object) => ({
  apiVersion: `${rbac}/v1`,
  kind,
  metadata: { name, ...(kind.startsWith("Cluster") ? {} : { namespace: "shop" }) },
  ...more,
});
const binding = (kind: string, name: string, to: string) =>
  role(kind, name, {
    roleRef: { apiGroup: rbac, kind: to, name },
    subjects: [{ kind: "User", apiGroup: rbac, name: "devi" }],
  });
const reads = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }];
const service = (name: string, spec: object) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: meta(name),
  spec,
});
const ports = [{ port: 80 }];
const job = (name: string, spec: object = {}) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: meta(name),
  spec: { template: { spec: { ...template(name).spec, restartPolicy: "Never" } }, ...spec },
});
const claim = (name: string, storage: string) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: meta(name),
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
});
const deleted = { delete: true };
const aggregated = { matchLabels: { "example.com/in": "all" } };

/** Manifests of many kinds. */
export const previewedSets: readonly PreviewedSet[] = [
  { title: "a namespace", objects: [namespace("shop")] },
  {
    title: "config maps and a secret",
    objects: [
      map("one"),
      map("two"),
      { apiVersion: "v1", kind: "Secret", metadata: meta("key"), stringData: { a: "1" } },
    ],
  },
  { title: "a changed and a new config map", objects: [map("one", { a: "2", b: "1" }), map("three")] },
  { title: "a field that is no longer applied", objects: [map("one", { b: "1" })] },
  { title: "a Deployment", objects: [workload("apps/v1", "Deployment", "web", { replicas: 2 })] },
  {
    title: "more replicas of a Deployment",
    objects: [workload("apps/v1", "Deployment", "web", { replicas: 4 })],
  },
  {
    title: "fewer replicas of a Deployment",
    objects: [workload("apps/v1", "Deployment", "web", { replicas: 1 })],
  },
  {
    title: "a new image of a Deployment",
    objects: [workload("apps/v1", "Deployment", "web", { replicas: 1, template: template("web", "web:2") })],
  },
  {
    title: "a StatefulSet with its Service",
    objects: [
      workload("apps/v1", "StatefulSet", "db", { replicas: 2, serviceName: "db" }),
      service("db", { clusterIP: "None", selector: { app: "db" }, ports }),
    ],
  },
  { title: "a DaemonSet", objects: [workload("apps/v1", "DaemonSet", "agent")] },
  { title: "a ReplicaSet", objects: [workload("apps/v1", "ReplicaSet", "set", { replicas: 2 })] },
  { title: "a Job", objects: [job("report", { parallelism: 2 })] },
  { title: "a suspended Job", objects: [job("later", { suspend: true })] },
  {
    title: "a CronJob",
    objects: [
      {
        apiVersion: "batch/v1",
        kind: "CronJob",
        metadata: meta("nightly"),
        spec: { schedule: "0 3 * * *", jobTemplate: { spec: job("x").spec } },
      },
    ],
  },
  {
    title: "Services of several types",
    objects: [
      service("web", { selector: { app: "web" }, ports }),
      service("open", { type: "NodePort", ports }),
      service("name", { type: "ExternalName", externalName: "example.com" }),
    ],
  },
  {
    title: "a Service with another port",
    objects: [service("web", { selector: { app: "web" }, ports: [{ port: 8080 }] })],
  },
  {
    title: "an Ingress and a network policy",
    objects: [
      {
        apiVersion: "networking.platform.io/v1",
        kind: "Ingress",
        metadata: meta("web"),
        spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } } },
      },
      {
        apiVersion: "networking.platform.io/v1",
        kind: "NetworkPolicy",
        metadata: meta("none"),
        spec: { podSelector: {} },
      },
    ],
  },
  {
    title: "an autoscaler and a disruption budget",
    objects: [
      {
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: meta("web"),
        spec: { maxReplicas: 5, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
      },
      {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: meta("web"),
        spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } },
      },
    ],
  },
  {
    title: "a volume and claims",
    objects: [
      claim("data", "1Gi"),
      claim("logs", "2Gi"),
      {
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name: "disk" },
        spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/disk" } },
      },
    ],
  },
  { title: "the deletion of a claim", objects: [claim("logs", "2Gi")], options: deleted },
  {
    title: "a storage class and a priority class",
    objects: [
      {
        apiVersion: "storage.platform.io/v1",
        kind: "StorageClass",
        metadata: { name: "fast" },
        provisioner: "example.com/disk",
      },
      {
        apiVersion: "scheduling.platform.io/v1",
        kind: "PriorityClass",
        metadata: { name: "high" },
        value: 1000,
      },
    ],
  },
  {
    title: "roles, a binding and a service account",
    objects: [
      role("Role", "reader", { rules: reads }),
      binding("RoleBinding", "reader", "Role"),
      { apiVersion: "v1", kind: "ServiceAccount", metadata: meta("robot") },
    ],
  },
  {
    title: "cluster roles of which one aggregates the other",
    objects: [
      role("ClusterRole", "all", { aggregationRule: { clusterRoleSelectors: [aggregated] } }),
      {
        ...role("ClusterRole", "part", { rules: reads }),
        metadata: { name: "part", labels: aggregated.matchLabels },
      },
      binding("ClusterRoleBinding", "part", "ClusterRole"),
    ],
  },
  {
    title: "a changed rule of an aggregated cluster role",
    objects: [
      {
        ...role("ClusterRole", "part", { rules: [{ ...reads[0], verbs: ["get", "list"] }] }),
        metadata: { name: "part", labels: aggregated.matchLabels },
      },
    ],
  },
  {
    title: "a token Secret of a service account",
    objects: [
      {
        apiVersion: "v1",
        kind: "Secret",
        type: "platform.io/service-account-token",
        metadata: meta("token", { annotations: { "platform.io/service-account.name": "robot" } }),
      },
    ],
  },
  {
    title: "a quota and a limit range",
    objects: [
      {
        apiVersion: "v1",
        kind: "ResourceQuota",
        metadata: meta("quota"),
        spec: { hard: { configmaps: "20", pods: "30" } },
      },
      {
        apiVersion: "v1",
        kind: "LimitRange",
        metadata: meta("limits"),
        spec: { limits: [{ type: "Container", default: { cpu: "1" }, defaultRequest: { cpu: "100m" } }] },
      },
    ],
  },
  {
    title: "a Pod with the defaults of a limit range",
    objects: [{ apiVersion: "v1", kind: "Pod", metadata: meta("alone"), spec: template("alone").spec }],
  },
  {
    title: "a Deployment in a new namespace",
    objects: [
      namespace("second"),
      {
        ...workload("apps/v1", "Deployment", "api", { replicas: 2 }),
        metadata: { name: "api", namespace: "second" },
      },
    ],
  },
  {
    title: "a definition with its objects",
    objects: [thing("one"), thing("two", "large"), definitionOfThings()],
  },
  {
    title: "a changed custom object, and an owned one",
    objects: [thing("one", "small"), { ...map("owner-of-none") }],
  },
  { title: "the deletion of a custom object", objects: [thing("two")], options: deleted },
  { title: "the deletion of a definition with objects", objects: [definitionOfThings()], options: deleted },
  {
    title: "a priority level",
    objects: [
      {
        apiVersion: "flowcontrol.apiserver.platform.io/v1beta3",
        kind: "PriorityLevelConfiguration",
        metadata: { name: "own" },
        spec: {
          type: "Limited",
          limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" } },
        },
      },
    ],
  },
  { title: "labels of a namespace", objects: [namespace("shop", { team: "shop" })] },
  {
    title: "the deletion of a Deployment and a StatefulSet",
    objects: [workload("apps/v1", "Deployment", "web"), workload("apps/v1", "StatefulSet", "db")],
    options: deleted,
  },
  {
    title: "the deletion of a service account with a token",
    objects: [{ apiVersion: "v1", kind: "ServiceAccount", metadata: meta("robot") }],
    options: deleted,
  },
  {
    title: "the deletion of a cluster role that is aggregated",
    objects: [role("ClusterRole", "part", {})],
    options: deleted,
  },
  {
    title: "the deletion of a namespace with a Deployment",
    objects: [namespace("second")],
    options: deleted,
  },
  {
    title: "the deletion of a namespace with most of all this",
    objects: [namespace("shop")],
    options: deleted,
  },
];
