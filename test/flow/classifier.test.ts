import { describe, expect, test } from "vitest";
import { Classifier } from "../../src/flow/flow-control.ts";
import { defaultSchemas } from "../../src/flow/default-objects.ts";
import type { FlowSchemaObject, PolicyRules } from "../../src/flow/objects.ts";
import type { FlowRequest } from "../../src/flow/request.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { getPods, path, person } from "./support.ts";

const schema = (name: string, matchingPrecedence: number, rule: PolicyRules): FlowSchemaObject => ({
  metadata: { name },
  spec: { priorityLevelConfiguration: { name: "level" }, matchingPrecedence, rules: [rule] },
});
const everybody = [{ kind: "Group", group: { name: "*" } }];
const anything = {
  resourceRules: [
    { verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] },
  ],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
};
const classifierOf = (...schemas: readonly FlowSchemaObject[]) =>
  new Classifier(
    schemas.map((one) => ({ schema: one, value: one.metadata.name })),
    "system:",
  );
/** Whether a schema of one rule takes the request of a user. */
const takes = (rule: PolicyRules, request: FlowRequest, user = person("ann")) =>
  classifierOf(schema("only", 1, rule)).classify(request, user) === "only";

describe("the order of flow schemas", () => {
  test("the lowest matchingPrecedence wins, and the first name when they are equal", () => {
    const all = { subjects: everybody, ...anything };
    const classifier = classifierOf(schema("c", 20, all), schema("b", 10, all), schema("a", 10, all));
    expect(classifier.classify(getPods(), person("ann"))).toBe("a");
  });

  test("a schema that does not match is skipped, and the result is undefined when none matches", () => {
    const first = { subjects: [{ kind: "User", user: { name: "bob" } }], ...anything };
    const classifier = classifierOf(schema("first", 1, first));
    expect(classifier.classify(getPods(), person("ann"))).toBeUndefined();
    expect(classifier.classify(getPods(), person("bob"))).toBe("first");
  });

  test("different requests with the same user object are classified separately", () => {
    const pods = {
      subjects: everybody,
      resourceRules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], namespaces: ["*"] }],
    };
    const classifier = classifierOf(
      schema("pods", 1, pods),
      schema("rest", 2, { subjects: everybody, ...anything }),
    );
    const ann = person("ann");
    const asked = [getPods(), path("/metrics"), getPods()].map((request) =>
      classifier.classify(request, ann),
    );
    expect(asked).toEqual(["pods", "rest", "pods"]);
  });
});

describe("subjects", () => {
  const account = person("system:serviceaccount:ci:runner");
  test.each([
    ["a user by name", { kind: "User", user: { name: "ann" } }, person("ann"), true],
    ["another user", { kind: "User", user: { name: "bob" } }, person("ann"), false],
    ["every user", { kind: "User", user: { name: "*" } }, person("ann"), true],
    ["a group", { kind: "Group", group: { name: "ops" } }, person("ann", "ops"), true],
    ["another group", { kind: "Group", group: { name: "ops" } }, person("ann"), false],
    ["every group", { kind: "Group", group: { name: "*" } }, person("ann"), true],
    [
      "an account",
      { kind: "ServiceAccount", serviceAccount: { namespace: "ci", name: "runner" } },
      account,
      true,
    ],
    [
      "another account",
      { kind: "ServiceAccount", serviceAccount: { namespace: "ci", name: "run" } },
      account,
      false,
    ],
    [
      "every account of a namespace",
      { kind: "ServiceAccount", serviceAccount: { namespace: "ci", name: "*" } },
      account,
      true,
    ],
    [
      "accounts elsewhere",
      { kind: "ServiceAccount", serviceAccount: { namespace: "c", name: "*" } },
      account,
      false,
    ],
  ])("%s", (_title, subject, user, fits) => {
    expect(takes({ subjects: [subject], ...anything }, getPods(), user)).toBe(fits);
  });
});

describe("resource rules", () => {
  const rule = {
    verbs: ["get", "list"],
    apiGroups: ["", "apps"],
    resources: ["pods", "pods/log"],
    namespaces: ["a"],
  };
  const asks = { ...getPods("a"), kind: "resource" as const, group: "", resource: "pods", subresource: "" };
  test.each([
    ["all parts fit", {}, {}, true],
    ["another verb", { verb: "watch" }, {}, false],
    ["another group", { group: "batch" }, {}, false],
    ["a subresource by name", { subresource: "log" }, {}, true],
    ["another subresource", { subresource: "status" }, {}, false],
    ["another namespace", { namespace: "b" }, {}, false],
    ["every namespace", { namespace: "b" }, { namespaces: ["*"] }, true],
    ["no namespace", { namespace: "" }, { namespaces: ["*"] }, false],
    ["no namespace, with clusterScope", { namespace: "" }, { clusterScope: true }, true],
    ["a namespace, with clusterScope alone", {}, { namespaces: [], clusterScope: true }, false],
    ["every verb", { verb: "watch" }, { verbs: ["*"] }, true],
    ["every resource", { resource: "x", subresource: "y" }, { resources: ["*"] }, true],
  ])("%s", (_title, asked, changed, fits) => {
    const resourceRules = [{ ...rule, ...changed }];
    expect(takes({ subjects: everybody, resourceRules }, { ...asks, ...asked } as FlowRequest)).toBe(fits);
  });
});

describe("rules for paths", () => {
  test.each([
    [["/healthz"], "/healthz", "get", true],
    [["/healthz"], "/healthz/ping", "get", false],
    [["/healthz/*"], "/healthz/ping", "get", true],
    [["*"], "/anything", "get", true],
    [["*"], "/anything", "post", false],
  ])("%j and %s by %s: %s", (nonResourceURLs, at, verb, fits) => {
    const nonResourceRules = [{ verbs: ["get"], nonResourceURLs }];
    expect(takes({ subjects: everybody, nonResourceRules }, path(at, verb))).toBe(fits);
  });
});

describe.each([platform, kubernetes])("the default schemas ($name names)", (vocabulary) => {
  const classifier = new Classifier(
    defaultSchemas(vocabulary, "1.26").map(({ object }) => ({ schema: object, value: object.metadata.name })),
    vocabulary.systemPrefix,
  );
  const { systemPrefix, systemNamespace, components, groupSuffix } = vocabulary;
  const account = (namespace: string) =>
    person(`${systemPrefix}serviceaccount:${namespace}:x`, `${systemPrefix}serviceaccounts`);
  const lease: FlowRequest = {
    ...getPods("default"),
    kind: "resource",
    verb: "update",
    group: `coordination.${groupSuffix}`,
    resource: "leases",
    subresource: "",
    namespace: "default",
  };
  test.each<[string, ReturnType<typeof person>, FlowRequest]>([
    ["exempt", person("root", `${systemPrefix}masters`), getPods()],
    ["probes", person("ann"), path("/readyz")],
    ["system-leader-election", person(systemPrefix + components.scheduler), lease],
    ["system-leader-election", account(systemNamespace), lease],
    ["system-node-high", person("n", `${systemPrefix}nodes`), lease],
    ["system-nodes", person("n", `${systemPrefix}nodes`), getPods()],
    [components.controllerManager, person(systemPrefix + components.controllerManager), getPods()],
    [components.scheduler, person(systemPrefix + components.scheduler), getPods()],
    [`${systemNamespace}-service-accounts`, account(systemNamespace), getPods()],
    ["service-accounts", account("default"), getPods()],
    ["global-default", person("ann"), getPods()],
    ["global-default", person("ann"), path("/metrics")],
  ])("%s", (name, user, request) => {
    expect(classifier.classify(request, user)).toBe(name);
  });
});
