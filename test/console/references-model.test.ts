import { describe, expect, it } from "vitest";
import { containersOf } from "../../console/src/model/containers.ts";
import { matches, selectorOf, selectorText } from "../../console/src/model/label-selectors.ts";
import { kindKey, referencesOf, usersOf } from "../../console/src/model/references.ts";
import { typesOf, type ResourceList } from "../../console/src/model/resource-types.ts";
import { conditionTone, toneOf } from "../../console/src/model/tones.ts";

const all = ["create", "delete", "get", "list", "watch"];
const list = (
  groupVersion: string,
  ...kinds: [kind: string, name: string, namespaced: boolean][]
): ResourceList => ({
  groupVersion,
  resources: kinds.map(([kind, name, namespaced]) => ({ kind, name, namespaced, verbs: all })),
});
const knownIn = (groupSuffix: string) => ({
  groupSuffix,
  types: typesOf([
    list(
      "v1",
      ["ConfigMap", "configmaps", true],
      ["Secret", "secrets", true],
      ["Pod", "pods", true],
      ["Service", "services", true],
      ["ServiceAccount", "serviceaccounts", true],
      ["PersistentVolumeClaim", "persistentvolumeclaims", true],
    ),
    list("apps/v1", ["Deployment", "deployments", true]),
    list(`storage.${groupSuffix}/v1`, ["StorageClass", "storageclasses", false]),
    list(
      `rbac.authorization.${groupSuffix}/v1`,
      ["Role", "roles", true],
      ["ClusterRole", "clusterroles", false],
      ["RoleBinding", "rolebindings", true],
    ),
    list("acme.dev/v1", ["Tenant", "tenants", true]),
  ]),
});
const metadata = { name: "it", namespace: "team-a" };

describe.each(["platform.io", "k8s.io"])("references with the groups of %s", (suffix) => {
  const known = knownIn(suffix);
  const texts = (object: object) =>
    referencesOf({ metadata, ...object }, known).map(
      ({ path, type, namespace, name }) => `${path}: ${type.kind} ${namespace}/${name}`,
    );

  it("of a pod are its account, volumes, environment and pull secrets", () => {
    const spec = {
      serviceAccountName: "runner",
      imagePullSecrets: [{ name: "pull" }],
      volumes: [
        { name: "v", configMap: { name: "settings" } },
        { persistentVolumeClaim: { claimName: "disk" } },
      ],
      containers: [
        { name: "c", env: [{ name: "P", valueFrom: { secretKeyRef: { name: "db", key: "p" } } }] },
      ],
    };
    expect(texts({ spec })).toEqual([
      "spec.serviceAccountName: ServiceAccount team-a/runner",
      "spec.imagePullSecrets[0].name: Secret team-a/pull",
      "spec.volumes[0].configMap.name: ConfigMap team-a/settings",
      "spec.volumes[1].persistentVolumeClaim.claimName: PersistentVolumeClaim team-a/disk",
      "spec.containers[0].env[0].valueFrom.secretKeyRef.name: Secret team-a/db",
    ]);
  });

  it("of a binding are its role and accounts, not users", () => {
    const apiGroup = `rbac.authorization.${suffix}`;
    const subjects = [
      { kind: "User", apiGroup, name: "ann" },
      { kind: "ServiceAccount", name: "bot", namespace: "ci" },
    ];
    expect(texts({ roleRef: { apiGroup, kind: "ClusterRole", name: "view" }, subjects })).toEqual([
      "roleRef.name: ClusterRole /view",
      "subjects[1].name: ServiceAccount ci/bot",
    ]);
  });

  it("of a custom kind are found by the names of its fields, and by kind and apiVersion", () => {
    const spec = {
      secretRef: { name: "s" },
      target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    };
    expect(texts({ spec })).toEqual([
      "spec.secretRef.name: Secret team-a/s",
      "spec.target.name: Deployment team-a/web",
    ]);
  });

  it("are bounded, and never those of unknown kinds or other values", () => {
    const many = Array.from({ length: 50_000 }, (_, at) => ({ secretName: `s${at}` }));
    expect(texts({ many })).toHaveLength(200);
    expect(
      texts({ spec: { kind: "Nothing", name: "x" }, secretName: 5, constructor: { name: "x" } }),
    ).toEqual([]);
  });

  it("in the other direction are searched in the kinds that can have them, and in custom kinds", () => {
    const secret = known.types.find(({ kind }) => kind === "Secret")!;
    expect(usersOf(secret, known).map(({ kind }) => kind)).toEqual([
      "Pod",
      "Deployment",
      "ServiceAccount",
      "Tenant",
    ]);
    const role = known.types.find(({ kind }) => kind === "Role")!;
    expect(kindKey(role, suffix)).toBe("rbac.authorization/Role");
  });
});

describe("a selector", () => {
  it("of labels and expressions selects as the server does, and has the text of its parameter", () => {
    const matchExpressions = [
      { key: "tier", operator: "In", values: ["a", "b"] },
      { key: "old", operator: "DoesNotExist" },
    ];
    const selector = selectorOf({ spec: { selector: { matchLabels: { app: "web" }, matchExpressions } } })!;
    expect(selectorText(selector)).toBe("app=web,tier in (a,b),!old");
    expect(matches(selector, { app: "web", tier: "b" })).toBe(true);
    expect(matches(selector, { app: "web", tier: "c" })).toBe(false);
    expect(matches(selector, { app: "web", tier: "a", old: "" })).toBe(false);
  });

  it("of a service without labels selects nothing, and of a network policy everything", () => {
    expect(selectorOf({ spec: { selector: {} } })).toBeUndefined();
    expect(selectorOf({ spec: { podSelector: {} } })).toEqual([]);
    expect(selectorOf({ spec: {} })).toBeUndefined();
  });
});

describe("a state", () => {
  it.each([
    ["0/1", "waiting"],
    ["1/1", "good"],
    ["0/0", undefined],
    ["CrashLoopBackOff", "bad"],
    ["Running", "good"],
    ["anything", undefined],
  ])("%s has the tone %s", (text, tone) => expect(toneOf(text)).toBe(tone));

  it.each([
    ["Ready", "True", "good"],
    ["Ready", "False", "waiting"],
    ["MemoryPressure", "True", "bad"],
    ["MemoryPressure", "False", "good"],
    ["Progressing", "True", undefined],
    ["Ready", "Unknown", "waiting"],
  ])("of the condition %s %s has the tone %s", (type, status, tone) =>
    expect(conditionTone(type, status)).toBe(tone),
  );
});

describe("containers", () => {
  it("have the state and restarts of the status; those of a template have none", () => {
    const containers = [
      { name: "a", image: "i:1", ports: [{ containerPort: 80 }], resources: { limits: { cpu: "1" } } },
    ];
    const containerStatuses = [
      {
        name: "a",
        ready: false,
        restartCount: 3,
        state: { waiting: { reason: "ErrImagePull", message: "no" } },
      },
    ];
    expect(containersOf({ spec: { containers }, status: { containerStatuses } })).toEqual([
      {
        name: "a",
        role: "",
        image: "i:1",
        state: "ErrImagePull",
        message: "no",
        ready: false,
        restarts: 3,
        ports: "80",
        resources: "cpu up to 1",
      },
    ]);
    const template = { spec: { containers } };
    for (const object of [{ spec: { template } }, { spec: { jobTemplate: { spec: { template } } } }]) {
      expect(containersOf(object)).toMatchObject([{ name: "a", state: "", ready: undefined }]);
    }
  });
});
