import { SeededRandom } from "../../../src/base/seeded-random.ts";
import { deepClone, isObject, type JsonObject, type JsonValue } from "../../../src/base/json/value.ts";
import type { ValidationRule } from "../../../src/index.ts";

/** A mistake in one object. */
export interface Mistake {
  /** The kind of mistake. */
  readonly sort: string;
  readonly object: JsonObject;
  /** The rule that must report it, and the beginning of the field. */
  readonly rule: ValidationRule;
  readonly field: string;
}

const labels = { app: "web" };
const podSpec = {
  serviceAccountName: "web",
  containers: [
    {
      name: "web",
      image: "example.org/web:1",
      ports: [{ name: "http", containerPort: 8080 }],
      env: [{ name: "MODE", value: "fast" }],
      envFrom: [{ configMapRef: { name: "settings" } }],
      resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { memory: "128Mi" } },
      readinessProbe: { httpGet: { path: "/ready", port: "http" } },
      volumeMounts: [{ name: "data", mountPath: "/data" }],
    },
  ],
  volumes: [{ name: "data", emptyDir: {} }],
};
const template = { metadata: { labels }, spec: podSpec };
const meta = (name: string) => ({ name, namespace: "shop" });

/** Objects without a mistake, to which the others refer. */
export const context: readonly JsonObject[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "ranges" } },
  { apiVersion: "v1", kind: "ServiceAccount", metadata: meta("web") },
  { apiVersion: "v1", kind: "ConfigMap", metadata: meta("settings"), data: { color: "blue" } },
  {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "ranges.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "ranges", singular: "range", kind: "Range" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                spec: {
                  type: "object",
                  required: ["max"],
                  "x-kubernetes-validations": [
                    { rule: "self.min <= self.max", message: "min must not exceed max" },
                  ],
                  properties: {
                    min: { type: "integer", default: 0, minimum: 0 },
                    max: { type: "integer" },
                    mode: { type: "string", enum: ["open", "closed"] },
                  },
                },
              },
            },
          },
        },
      ],
    },
  },
];

/** Objects without a mistake, by a short name. */
export const bases: Readonly<Record<string, JsonObject>> = {
  deployment: {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: meta("web"),
    spec: { replicas: 2, selector: { matchLabels: labels }, template },
  },
  statefulSet: {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: meta("web"),
    spec: { serviceName: "web", selector: { matchLabels: labels }, template },
  },
  service: {
    apiVersion: "v1",
    kind: "Service",
    metadata: meta("web"),
    spec: { selector: labels, ports: [{ name: "http", port: 80, targetPort: "http" }] },
  },
  ingress: {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: meta("web"),
    spec: {
      rules: [
        {
          host: "web.example.org",
          http: {
            paths: [
              {
                path: "/",
                pathType: "Prefix",
                backend: { service: { name: "web", port: { name: "http" } } },
              },
            ],
          },
        },
      ],
    },
  },
  cronJob: {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: meta("clean"),
    spec: {
      schedule: "0 3 * * *",
      jobTemplate: {
        spec: {
          template: { spec: { restartPolicy: "Never", containers: [{ name: "clean", image: "clean:1" }] } },
        },
      },
    },
  },
  budget: {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: meta("web"),
    spec: { minAvailable: 1, selector: { matchLabels: labels } },
  },
  role: {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: meta("reader"),
    rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] }],
  },
  binding: {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: meta("reader"),
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
    subjects: [{ kind: "ServiceAccount", name: "web", namespace: "shop" }],
  },
  scaler: {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: meta("web"),
    spec: {
      minReplicas: 1,
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    },
  },
  range: {
    apiVersion: "example.com/v1",
    kind: "Range",
    metadata: { name: "low", namespace: "ranges" },
    spec: { min: 1, max: 2, mode: "open" },
  },
};

type Change = (object: JsonObject, random: SeededRandom) => void;

/** A kind of mistake: the object, the change, and what must report it. */
type Row = readonly [sort: string, base: string, rule: ValidationRule, field: string, change: Change];

const workload = "spec.template.spec";
const container = `${workload}.containers[0]`;

/** Sets a field to one of some values. */
function sets(path: string, ...values: readonly JsonValue[]): Change {
  return (object, random) => assign(object, path, random.pick(values));
}

/** Adds a field with a name that doesn't exist there. */
function adds(path: string, ...names: readonly string[]): Change {
  return (object, random) => assign(object, `${path}.${random.pick(names)}`, "x");
}

const rows: readonly Row[] = [
  [
    "unknown field of the spec",
    "deployment",
    "schema",
    "spec.",
    adds("spec", "replica", "strategies", "labels", "Selector"),
  ],
  [
    "unknown field of a container",
    "deployment",
    "schema",
    `${container}.`,
    adds(container, "imagePolicy", "port", "envs", "Name"),
  ],
  ["number as text", "deployment", "schema", "spec.replicas", sets("spec.replicas", "2", "two", "")],
  [
    "number as value of env",
    "deployment",
    "schema",
    `${container}.env[0].value`,
    sets(`${container}.env[0].value`, 1, true, 1.5),
  ],
  [
    "list as object",
    "deployment",
    "schema",
    `${workload}.containers`,
    sets(`${workload}.containers`, { name: "a" }, "web"),
  ],
  ["negative replicas", "deployment", "validation", "spec.replicas", sets("spec.replicas", -1, -2, -100)],
  [
    "port out of range",
    "deployment",
    "validation",
    `${container}.ports[0].containerPort`,
    sets(`${container}.ports[0].containerPort`, 0, 70_000, -1),
  ],
  [
    "port name",
    "deployment",
    "validation",
    `${container}.ports[0].name`,
    sets(`${container}.ports[0].name`, "HTTP", "a-name-that-is-too-long", "a_b"),
  ],
  [
    "container name",
    "deployment",
    "validation",
    `${container}.name`,
    sets(`${container}.name`, "Web", "a_b", "a.b"),
  ],
  ["no containers", "deployment", "validation", `${workload}.containers`, sets(`${workload}.containers`, [])],
  ["no selector", "deployment", "validation", "spec.", (object) => remove(object, "spec.selector")],
  [
    "selector of other pods",
    "deployment",
    "validation",
    "spec.template.metadata.labels",
    sets("spec.template.metadata.labels.app", "wob", "webb", ""),
  ],
  [
    "quantity",
    "deployment",
    "schema",
    `${container}.resources.requests`,
    sets(`${container}.resources.requests.cpu`, "100 m", "1x", "fast"),
  ],
  [
    "request above its limit",
    "deployment",
    "validation",
    `${container}.resources.requests`,
    sets(`${container}.resources.requests.memory`, "256Mi", "1Gi", "200M"),
  ],
  [
    "mount of a missing volume",
    "deployment",
    "validation",
    `${container}.volumeMounts[0].name`,
    sets(`${container}.volumeMounts[0].name`, "dat", "cache", "data2"),
  ],
  [
    "restart policy",
    "deployment",
    "validation",
    `${workload}.restartPolicy`,
    sets(`${workload}.restartPolicy`, "Never", "OnFailure", "always"),
  ],
  [
    "pull policy",
    "deployment",
    "validation",
    `${container}.imagePullPolicy`,
    sets(`${container}.imagePullPolicy`, "always", "Sometimes", "no"),
  ],
  [
    "missing config map",
    "deployment",
    "reference",
    `${container}.envFrom[0].configMapRef.name`,
    sets(`${container}.envFrom[0].configMapRef.name`, "setting", "none", "conf"),
  ],
  [
    "missing service account",
    "statefulSet",
    "reference",
    `${workload}.serviceAccountName`,
    sets(`${workload}.serviceAccountName`, "wbe", "none", "app"),
  ],
  [
    "missing governing service",
    "statefulSet",
    "reference",
    "spec.serviceName",
    sets("spec.serviceName", "wbe", "none", "db"),
  ],
  [
    "selector that matches nothing",
    "service",
    "reference",
    "spec.selector",
    sets("spec.selector.app", "wbe", "none", "Web"),
  ],
  [
    "unknown target port",
    "service",
    "reference",
    "spec.ports[0].targetPort",
    sets("spec.ports[0].targetPort", "htp", "https", "web"),
  ],
  ["service without ports", "service", "validation", "spec.ports", sets("spec.ports", [])],
  [
    "backend port",
    "ingress",
    "reference",
    "spec.rules[0].http.paths[0].backend.service.port",
    sets("spec.rules[0].http.paths[0].backend.service.port.name", "htp", "https", "web"),
  ],
  [
    "path type",
    "ingress",
    "validation",
    "spec.rules[0].http.paths[0].pathType",
    sets("spec.rules[0].http.paths[0].pathType", "prefix", "Regex", "exact"),
  ],
  [
    "schedule",
    "cronJob",
    "validation",
    "spec.schedule",
    sets("spec.schedule", "0 3 * *", "daily", "61 * * * *"),
  ],
  ["both bounds of a budget", "budget", "validation", "spec", sets("spec.maxUnavailable", 1, 2, "50%")],
  ["rule without verbs", "role", "validation", "rules[0].verbs", sets("rules[0].verbs", [])],
  ["missing role", "binding", "reference", "roleRef.name", sets("roleRef.name", "raeder", "none", "writer")],
  ["bounds of a scaler", "scaler", "validation", "spec.maxReplicas", sets("spec.minReplicas", 4, 5, 10)],
  ["rule in CEL", "range", "cel", "spec", sets("spec.min", 3, 4, 10)],
  [
    "enumeration of a definition",
    "range",
    "schema",
    "spec.mode",
    sets("spec.mode", "opened", "Open", "shut"),
  ],
  ["missing field of a definition", "range", "schema", "spec.max", (object) => remove(object, "spec.max")],
  ["removed version", "cronJob", "kind", "apiVersion", sets("apiVersion", "batch/v1beta1", "batch/v2alpha1")],
];

/** The kinds of mistakes. */
export const sorts: readonly string[] = rows.map(([sort]) => sort);

/**
 * Returns objects with one mistake each, for every kind of mistake in turn. Their names differ, and so do the labels on which other objects
 * depend stay the same.
 */
export function plantedMistakes(count: number, seed: number): Mistake[] {
  const random = new SeededRandom(`mistakes ${seed}`);
  return Array.from({ length: count }, (_unused, at) => {
    const [sort, base, rule, field, change] = rows[at % rows.length]!;
    const object = deepClone(bases[base]!) as JsonObject;
    change(object, random);
    (object["metadata"] as JsonObject)["name"] = `planted-${at}`;
    return { sort, object, rule, field };
  });
}

function stepsOf(path: string): (string | number)[] {
  return path
    .split(/[.[\]]/)
    .filter((step) => step !== "")
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

function parentOf(object: JsonObject, path: string): { parent: JsonObject; last: string } {
  const steps = stepsOf(path);
  let parent: JsonValue = object;
  for (const step of steps.slice(0, -1))
    parent = Array.isArray(parent) ? parent[Number(step)]! : isObject(parent) ? parent[String(step)]! : null;
  return { parent: parent as JsonObject, last: String(steps.at(-1)) };
}

function assign(object: JsonObject, path: string, value: JsonValue): void {
  const { parent, last } = parentOf(object, path);
  parent[last] = value;
}

function remove(object: JsonObject, path: string): void {
  const { parent, last } = parentOf(object, path);
  delete parent[last];
}
