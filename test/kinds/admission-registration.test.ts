import { describe, expect, it } from "vitest";
import { MutatingWebhookConfiguration } from "../../src/kinds/admissionregistration/mutating-webhook-configuration.ts";
import { ValidatingAdmissionPolicyBinding } from "../../src/kinds/admissionregistration/validating-admission-policy-binding.ts";
import { ValidatingAdmissionPolicy } from "../../src/kinds/admissionregistration/validating-admission-policy.ts";
import { ValidatingWebhookConfiguration } from "../../src/kinds/admissionregistration/validating-webhook-configuration.ts";
import type { Part } from "./pod-support.ts";
import { cellsOf, judgeNew, readAs } from "./support.ts";

const short = (faults: readonly string[]) => faults.map((fault) => fault.replace("FieldValue", ""));

const rule = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };
const service = { namespace: "a", name: "b" };
const smallest = {
  name: "check.example.com",
  clientConfig: { url: "https://example.com/check" },
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
};
const withHook = (part: Part): Part => ({ webhooks: [{ ...smallest, ...part }] });
const withRule = (part: Part): Part => withHook({ rules: [{ ...rule, ...part }] });

describe.each([ValidatingWebhookConfiguration, MutatingWebhookConfiguration])("$name", (kind) => {
  it("C-2.9-01, C-2.9-02, C-2.9-14, C-2.9-16, C-2.9-17 sets the default values of webhooks", () => {
    const { object, faults } = judgeNew(kind, withHook({ rules: [rule], clientConfig: { service } }));
    expect(faults).toEqual([]);
    expect(object["webhooks"]).toEqual([
      {
        ...smallest,
        clientConfig: { service: { ...service, port: 443 } },
        rules: [{ ...rule, scope: "*" }],
        failurePolicy: "Fail",
        matchPolicy: "Equivalent",
        namespaceSelector: {},
        objectSelector: {},
        timeoutSeconds: 10,
        ...(kind === MutatingWebhookConfiguration ? { reinvocationPolicy: "Never" } : {}),
      },
    ]);
  });

  it("C-2.9-03 rejects duplicate webhook names", () => {
    expect(short(judgeNew(kind, { webhooks: [smallest, smallest] }).faults)).toEqual([
      "webhooks[1].name: Duplicate",
    ]);
  });

  it.each([
    ["rejects an empty name", { name: "" }, [".name: Required"]],
    ["rejects a name with only two labels", { name: "example.com" }, [".name: Invalid"]],
    ["rejects a name in upper case", { name: "a.b.C" }, [".name: Invalid"]],
    ["C-2.9-12 rejects missing sideEffects", { sideEffects: undefined }, [".sideEffects: Required"]],
    ["C-2.9-13 rejects sideEffects Some", { sideEffects: "Some" }, [".sideEffects: NotSupported"]],
    ["C-2.9-13 rejects sideEffects Unknown", { sideEffects: "Unknown" }, [".sideEffects: NotSupported"]],
    [
      "C-2.9-10 rejects missing admissionReviewVersions",
      { admissionReviewVersions: undefined },
      [".admissionReviewVersions: Required"],
    ],
    [
      "C-2.9-10 rejects empty admissionReviewVersions",
      { admissionReviewVersions: [] },
      [".admissionReviewVersions: Required"],
    ],
    [
      "C-2.9-11 rejects admissionReviewVersions without a supported version",
      { admissionReviewVersions: ["v7"] },
      [".admissionReviewVersions: Invalid"],
    ],
    [
      "rejects a duplicate admissionReviewVersion",
      { admissionReviewVersions: ["v1", "v1"] },
      [".admissionReviewVersions[1]: Invalid"],
    ],
    [
      "rejects a malformed admissionReviewVersion",
      { admissionReviewVersions: ["v1", "V!"] },
      [".admissionReviewVersions[1]: Invalid"],
    ],
    ["rejects timeoutSeconds 0", { timeoutSeconds: 0 }, [".timeoutSeconds: Invalid"]],
    ["rejects timeoutSeconds above 30", { timeoutSeconds: 31 }, [".timeoutSeconds: Invalid"]],
    ["rejects an unknown failurePolicy", { failurePolicy: "Shrug" }, [".failurePolicy: NotSupported"]],
    ["rejects an unknown matchPolicy", { matchPolicy: "Roughly" }, [".matchPolicy: NotSupported"]],
    [
      "rejects malformed selectors",
      {
        namespaceSelector: { matchLabels: { "a b": "c" } },
        objectSelector: { matchExpressions: [{ key: "a", operator: "Is" }] },
      },
      [".namespaceSelector.matchLabels: Invalid", ".objectSelector.matchExpressions[0].operator: Invalid"],
    ],
    ["rejects neither url nor service", { clientConfig: {} }, [".clientConfig: Required"]],
    [
      "rejects both url and service",
      { clientConfig: { url: "https://a", service } },
      [".clientConfig: Required"],
    ],
  ])("%s", (_title, part, faults) => {
    expect(short(judgeNew(kind, withHook(part)).faults).toSorted()).toEqual(
      faults.map((fault) => `webhooks[0]${fault}`).toSorted(),
    );
  });
});

describe("clientConfig of webhooks", () => {
  const judge = (clientConfig: Part) =>
    short(judgeNew(ValidatingWebhookConfiguration, withHook({ clientConfig })).faults);
  it.each(["https://example.com", "https://example.com:8443/a/b", "https://[2001:db8::1]:1/x", "HTTPS://h"])(
    "C-2.9-07 accepts the url %s",
    (url) => {
      expect(judge({ url })).toEqual([]);
    },
  );
  it.each([
    ["http://example.com", "Invalid"],
    ["https:///path", "Invalid"],
    ["https://user:word@example.com", "Invalid"],
    ["https://example.com/?a=b", "Invalid"],
    ["https://example.com/#a", "Invalid"],
    ["https://exa mple.com", "Required"],
  ])("rejects the url %s", (url, reason) => {
    expect(judge({ url })).toEqual([`webhooks[0].clientConfig.url: ${reason}`]);
  });
  it.each([
    [{ path: "/" }, []],
    [{ path: "/a/b-c/" }, []],
    [{ port: 0 }, [".port: Invalid"]],
    [{ port: 70_000 }, [".port: Invalid"]],
    [{ path: "//" }, [".path: Invalid"]],
    [{ path: "/a//b" }, [".path: Invalid"]],
    [{ path: "/A" }, [".path: Invalid"]],
    [{ name: "", namespace: "" }, [".name: Required", ".namespace: Required"]],
  ])("C-2.9-06 validates a service with %j: %j", (part, faults) => {
    expect(judge({ service: { ...service, ...part } })).toEqual(
      faults.map((fault) => `webhooks[0].clientConfig.service${fault}`),
    );
  });
});

describe("C-2.9-04 rules of webhooks", () => {
  it.each([
    [
      "wildcards in all fields",
      { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], scope: "Cluster" },
    ],
    [
      "resources with subresources and wildcards",
      { resources: ["pods", "pods/status", "deployments/*", "*/scale"] },
    ],
    ["all resources together with a subresource", { resources: ["*", "pods/status"] }],
  ])("accepts %s", (_title, part) => {
    expect(judgeNew(ValidatingWebhookConfiguration, withRule(part)).faults).toEqual([]);
  });
  it.each([
    ["rejects an empty list of operations", { operations: [] }, [".operations: Required"]],
    ["rejects * together with another operation", { operations: ["*", "CREATE"] }, [".operations: Invalid"]],
    ["rejects an unknown operation", { operations: ["READ"] }, [".operations[0]: NotSupported"]],
    ["rejects an empty list of apiGroups", { apiGroups: [] }, [".apiGroups: Required"]],
    ["rejects * together with another apiGroup", { apiGroups: ["*", "apps"] }, [".apiGroups: Invalid"]],
    ["rejects an empty list of apiVersions", { apiVersions: [] }, [".apiVersions: Required"]],
    ["rejects an empty apiVersion", { apiVersions: [""] }, [".apiVersions[0]: Required"]],
    ["rejects * together with another apiVersion", { apiVersions: ["*", "v1"] }, [".apiVersions: Invalid"]],
    ["rejects an empty list of resources", { resources: [] }, [".resources: Required"]],
    ["rejects an empty resource", { resources: [""] }, [".resources[0]: Required"]],
    ["rejects */* together with another resource", { resources: ["*/*", "pods"] }, [".resources: Invalid"]],
    ["rejects * together with another resource", { resources: ["*", "pods"] }, [".resources: Invalid"]],
    [
      "rejects pods/* together with a subresource of pods",
      { resources: ["pods/*", "pods/status"] },
      [".resources[1]: Invalid"],
    ],
    [
      "rejects */status together with pods/status",
      { resources: ["*/status", "pods/status"] },
      [".resources[1]: Invalid"],
    ],
    ["rejects an unknown scope", { scope: "World" }, [".scope: NotSupported"]],
  ])("%s", (_title, part, faults) => {
    expect(short(judgeNew(ValidatingWebhookConfiguration, withRule(part)).faults)).toEqual(
      faults.map((fault) => `webhooks[0].rules[0]${fault}`),
    );
  });
});

describe("webhook configurations", () => {
  it("accept reinvocationPolicy IfNeeded and reject unknown values", () => {
    const judge = (reinvocationPolicy: string) =>
      short(judgeNew(MutatingWebhookConfiguration, withHook({ reinvocationPolicy })).faults);
    expect(judge("IfNeeded")).toEqual([]);
    expect(judge("Always")).toEqual(["webhooks[0].reinvocationPolicy: NotSupported"]);
  });
  it("show their table cells", () => {
    expect(cellsOf(MutatingWebhookConfiguration, withHook({}))).toEqual({
      Name: "one",
      Webhooks: 1,
      Age: "<unknown>",
    });
    expect(cellsOf(ValidatingWebhookConfiguration, {})).toMatchObject({ Webhooks: 0 });
  });
});

describe("ValidatingAdmissionPolicy", () => {
  const validations = [{ expression: "object.spec.replicas < 5" }];
  const withSpec = (part: Part): Part => ({
    spec: { matchConstraints: { resourceRules: [rule] }, validations, ...part },
  });

  it("sets the default values", () => {
    const { object, faults } = judgeNew(ValidatingAdmissionPolicy, withSpec({}));
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({
      matchConstraints: {
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [{ ...rule, scope: "*" }],
        matchPolicy: "Equivalent",
      },
      validations,
      failurePolicy: "Fail",
    });
  });

  it.each([
    ["rejects missing matchConstraints", { matchConstraints: undefined }, [".matchConstraints: Required"]],
    [
      "rejects matchConstraints without resourceRules",
      { matchConstraints: {} },
      [".matchConstraints.resourceRules: Required"],
    ],
    ["rejects an empty list of validations", { validations: [] }, [".validations: Required"]],
    [
      "rejects an empty expression",
      { validations: [{ expression: " " }] },
      [".validations[0].expression: Required"],
    ],
    [
      "rejects a message of spaces only",
      { validations: [{ expression: "true", message: " " }] },
      [".validations[0].message: Invalid"],
    ],
    [
      "rejects a message with a line break",
      { validations: [{ expression: "true", message: "a\nb" }] },
      [".validations[0].message: Invalid"],
    ],
    [
      "rejects an unknown reason",
      { validations: [{ expression: "true", reason: "Gone" }] },
      [".validations[0].reason: NotSupported"],
    ],
    ["rejects an unknown failurePolicy", { failurePolicy: "Shrug" }, [".failurePolicy: NotSupported"]],
    [
      "rejects an empty paramKind",
      { paramKind: {} },
      [".paramKind.apiVersion: Required", ".paramKind.kind: Required"],
    ],
    [
      "rejects a malformed paramKind.apiVersion",
      { paramKind: { apiVersion: "a/b/c", kind: "K" } },
      [".paramKind.apiVersion: Invalid"],
    ],
    [
      "rejects a malformed paramKind.kind",
      { paramKind: { apiVersion: "v1", kind: "K!" } },
      [".paramKind.kind: Invalid"],
    ],
    [
      "rejects duplicate and malformed resourceNames",
      { matchConstraints: { resourceRules: [{ ...rule, resourceNames: ["a", "a", "b/c"] }] } },
      [
        ".matchConstraints.resourceRules[0].resourceNames[1]: Duplicate",
        ".matchConstraints.resourceRules[0].resourceNames[2]: Invalid",
      ],
    ],
    [
      "rejects a malformed rule in excludeResourceRules",
      { matchConstraints: { resourceRules: [rule], excludeResourceRules: [{ ...rule, operations: [] }] } },
      [".matchConstraints.excludeResourceRules[0].operations: Required"],
    ],
  ])("%s", (_title, part, faults) => {
    expect(short(judgeNew(ValidatingAdmissionPolicy, withSpec(part)).faults)).toEqual(
      faults.map((fault) => `spec${fault}`),
    );
  });

  it("shows its table cells", () => {
    const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
    expect(cellsOf(ValidatingAdmissionPolicy, withSpec({ paramKind }))).toEqual({
      Name: "one",
      Validations: 1,
      ParamKind: "v1/ConfigMap",
      Age: "<unknown>",
    });
    expect(cellsOf(ValidatingAdmissionPolicy, withSpec({}))["ParamKind"]).toBe("<unset>");
  });
});

describe("ValidatingAdmissionPolicyBinding", () => {
  it.each([
    ["accepts a policyName", { policyName: "a" }, []],
    ["rejects a missing policyName", {}, ["spec.policyName: Required"]],
    ["rejects a malformed policyName", { policyName: "A" }, ["spec.policyName: Invalid"]],
    [
      "rejects a malformed paramRef.name",
      { policyName: "a", paramRef: { name: "b/c" } },
      ["spec.paramRef.name: Invalid"],
    ],
  ])("%s", (_title, spec, faults) => {
    expect(short(judgeNew(ValidatingAdmissionPolicyBinding, { spec }).faults)).toEqual(faults);
  });
  it("shows its table cells", () => {
    const row = (paramRef?: Part) =>
      cellsOf(ValidatingAdmissionPolicyBinding, { spec: { policyName: "a", paramRef } });
    expect(row({ namespace: "n", name: "p" })).toMatchObject({ PolicyName: "a", ParamRef: "n/p" });
    expect(row({ name: "p" })).toMatchObject({ ParamRef: "p" });
    expect(row()).toMatchObject({ ParamRef: "<unset>" });
  });
  it("gets no default values for an absent matchResources", () => {
    expect(readAs(ValidatingAdmissionPolicyBinding, { spec: { policyName: "a" } })["spec"]).toEqual({
      policyName: "a",
    });
  });
});
