import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { ok, until } from "../api/support.ts";

const POLICIES = "/apis/admissionregistration.platform.io/v1/validatingadmissionpolicies";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({
    release: "1.30",
    enabledControllers: ["validatingadmissionpolicy-status"],
  });
});
afterAll(() => server.close());

const policy = (name: string, resources: readonly string[], spec: object, apiGroups = ["", "apps"]) => ({
  metadata: { name },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups, apiVersions: ["v1"], operations: ["CREATE"], resources }],
    },
    ...spec,
  },
});

/** Creates a policy and returns its status when it has been checked. */
async function statusOf(object: ReturnType<typeof policy>) {
  const { headers } = await ok(server.admin.post(POLICIES, object));
  expect(headers["warning"]).toBeUndefined();
  const checked = await until(
    () => server.admin.get(`${POLICIES}/${object.metadata.name}`),
    ({ body }) => body.status?.observedGeneration === 1,
  );
  return checked.body.status;
}

describe("the controller validatingadmissionpolicy-status", () => {
  test("writes warnings by expression for each kind that a policy matches, sorted", async () => {
    const status = await statusOf(
      policy("kinds", ["deployments", "configmaps"], {
        variables: [{ name: "data", expression: "object.data" }],
        validations: [
          { expression: "object.spec.replicas > 1" },
          { expression: "variables.data.size() > 0", messageExpression: "object.nope + ''" },
          { expression: "object.metadata.name == 'a'" },
        ],
      }),
    );
    expect(status.typeChecking.expressionWarnings).toEqual([
      {
        fieldRef: "spec.validations[0].expression",
        warning:
          "/v1, Kind=ConfigMap: compilation failed: ERROR: <input>:1:7: undefined field 'spec'\n" +
          " | object.spec.replicas > 1\n | ......^\n",
      },
      {
        fieldRef: "spec.validations[1].messageExpression",
        warning:
          "/v1, Kind=ConfigMap: compilation failed: ERROR: <input>:1:7: undefined field 'nope'\n" +
          " | object.nope + ''\n | ......^\n\n" +
          "apps/v1, Kind=Deployment: compilation failed: ERROR: <input>:1:7: undefined field 'nope'\n" +
          " | object.nope + ''\n | ......^\n",
      },
    ]);
  });

  test("writes no warnings if there are none, and for wildcards", async () => {
    const validations = [{ expression: "object.nope == 1" }];
    expect(await statusOf(policy("any", ["*"], { validations }))).toEqual({
      observedGeneration: 1,
      typeChecking: {},
    });
    const good = [{ expression: "object.data.size() > 0" }];
    expect((await statusOf(policy("good", ["configmaps"], { validations: good }))).typeChecking).toEqual({});
  });

  test("checks a changed policy again", async () => {
    const object = policy("changed", ["configmaps"], { validations: [{ expression: "object.nope == 1" }] });
    expect((await statusOf(object)).typeChecking.expressionWarnings).toHaveLength(1);
    const change = { spec: { validations: [{ expression: "has(object.data)" }] } };
    await ok(server.admin.patch(`${POLICIES}/changed`, change));
    const { body } = await until(
      () => server.admin.get(`${POLICIES}/changed`),
      (answer) => answer.body.status.observedGeneration === 2,
    );
    expect(body.status.typeChecking).toEqual({});
  });

  test("checks custom kinds", async () => {
    const properties = { size: { type: "integer" } };
    const schema = { type: "object", properties: { spec: { type: "object", properties } } };
    const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }];
    const names = { plural: "gadgets", singular: "gadget", kind: "Gadget" };
    await ok(
      server.admin.post("/apis/apiextensions.platform.io/v1/customresourcedefinitions", {
        metadata: { name: "gadgets.example.com" },
        spec: { group: "example.com", scope: "Namespaced", names, versions },
      }),
    );
    await until(
      () => server.admin.get("/apis/example.com/v1/gadgets"),
      ({ status }) => status === 200,
    );
    const validations = [{ expression: "object.spec.size > 1" }, { expression: "object.spec.sise > 1" }];
    const status = await statusOf(policy("custom", ["gadgets"], { validations }, ["example.com"]));
    expect(status.typeChecking.expressionWarnings).toEqual([
      {
        fieldRef: "spec.validations[1].expression",
        warning: expect.stringContaining(
          "example.com/v1, Kind=Gadget: compilation failed: ERROR: <input>:1:12: undefined field 'sise'",
        ),
      },
    ]);
  });

  test("checks the first ten kinds", async () => {
    const many =
      "bindings configmaps endpoints events limitranges pods podtemplates replicationcontrollers resourcequotas secrets services".split(
        " ",
      );
    const validations = [{ expression: "object.nope == 1" }];
    const status = await statusOf(policy("many", many, { validations }, [""]));
    const [{ warning }] = status.typeChecking.expressionWarnings;
    expect(warning.match(/Kind=/g)).toHaveLength(10);
  });
});
