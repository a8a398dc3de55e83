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
    ["an empty name", { name: "" }, [".name: Required"]],
    ["a name with only two labels", { name: "example.com" }, [".name: Invalid"]],
    ["a name in upper case", { name: "a.b.C" }, [".name: Invalid"]],
    ["C-2.9-12 missing sideEffects", { sideEffects: undefined }, [".sideEffects: Required"]],
    ["C-2.9-13 sideEffects Some", { sideEffects: "Some" }, [".sideEffects: NotSupported"]],
    ["C-2.9-13 sideEffects Unknown", { sideEffects: "Unknown" }, [".sideEffects: NotSupported"]],
    [
      "C-2.9-10 missing admissionReviewVersions",
      { admissionReviewVersions: undefined },
      [".admissionReviewVersions: Required"],
    ],
    [
      "C-2.9-10 empty admissionReviewVersions",
      { admissionReviewVersions: [] },
      [".admissionReviewVersions: Required"],
    ],
    [
      "C-2.9-11 admissionReviewVersions without a supported version",
      { admissionReviewVersions: ["v7"] },
      [".admissionReviewVersions: Invalid"],
    ],
    [
      "a duplicate admissionReviewVersion",
      { admissionReviewVersions: ["v1", "v1"] },
      [".admissionReviewVersions[1]: Invalid"],
    ],
    [
      "a malformed admissionReviewVersion",
      { admissionReviewVersions: ["v1", "V!"] },
      [".admissionReviewVersions[1]: Invalid"],
    ],
    ["timeoutSeconds 0", { timeoutSeconds: 0 }, [".timeoutSeconds: Invalid"]],
    ["timeoutSeconds above 30", { timeoutSeconds: 31 }, [".timeoutSeconds: Invalid"]],
    ["an unknown failurePolicy", { failurePolicy: "Shrug" }, [".failurePolicy: NotSupported"]],
    ["an unknown matchPolicy", { matchPolicy: "Roughly" }, [".matchPolicy: NotSupported"]],
    [
      "malformed selectors",
      {
        namespaceSelector: { matchLabels: { "a b": "c" } },
        objectSelector: { matchExpressions: [{ key: "a", operator: "Is" }] },
      },
      [".namespaceSelector.matchLabels: Invalid", ".objectSelector.matchExpressions[0].operator: Invalid"],
    ],
    ["neither url nor service", { clientConfig: {} }, [".clientConfig: Required"]],
    ["both url and service", { clientConfig: { url: "https://a", service } }, [".clientConfig: Required"]],
  ])("rejects %s", (_title, part, faults) => {
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
    ["an empty list of operations", { operations: [] }, [".operations: Required"]],
    ["* together with another operation", { operations: ["*", "CREATE"] }, [".operations: Invalid"]],
    ["an unknown operation", { operations: ["READ"] }, [".operations[0]: NotSupported"]],
    ["an empty list of apiGroups", { apiGroups: [] }, [".apiGroups: Required"]],
    ["* together with another apiGroup", { apiGroups: ["*", "apps"] }, [".apiGroups: Invalid"]],
    ["an empty list of apiVersions", { apiVersions: [] }, [".apiVersions: Required"]],
    ["an empty apiVersion", { apiVersions: [""] }, [".apiVersions[0]: Required"]],
    ["* together with another apiVersion", { apiVersions: ["*", "v1"] }, [".apiVersions: Invalid"]],
    ["an empty list of resources", { resources: [] }, [".resources: Required"]],
    ["an empty resource", { resources: [""] }, [".resources[0]: Required"]],
    ["*/* together with another resource", { resources: ["*/*", "pods"] }, [".resources: Invalid"]],
    ["* together with another resource", { resources: ["*", "pods"] }, [".resources: Invalid"]],
    [
      "pods/* together with a subresource of pods",
      { resources: ["pods/*", "pods/status"] },
      [".resources[1]: Invalid"],
    ],
    [
      "*/status together with pods/status",
      { resources: ["*/status", "pods/status"] },
      [".resources[1]: Invalid"],
    ],
    ["an unknown scope", { scope: "World" }, [".scope: NotSupported"]],
  ])("rejects %s", (_title, part, faults) => {
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
    ["missing matchConstraints", { matchConstraints: undefined }, [".matchConstraints: Required"]],
    [
      "matchConstraints without resourceRules",
      { matchConstraints: {} },
      [".matchConstraints.resourceRules: Required"],
    ],
    ["an empty list of validations", { validations: [] }, [".validations: Required"]],
    ["an empty expression", { validations: [{ expression: " " }] }, [".validations[0].expression: Required"]],
    [
      "a message of spaces only",
      { validations: [{ expression: "true", message: " " }] },
      [".validations[0].message: Invalid"],
    ],
    [
      "a message with a line break",
      { validations: [{ expression: "true", message: "a\nb" }] },
      [".validations[0].message: Invalid"],
    ],
    [
      "an unknown reason",
      { validations: [{ expression: "true", reason: "Gone" }] },
      [".validations[0].reason: NotSupported"],
    ],
    ["an unknown failurePolicy", { failurePolicy: "Shrug" }, [".failurePolicy: NotSupported"]],
    [
      "an empty paramKind",
      { paramKind: {} },
      [".paramKind.apiVersion: Required", ".paramKind.kind: Required"],
    ],
    [
      "a malformed paramKind.apiVersion",
      { paramKind: { apiVersion: "a/b/c", kind: "K" } },
      [".paramKind.apiVersion: Invalid"],
    ],
    [
      "a malformed paramKind.kind",
      { paramKind: { apiVersion: "v1", kind: "K!" } },
      [".paramKind.kind: Invalid"],
    ],
    [
      "duplicate and malformed resourceNames",
      { matchConstraints: { resourceRules: [{ ...rule, resourceNames: ["a", "a", "b/c"] }] } },
      [
        ".matchConstraints.resourceRules[0].resourceNames[1]: Duplicate",
        ".matchConstraints.resourceRules[0].resourceNames[2]: Invalid",
      ],
    ],
    [
      "a malformed rule in excludeResourceRules",
      { matchConstraints: { resourceRules: [rule], excludeResourceRules: [{ ...rule, operations: [] }] } },
      [".matchConstraints.excludeResourceRules[0].operations: Required"],
    ],
  ])("rejects %s", (_title, part, faults) => {
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
    ["a policyName", { policyName: "a" }, []],
    ["a missing policyName", {}, ["spec.policyName: Required"]],
    ["a malformed policyName", { policyName: "A" }, ["spec.policyName: Invalid"]],
    [
      "a malformed paramRef.name",
      { policyName: "a", paramRef: { name: "b/c" } },
      ["spec.paramRef.name: Invalid"],
    ],
  ])("validates %s", (_title, spec, faults) => {
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
