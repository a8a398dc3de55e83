import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AbacAuthorizer } from "../../src/authorization/abac.ts";
import { parseAbacFile } from "../../src/authorization/abac-file.ts";
import type { Attributes } from "../../src/authorization/authorizer.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { TestServer } from "../support/api.ts";
import { blockOf } from "../support/pages.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const policy = (spec: object) =>
  JSON.stringify({ apiVersion: "abac.authorization.platform.io/v1beta1", kind: "Policy", spec });
const user = { name: "ann", uid: "", groups: ["team", "system:authenticated"], extra: {} };
const anonymous = { name: "system:anonymous", uid: "", groups: ["system:unauthenticated"], extra: {} };
const pods = {
  kind: "resource",
  user,
  verb: "get",
  group: "",
  version: "v1",
  resource: "pods",
  subresource: "",
  namespace: "default",
  name: "",
} as const;
const url = { kind: "nonResource", user, verb: "get", path: "/healthz/ping" } as const;

describe("ABAC policy matching", () => {
  const all = { namespace: "*", resource: "*", apiGroup: "*" };
  test.each<[object, Attributes, boolean]>([
    [{ user: "ann", ...all }, pods, true],
    [{ user: "bob", ...all }, pods, false],
    [{ ...all }, pods, false],
    [{ group: "team", ...all }, pods, true],
    [{ user: "ann", group: "others", ...all }, pods, false],
    [{ user: "*", ...all }, pods, true],
    [{ group: "*", ...all }, pods, true],
    [{ user: "*", ...all }, { ...pods, user: anonymous }, false],
    [{ group: "*", ...all }, { ...pods, user: anonymous }, false],
    [{ group: "system:unauthenticated", ...all }, { ...pods, user: anonymous }, true],
    [{ user: "ann", namespace: "default", resource: "pods" }, pods, true],
    [{ user: "ann", namespace: "other", resource: "pods" }, pods, false],
    [{ user: "ann", namespace: "default", resource: "secrets" }, pods, false],
    [{ user: "ann", namespace: "default", resource: "pods", apiGroup: "apps" }, pods, false],
    [{ user: "ann", namespace: "default" }, pods, false],
    [{ user: "ann", readonly: true, ...all }, { ...pods, verb: "watch" }, true],
    [{ user: "ann", readonly: true, ...all }, { ...pods, verb: "create" }, false],
    [{ user: "ann", ...all }, { ...pods, verb: "create" }, true],
    [{ user: "ann", ...all }, url, false],
    [{ user: "ann", nonResourcePath: "/healthz/*" }, url, true],
    [{ user: "ann", nonResourcePath: "/healthz" }, url, false],
    [{ user: "ann", nonResourcePath: "*" }, url, true],
    [{ user: "ann", nonResourcePath: "*" }, pods, false],
    [{ user: "ann", readonly: true, nonResourcePath: "*" }, { ...url, verb: "post" }, false],
  ])("policy %j and request %o: allowed is %s", (spec, request, allowed) => {
    const { policies } = parseAbacFile(policy(spec), platform);
    const decision = new AbacAuthorizer(policies).authorize(request);
    expect(decision).toEqual(
      allowed
        ? { verdict: "allow", reason: "", evaluationError: "" }
        : { verdict: "noOpinion", reason: "No policy matched.", evaluationError: "" },
    );
  });
});

describe("unversioned ABAC policy format", () => {
  const authenticated = "system:authenticated";
  test.each([
    [{}, { group: authenticated, namespace: "*", resource: "*", nonResourcePath: "*" }],
    [{ user: "*" }, { user: "", group: authenticated, nonResourcePath: "*" }],
    [
      { user: "ann", readonly: true },
      { user: "ann", group: "", readonly: true, nonResourcePath: "*" },
    ],
    [
      { user: "ann", namespace: "a" },
      { namespace: "a", resource: "*", nonResourcePath: "" },
    ],
    [
      { group: "team", resource: "pods" },
      { namespace: "*", resource: "pods", apiGroup: "*" },
    ],
  ])("converts %j", (line, expected) => {
    const { policies, warnings } = parseAbacFile(JSON.stringify(line), platform);
    expect(policies).toMatchObject([expected]);
    expect(warnings[0]).toContain(
      "line 1: a policy without apiVersion and kind has the deprecated unversioned format",
    );
  });
});

test("an ABAC file may have comments and empty lines, and an unknown field returns a warning", () => {
  const { policies, warnings } = parseAbacFile(
    `# who may what\n\n  ${policy({ user: "ann", readOnly: true })}\n`,
    platform,
  );
  expect(policies).toHaveLength(1);
  expect(warnings).toEqual(['line 3: unknown field "spec.readOnly" has no effect']);
});

test.each([
  ["{", /^line 2: /],
  ["[]", /^line 2: a policy must be a JSON object$/],
  [policy({ user: 5 }), /^line 2: spec\.user: /],
  ['{"kind":"Policy"}', /^line 2: kind and apiVersion: found "Policy" of "", expected "Policy" of /],
])("an ABAC file with the line %s is rejected with the line number", (line, message) => {
  expect(() => parseAbacFile(`# first\n${line}\n`, platform)).toThrow(message);
});

test("the apiVersion of ABAC policies depends on the vocabulary", () => {
  expect(() => parseAbacFile(policy({}), kubernetes)).toThrow("abac.authorization.kubernetes.io/v1beta1");
});

describe("server with authorization mode ABAC", () => {
  const folder = temporaryFolder();
  const file = (name: string, text: string) => {
    writeFileSync(path.join(folder.path, name), text);
    return path.join(folder.path, name);
  };
  let server: TestServer;
  beforeAll(async () => {
    const policies = [
      policy({ group: "*", namespace: "*", resource: "*", apiGroup: "*", readonly: true }),
      policy({ group: "*", nonResourcePath: "*", readonly: true }),
      policy({ user: "ann", namespace: "default", resource: "configmaps" }),
      policy({ user: "ann", namespace: "*", resource: "selfsubjectrulesreviews", apiGroup: "*" }),
    ];
    server = await TestServer.start({
      authorizationModes: ["ABAC"],
      authorizationPolicyFile: file("policies", policies.join("\n")),
      tokenAuthFile: file("tokens", "ann-token,ann,1\n"),
    });
  });
  afterAll(async () => {
    await server.close();
    folder.remove();
  });

  test("returns 200 or 201 for requests that a policy allows, and 403 for others", async () => {
    const ann = server.as("ann-token");
    expect((await ann.get("/api/v1/pods")).status).toBe(200);
    const object = { metadata: { name: "one" } };
    expect((await ann.post("/api/v1/namespaces/default/configmaps", object)).status).toBe(201);
    const refused = await ann.post("/api/v1/namespaces/default/secrets", object);
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain("No policy matched.");
  });

  test("C-5.9-05 requests of the anonymous user return 403 without an explicit policy", async () => {
    const nobody = server.as(undefined);
    expect((await nobody.get("/api/v1/pods")).status).toBe(403);
    expect((await nobody.get("/version")).status).toBe(403);
  });

  test("a rules review lists the rule of each policy", async () => {
    const review = { spec: { namespace: "default" } };
    const path = "/apis/authorization.platform.io/v1/selfsubjectrulesreviews";
    const { status } = (await server.as("ann-token").post(path, review)).body;
    expect(status.incomplete).toBe(false);
    expect(status.resourceRules).toContainEqual({ verbs: ["*"], apiGroups: [""], resources: ["configmaps"] });
    expect(status.nonResourceRules).toEqual([{ verbs: ["get", "list", "watch"], nonResourceURLs: ["*"] }]);
  });

  test("does not start when the policy file is not set, missing or malformed", async () => {
    const start = (authorizationPolicyFile?: string) =>
      TestServer.start({
        authorizationModes: ["ABAC"],
        ...(authorizationPolicyFile === undefined ? {} : { authorizationPolicyFile }),
      });
    await expect(start()).rejects.toThrow("authorizationModes: ABAC needs authorizationPolicyFile");
    await expect(start(path.join(folder.path, "absent"))).rejects.toThrow("the file doesn't exist");
    await expect(start(file("broken", "{}\n{"))).rejects.toThrow(
      /^authorizationPolicyFile \S+broken: line 2: /,
    );
  });
});

test("the policies of docs/flags.md are accepted without warnings", () => {
  const { policies, warnings } = parseAbacFile(blockOf("docs/flags.md", "json"), platform);
  expect([policies.length, warnings]).toEqual([2, []]);
});
