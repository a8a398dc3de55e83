import { describe, expect, test } from "vitest";
import type { Attributes } from "../../src/authorization/authorizer.ts";
import { AuditRules } from "../../src/http/audit/policy.ts";
import { readPolicy } from "../../src/http/audit/policy-file.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";

const head = "apiVersion: audit.platform.io/v1\nkind: Policy\n";
const read = (text: string) => readPolicy(Buffer.from(head + text), platform);

const user = { name: "ann", uid: "", groups: ["team", "system:authenticated"], extra: {} };
const pods = {
  kind: "resource",
  user,
  verb: "get",
  group: "",
  version: "v1",
  resource: "pods",
  subresource: "",
  namespace: "default",
  name: "web",
} as const;
const path = { kind: "nonResource", user, verb: "get", path: "/healthz/ping" } as const;

describe("audit policy rules", () => {
  const yes = true;
  const no = false;
  test.each<[string, Attributes, boolean]>([
    ["{level: Metadata}", pods, yes],
    ["{level: Metadata}", path, yes],
    ["{level: Metadata, users: [ann]}", pods, yes],
    ["{level: Metadata, users: [bob]}", pods, no],
    ["{level: Metadata, userGroups: [others, team]}", pods, yes],
    ["{level: Metadata, userGroups: [others]}", pods, no],
    ["{level: Metadata, verbs: [list, get]}", pods, yes],
    ["{level: Metadata, verbs: [list]}", pods, no],
    ["{level: Metadata, namespaces: [default]}", pods, yes],
    ["{level: Metadata, namespaces: [default]}", path, no],
    ['{level: Metadata, namespaces: [""]}', pods, no],
    ['{level: Metadata, namespaces: [""]}', { ...pods, namespace: "" }, yes],
    ['{level: Metadata, resources: [{group: ""}]}', pods, yes],
    ["{level: Metadata, resources: [{group: apps}]}", pods, no],
    ['{level: Metadata, resources: [{group: "", resources: [pods]}]}', pods, yes],
    ['{level: Metadata, resources: [{group: "", resources: [pods]}]}', { ...pods, subresource: "log" }, no],
    [
      '{level: Metadata, resources: [{group: "", resources: [pods/log]}]}',
      { ...pods, subresource: "log" },
      yes,
    ],
    ['{level: Metadata, resources: [{group: "", resources: [pods/log]}]}', pods, no],
    [
      '{level: Metadata, resources: [{group: "", resources: [pods/*]}]}',
      { ...pods, subresource: "log" },
      yes,
    ],
    [
      '{level: Metadata, resources: [{group: "", resources: ["*/log"]}]}',
      { ...pods, subresource: "log" },
      yes,
    ],
    ['{level: Metadata, resources: [{group: "", resources: ["*/log"]}]}', pods, no],
    ['{level: Metadata, resources: [{group: "", resources: ["*"]}]}', { ...pods, subresource: "log" }, yes],
    ['{level: Metadata, resources: [{group: "", resources: [pods], resourceNames: [web]}]}', pods, yes],
    ['{level: Metadata, resources: [{group: "", resources: [pods], resourceNames: [db]}]}', pods, no],
    ['{level: Metadata, resources: [{group: "", resources: [pods]}]}', path, no],
    ["{level: Metadata, nonResourceURLs: [/healthz/ping]}", path, yes],
    ["{level: Metadata, nonResourceURLs: [/healthz*]}", path, yes],
    ["{level: Metadata, nonResourceURLs: [/healthz]}", path, no],
    ['{level: Metadata, nonResourceURLs: ["*"]}', path, yes],
    ['{level: Metadata, nonResourceURLs: ["*"]}', pods, no],
  ])("the rule %s matches the request %o: %s", async (rule, request, expected) => {
    const { policy } = await read(`rules: [${rule}]`);
    expect(new AuditRules(policy).termsFor(request).level).toBe(expected ? "Metadata" : "None");
  });
});

test("the first matching rule decides, and omitStages and omitManagedFields of the policy apply to every rule", async () => {
  const { policy } = await read(`
omitStages: [RequestReceived]
omitManagedFields: true
rules:
  - {level: Request, verbs: [get], omitStages: [Panic]}
  - {level: None, verbs: [list], omitManagedFields: false}
  - {level: RequestResponse}`);
  const rules = new AuditRules(policy);
  const terms = (verb: string) => rules.termsFor({ ...pods, verb });
  expect(terms("get")).toEqual({
    level: "Request",
    omitStages: new Set(["RequestReceived", "Panic"]),
    omitManagedFields: true,
  });
  expect(terms("list")).toMatchObject({ level: "None", omitManagedFields: false });
  expect(terms("watch").level).toBe("RequestResponse");
});

describe("an invalid policy", () => {
  test.each([
    ["", "rules: Required value: a policy needs at least one rule"],
    ["rules: []", "rules: Required value"],
    ["rules: [{}]", "rules[0].level: Required value"],
    [
      "rules: [{level: All}]",
      'rules[0].level: Unsupported value: "All": supported values: "None", "Metadata", "Request", "RequestResponse"',
    ],
    ["rules: [{level: None}, {level: 3}]", "rules[1].level"],
    ["rules: [{level: None, omitStages: [Later]}]", 'rules[0].omitStages[0]: Unsupported value: "Later"'],
    ["omitStages: [Later]\nrules: [{level: None}]", "omitStages[0]: Unsupported value"],
    ["rules: [{level: None, nonResourceURLs: [healthz]}]", "rules[0].nonResourceURLs[0]"],
    ['rules: [{level: None, nonResourceURLs: ["/a*b"]}]', "a '*' can only be the last character"],
    [
      "rules: [{level: None, nonResourceURLs: [/a], namespaces: [b]}]",
      "rules cannot apply to both regular resources and non-resource URLs",
    ],
    ["rules: [{level: None, resources: [{group: A_B}]}]", "rules[0].resources[0].group"],
    [
      "rules: [{level: None, resources: [{resourceNames: [a]}]}]",
      "rules[0].resources[0].resourceNames: Invalid value",
    ],
    ["rules: [", "can't be parsed"],
  ])("%s is rejected", async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  test("an empty file, another kind and another vocabulary are rejected", async () => {
    await expect(readPolicy(Buffer.from(""), platform)).rejects.toThrow("the file is empty");
    await expect(readPolicy(Buffer.from("kind: List"), platform)).rejects.toThrow('found "List" of ""');
    await expect(readPolicy(Buffer.from(`${head}rules: [{level: None}]`), kubernetes)).rejects.toThrow(
      'expected "Policy" of "audit.k8s.io/v1"',
    );
  });
});

test("unknown fields return warnings", async () => {
  const { warnings } = await read("rules: [{level: None, user: [a]}]\nlevel: None");
  expect(warnings).toEqual([
    'unknown field "rules[0].user" has no effect',
    'unknown field "level" has no effect',
  ]);
});
