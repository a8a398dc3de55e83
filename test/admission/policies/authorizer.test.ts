import { afterEach, describe, expect, test } from "vitest";
import type { CreateServerOptions } from "../../../src/index.ts";
import { TestServer } from "../../support/api.ts";
import { ok } from "../../api/support.ts";
import { configMap, CONFIG_MAPS, policy } from "./support.ts";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const GATES = "ValidatingAdmissionPolicy=true";
const RUNTIME = "admissionregistration.platform.io/v1alpha1=true";

async function start(options: CreateServerOptions): Promise<TestServer> {
  const server = await TestServer.start({ controllers: [], ...options });
  servers.push(server);
  return server;
}

const pathOf = (version: string, suffix = "") =>
  `/apis/admissionregistration.platform.io/${version}/validatingadmissionpolic${suffix || "ies"}`;

const check = "authorizer.path('/reports').check('get').allowed()";

describe("the variable authorizer", () => {
  test.each([
    ["1.26", "v1alpha1", 422],
    ["1.27", "v1alpha1", 201],
  ] as const)("in release %s: %s answers %i", async (release, version, status) => {
    const { admin } = await start({ release, featureGates: GATES, runtimeConfig: RUNTIME });
    const answer = await admin.post(pathOf(version), policy("checks", { validations: [check] }));
    expect(answer.status, answer.text).toBe(status);
  });

  test.each([
    ["1.31", {}, 422],
    ["1.32", {}, 201],
    ["1.32", { featureGates: "AuthorizeWithSelectors=false" }, 422],
    ["1.37", {}, 201],
  ] as const)("has selectors by release and gate: %s %j answers %i", async (release, options, status) => {
    const { admin } = await start({ release, ...options });
    const expression = "authorizer.group('').resource('pods').labelSelector('a=b').check('list').allowed()";
    const answer = await admin.post(pathOf("v1"), policy("selects", { validations: [expression] }));
    expect(answer.status, answer.text).toBe(status);
  });

  test("isn't declared in rules of custom resource definitions", async () => {
    const { admin } = await start({ release: "1.37" });
    const schema = { type: "object", "x-platform-validations": [{ rule: check }] };
    const names = { plural: "things", singular: "thing", kind: "Thing" };
    const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }];
    const answer = await admin.post("/apis/apiextensions.platform.io/v1/customresourcedefinitions", {
      metadata: { name: "things.example.com" },
      spec: { group: "example.com", scope: "Cluster", names, versions },
    });
    expect(answer.status).toBe(422);
    expect(answer.body["message"]).toContain("undeclared reference to 'authorizer'");
  });

  test("waits for a slow authorizer, once for each different check of a request", async () => {
    const checks: string[] = [];
    const slow = {
      name: "slow",
      async authorize(attributes: { readonly kind: string; readonly path?: string; readonly verb: string }) {
        if (attributes.kind === "nonResource") checks.push(`${attributes.verb} ${attributes.path}`);
        await Promise.resolve();
        return { verdict: "allow" as const, reason: "because", evaluationError: "" };
      },
    };
    const { admin, server } = await start({
      release: "1.30",
      authorizers: [slow],
      // Controllers write config maps too, at a time of their own.
      enabledControllers: [],
      authorizationModes: ["slow"],
    });
    expect(server.url).toBeDefined();
    const spec = {
      variables: [{ name: "may", expression: `${check} && ${check}` }],
      matchConditions: [{ name: "c", expression: check }],
    };
    const parts = {
      validations: [
        `${check} && authorizer.path('/other').check('post').allowed()`,
        "variables.may && authorizer.path('/reports').check('get').reason() == 'because'",
      ],
      spec,
    };
    await ok(admin.post(pathOf("v1"), policy("slow", parts)));
    const bound = { metadata: { name: "slow" }, spec: { policyName: "slow", validationActions: ["Deny"] } };
    await ok(admin.post(pathOf("v1", "ybindings"), bound));
    const user = { headers: { "impersonate-user": "joe" } };
    checks.length = 0;
    await ok(admin.post(CONFIG_MAPS, configMap("slow"), user));
    expect(checks).toEqual(["get /reports", "post /other"]);
  });
});
