import { describe, expect, test } from "vitest";
import { readAuthorizationConfiguration } from "../../src/authorization/configuration/authorization-configuration.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { blockOf } from "../support/pages.ts";

const header = { apiVersion: "apiserver.config.platform.io/v1", kind: "AuthorizationConfiguration" };
const read = (content: object, vocabulary = platform) =>
  readAuthorizationConfiguration(Buffer.from(JSON.stringify({ ...header, ...content })), vocabulary);
const authorizers = (...list: object[]) => ({ authorizers: list });
const webhook = {
  timeout: "3s",
  subjectAccessReviewVersion: "v1",
  failurePolicy: "Deny",
  connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/etc/webhook" },
};
const withWebhook = (changes: object) =>
  authorizers({ type: "Webhook", name: "one", webhook: { ...webhook, ...changes } });
const connection = (connectionInfo: object) => withWebhook({ connectionInfo });
const conditions = (...expressions: string[]) =>
  withWebhook({
    matchConditionSubjectAccessReviewVersion: "v1",
    matchConditions: expressions.map((expression) => ({ expression })),
  });

test.each(["v1alpha1", "v1beta1", "v1"])(
  "version %s is accepted in the group of the vocabulary",
  async (version) => {
    for (const vocabulary of [platform, kubernetes]) {
      const apiVersion = `apiserver.config.${vocabulary.groupSuffix}/${version}`;
      const list = [
        { type: "Node", name: "node" },
        { type: "RBAC", name: "rbac" },
        ...withWebhook({}).authorizers,
      ];
      const result = await read({ apiVersion, authorizers: list }, vocabulary);
      expect(result.map(({ type, name }) => `${type} ${name}`)).toEqual([
        "Node node",
        "RBAC rbac",
        "Webhook one",
      ]);
    }
  },
);

test("a webhook has the default times of the reference", async () => {
  const [one] = await read(withWebhook({}));
  expect(one!.webhook).toEqual({
    configFile: "/etc/webhook",
    version: "v1",
    authorizedMs: 300_000,
    unauthorizedMs: 30_000,
    timeoutMs: 3000,
    failureVerdict: "deny",
    matcher: undefined,
  });
  const times = { authorizedTTL: "1m30s", unauthorizedTTL: "0s", cacheAuthorizedRequests: true };
  expect((await read(withWebhook(times)))[0]!.webhook).toMatchObject({
    authorizedMs: 90_000,
    unauthorizedMs: 30_000,
  });
  const off = { cacheAuthorizedRequests: false, cacheUnauthorizedRequests: false };
  expect((await read(withWebhook(off)))[0]!.webhook).toMatchObject({ authorizedMs: 0, unauthorizedMs: 0 });
});

describe("the error names the field", () => {
  const at = "authorizers[0].webhook";
  test.each<[string, object]>([
    ["kind and apiVersion: found", { kind: "Other" }],
    ["authorizers: Required value: at least one authorization mode", {}],
    ["authorizers[0].other: there is no such field", authorizers({ type: "RBAC", name: "a", other: 1 })],
    ["authorizers[0].type: Required value", authorizers({ name: "a" })],
    [
      'authorizers[0].type: Unsupported value: "X": supported values: "ABAC"',
      authorizers({ type: "X", name: "a" }),
    ],
    [
      'authorizers[1].type: Duplicate value: "RBAC"',
      authorizers({ type: "RBAC", name: "a" }, { type: "RBAC", name: "b" }),
    ],
    ["authorizers[0].name: Required value", authorizers({ type: "RBAC" })],
    [
      'authorizers[1].name: Duplicate value: "a"',
      authorizers({ type: "RBAC", name: "a" }, { type: "Node", name: "a" }),
    ],
    ['authorizers[0].name: Invalid value: "A_"', authorizers({ type: "RBAC", name: "A_" })],
    [`${at}: Required value: required when type=Webhook`, authorizers({ type: "Webhook", name: "a" })],
    [`${at}: Invalid value: "non-null"`, authorizers({ type: "RBAC", name: "a", webhook })],
    [`${at}.timeout: Required value`, withWebhook({ timeout: "" })],
    [`${at}.timeout: Required value`, withWebhook({ timeout: "0s" })],
    [`${at}.timeout: Invalid value: "31s": must be > 0s and <= 30s`, withWebhook({ timeout: "31s" })],
    [`${at}.timeout: Invalid value: "-1s"`, withWebhook({ timeout: "-1s" })],
    [`${at}.timeout: Invalid value: "soon": must be a duration`, withWebhook({ timeout: "soon" })],
    [`${at}.authorizedTTL: Invalid value: "-1s": must be > 0s`, withWebhook({ authorizedTTL: "-1s" })],
    [`${at}.unauthorizedTTL: Invalid value: "-1s": must be > 0s`, withWebhook({ unauthorizedTTL: "-1s" })],
    [`${at}.subjectAccessReviewVersion: Required value`, withWebhook({ subjectAccessReviewVersion: "" })],
    [
      `${at}.subjectAccessReviewVersion: Unsupported value: "v2"`,
      withWebhook({ subjectAccessReviewVersion: "v2" }),
    ],
    [
      `${at}.matchConditionSubjectAccessReviewVersion: Required value`,
      withWebhook({ matchConditions: [{ expression: "true" }] }),
    ],
    [
      `${at}.matchConditionSubjectAccessReviewVersion: Unsupported value: "v1beta1"`,
      withWebhook({ matchConditionSubjectAccessReviewVersion: "v1beta1" }),
    ],
    [`${at}.failurePolicy: Required value`, withWebhook({ failurePolicy: "" })],
    [`${at}.failurePolicy: Unsupported value: "Allow"`, withWebhook({ failurePolicy: "Allow" })],
    [`${at}.connectionInfo.type: Required value`, connection({})],
    [`${at}.connectionInfo.type: Unsupported value: "X"`, connection({ type: "X", kubeConfigFile: "/f" })],
    [
      `${at}.connectionInfo.kubeConfigFile: Invalid value: "/f": can only be set when type=KubeConfigFile`,
      connection({ type: "InClusterConfig", kubeConfigFile: "/f" }),
    ],
    [`${at}.connectionInfo.kubeConfigFile: Required value`, connection({ type: "KubeConfigFile" })],
    [
      `${at}.connectionInfo.kubeConfigFile: Invalid value: "f": must be an absolute path`,
      connection({ type: "KubeConfigFile", kubeConfigFile: "f" }),
    ],
    [
      `${at}.matchConditions: Too many: 65`,
      conditions(...Array.from({ length: 65 }, (_, index) => `${index} > 0`)),
    ],
    [`${at}.matchConditions[0].expression: Required value`, conditions(" ")],
    [`${at}.matchConditions[1].expression: Duplicate value: "true"`, conditions("true", "true")],
    [
      `${at}.matchConditions[0].expression: Invalid value: "request.user": compilation failed`,
      conditions("request.user"),
    ],
    [
      `${at}.matchConditions[0].expression: Invalid value: "request.verb == 'a'": compilation failed`,
      conditions("request.verb == 'a'"),
    ],
  ])("%s", async (message, content) => {
    await expect(read(content)).rejects.toThrow(message);
  });
});

test("the example of docs/authorization-service.md is accepted", async () => {
  const example = Buffer.from(blockOf("docs/authorization-service.md", "yaml"));
  const result = await readAuthorizationConfiguration(example, platform);
  expect(result).toHaveLength(2);
});
