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
  it("C-2.9-01, C-2.9-02, C-2.9-14, C-2.9-16, C-2.9-17 fills in what isn't said", () => {
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

  it("C-2.9-03 names each webhook once", () => {
    expect(short(judgeNew(kind, { webhooks: [smallest, smallest] }).faults)).toEqual([
      "webhooks[1].name: Duplicate",
    ]);
  });

  it.each([
    ["no name", { name: "" }, [".name: Required"]],
    ["a name of two parts", { name: "example.com" }, [".name: Invalid"]],
    ["a name that is no domain", { name: "a.b.C" }, [".name: Invalid"]],
    ["C-2.9-12 no side effects said", { sideEffects: undefined }, [".sideEffects: Required"]],
    ["C-2.9-13 some side effects", { sideEffects: "Some" }, [".sideEffects: NotSupported"]],
    ["C-2.9-13 unknown side effects", { sideEffects: "Unknown" }, [".sideEffects: NotSupported"]],
    ["C-2.9-10 no versions", { admissionReviewVersions: undefined }, [".admissionReviewVersions: Required"]],
    [
      "C-2.9-10 an empty list of versions",
      { admissionReviewVersions: [] },
      [".admissionReviewVersions: Required"],
    ],
    [
      "C-2.9-11 versions that nobody knows",
      { admissionReviewVersions: ["v7"] },
      [".admissionReviewVersions: Invalid"],
    ],
    ["a version twice", { admissionReviewVersions: ["v1", "v1"] }, [".admissionReviewVersions[1]: Invalid"]],
    [
      "a malformed version",
      { admissionReviewVersions: ["v1", "V!"] },
      [".admissionReviewVersions[1]: Invalid"],
    ],
    ["no time", { timeoutSeconds: 0 }, [".timeoutSeconds: Invalid"]],
    ["too long a time", { timeoutSeconds: 31 }, [".timeoutSeconds: Invalid"]],
    ["another failure policy", { failurePolicy: "Shrug" }, [".failurePolicy: NotSupported"]],
    ["another match policy", { matchPolicy: "Roughly" }, [".matchPolicy: NotSupported"]],
    [
      "malformed selectors",
      {
        namespaceSelector: { matchLabels: { "a b": "c" } },
        objectSelector: { matchExpressions: [{ key: "a", operator: "Is" }] },
      },
      [".namespaceSelector.matchLabels: Invalid", ".objectSelector.matchExpressions[0].operator: Invalid"],
    ],
    ["no address", { clientConfig: {} }, [".clientConfig: Required"]],
    ["two addresses", { clientConfig: { url: "https://a", service } }, [".clientConfig: Required"]],
  ])("%s: refused", (_title, part, faults) => {
    expect(short(judgeNew(kind, withHook(part)).faults).toSorted()).toEqual(
      faults.map((fault) => `webhooks[0]${fault}`).toSorted(),
    );
  });
});

describe("addresses of webhooks", () => {
  const judge = (clientConfig: Part) =>
    short(judgeNew(ValidatingWebhookConfiguration, withHook({ clientConfig })).faults);
  it.each(["https://example.com", "https://example.com:8443/a/b", "https://[2001:db8::1]:1/x", "HTTPS://h"])(
    "C-2.9-07 %s is one",
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
  ])("%s is none", (url, reason) => {
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
  ])("C-2.9-06 a service with %j: %j", (part, faults) => {
    expect(judge({ service: { ...service, ...part } })).toEqual(
      faults.map((fault) => `webhooks[0].clientConfig.service${fault}`),
    );
  });
});

describe("C-2.9-04 rules of webhooks", () => {
  it.each([
    [
      "everything",
      { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], scope: "Cluster" },
    ],
    ["some things", { resources: ["pods", "pods/status", "deployments/*", "*/scale"] }],
    ["all resources, and subresources", { resources: ["*", "pods/status"] }],
  ])("%s: right", (_title, part) => {
    expect(judgeNew(ValidatingWebhookConfiguration, withRule(part)).faults).toEqual([]);
  });
  it.each([
    ["no operations", { operations: [] }, [".operations: Required"]],
    ["all operations and one", { operations: ["*", "CREATE"] }, [".operations: Invalid"]],
    ["another operation", { operations: ["READ"] }, [".operations[0]: NotSupported"]],
    ["no groups", { apiGroups: [] }, [".apiGroups: Required"]],
    ["all groups and one", { apiGroups: ["*", "apps"] }, [".apiGroups: Invalid"]],
    ["no versions", { apiVersions: [] }, [".apiVersions: Required"]],
    ["an empty version", { apiVersions: [""] }, [".apiVersions[0]: Required"]],
    ["all versions and one", { apiVersions: ["*", "v1"] }, [".apiVersions: Invalid"]],
    ["no resources", { resources: [] }, [".resources: Required"]],
    ["an empty resource", { resources: [""] }, [".resources[0]: Required"]],
    ["everything and one", { resources: ["*/*", "pods"] }, [".resources: Invalid"]],
    ["all resources and one", { resources: ["*", "pods"] }, [".resources: Invalid"]],
    ["all subresources and one", { resources: ["pods/*", "pods/status"] }, [".resources[1]: Invalid"]],
    [
      "a subresource of all and of one",
      { resources: ["*/status", "pods/status"] },
      [".resources[1]: Invalid"],
    ],
    ["another scope", { scope: "World" }, [".scope: NotSupported"]],
  ])("%s: refused", (_title, part, faults) => {
    expect(short(judgeNew(ValidatingWebhookConfiguration, withRule(part)).faults)).toEqual(
      faults.map((fault) => `webhooks[0].rules[0]${fault}`),
    );
  });
});

describe("webhooks that may change objects", () => {
  it("may be asked again", () => {
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

  it("fills in the defaults", () => {
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
    ["no constraints", { matchConstraints: undefined }, [".matchConstraints: Required"]],
    ["no rules", { matchConstraints: {} }, [".matchConstraints.resourceRules: Required"]],
    ["no expressions", { validations: [] }, [".validations: Required"]],
    ["an empty expression", { validations: [{ expression: " " }] }, [".validations[0].expression: Required"]],
    [
      "a message of spaces",
      { validations: [{ expression: "true", message: " " }] },
      [".validations[0].message: Invalid"],
    ],
    [
      "a message of two lines",
      { validations: [{ expression: "true", message: "a\nb" }] },
      [".validations[0].message: Invalid"],
    ],
    [
      "another reason",
      { validations: [{ expression: "true", reason: "Gone" }] },
      [".validations[0].reason: NotSupported"],
    ],
    ["another failure policy", { failurePolicy: "Shrug" }, [".failurePolicy: NotSupported"]],
    [
      "no kind of parameters",
      { paramKind: {} },
      [".paramKind.apiVersion: Required", ".paramKind.kind: Required"],
    ],
    [
      "a malformed version",
      { paramKind: { apiVersion: "a/b/c", kind: "K" } },
      [".paramKind.apiVersion: Invalid"],
    ],
    ["a malformed kind", { paramKind: { apiVersion: "v1", kind: "K!" } }, [".paramKind.kind: Invalid"]],
    [
      "a name twice",
      { matchConstraints: { resourceRules: [{ ...rule, resourceNames: ["a", "a", "b/c"] }] } },
      [
        ".matchConstraints.resourceRules[0].resourceNames[1]: Duplicate",
        ".matchConstraints.resourceRules[0].resourceNames[2]: Invalid",
      ],
    ],
    [
      "a malformed rule",
      { matchConstraints: { resourceRules: [rule], excludeResourceRules: [{ ...rule, operations: [] }] } },
      [".matchConstraints.excludeResourceRules[0].operations: Required"],
    ],
  ])("%s: refused", (_title, part, faults) => {
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
    ["a policy", { policyName: "a" }, []],
    ["no policy", {}, ["spec.policyName: Required"]],
    ["a malformed name", { policyName: "A" }, ["spec.policyName: Invalid"]],
    ["malformed parameters", { policyName: "a", paramRef: { name: "b/c" } }, ["spec.paramRef.name: Invalid"]],
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
  it("matches what its policy does unless it says more", () => {
    expect(readAs(ValidatingAdmissionPolicyBinding, { spec: { policyName: "a" } })["spec"]).toEqual({
      policyName: "a",
    });
  });
});
