import { describe, expect, test } from "vitest";
import { grant, ok } from "../../api/support.ts";
import { useServer } from "../../support/use-server.ts";
import { configMapRule, policy } from "./support.ts";

const group = "/apis/admissionregistration.platform.io/v1";
const rights = (resource: string, verbs: readonly string[], more: object = {}) => ({
  verbs,
  apiGroups: [""],
  resources: [resource],
  ...more,
});
const writePolicies = {
  verbs: ["create", "update", "patch"],
  apiGroups: ["admissionregistration.platform.io"],
  resources: ["*"],
};
const forbidden = (field: string, message: RegExp) => ({
  status: 422,
  body: {
    details: {
      causes: [
        { reason: "FieldValueForbidden", field: `spec.${field}`, message: expect.stringMatching(message) },
      ],
    },
  },
});

const mutatingPolicy = (name: string, spec: object) => ({
  metadata: { name },
  spec: {
    matchConstraints: { resourceRules: [configMapRule] },
    mutations: [
      {
        patchType: "JSONPatch",
        jsonPatch: { expression: `[JSONPatch{op: "add", path: "/data", value: {}}]` },
      },
    ],
    reinvocationPolicy: "Never",
    ...spec,
  },
});

describe.each([
  [
    "validatingadmissionpolicies",
    (name: string, spec: object) => policy(name, { validations: ["true"], spec }),
  ],
  ["mutatingadmissionpolicies", mutatingPolicy],
] as const)("%s with parameters", (resource, create) => {
  const server = useServer({
    release: "1.37",
    users: [{ name: "root", groups: ["system:masters"] }, { name: "ann" }, { name: "bob" }, { name: "eve" }],
  });
  const policies = `${group}/${resource}`;
  const bindings = `${group}/${resource.replace(/ies$/, "ybindings")}`;
  const paramKind = { apiVersion: "v1", kind: "Secret" };
  const isValidating = resource.startsWith("validating");
  const binding = (name: string, paramRef: object, policyName = "given") => ({
    metadata: { name },
    spec: {
      policyName,
      paramRef: { parameterNotFoundAction: "Deny", ...paramRef },
      ...(isValidating && { validationActions: ["Deny"] }),
    },
  });

  test("are written by users who may get all objects of the kind", async () => {
    await grant(server.admin, "ann", [writePolicies]);
    await grant(server.admin, "bob", [writePolicies, rights("secrets", ["get"])]);
    const [ann, bob] = [server.as("ann"), server.as("bob")];
    await ok(ann.post(policies, create("plain", {})));
    expect(await ann.post(policies, create("refused", { paramKind }))).toMatchObject(
      forbidden("paramKind", /user "ann" must have "get" permission on all objects of .*kind=Secret/),
    );
    expect(await ann.patch(`${policies}/plain`, { spec: { paramKind } })).toMatchObject(
      forbidden("paramKind", /user "ann" must have "get" permission/),
    );
    await ok(bob.post(policies, create("given", { paramKind })));
    // The kind is unchanged, so the right isn't needed.
    await ok(ann.patch(`${policies}/given`, { metadata: { labels: { a: "b" } } }));
    const unserved = { paramKind: { apiVersion: "none.example.com/v1", kind: "None" } };
    expect((await bob.post(policies, create("unserved", unserved))).status).toBe(422);
    await ok(server.admin.post(policies, create("unserved", unserved)));
  });

  test("are bound by users who may get the object, or list the objects that are selected", async () => {
    await grant(server.admin, "eve", [writePolicies, rights("secrets", ["get"], { resourceNames: ["a"] })]);
    const [eve, bob] = [server.as("eve"), server.as("bob")];
    await ok(eve.post(bindings, binding("a", { name: "a", namespace: "default" })));
    expect(await eve.post(bindings, binding("b", { name: "b", namespace: "default" }))).toMatchObject(
      forbidden("paramRef", /user "eve" does not have "get" permission on the object referenced by paramRef/),
    );
    expect(await eve.patch(`${bindings}/a`, { spec: { paramRef: { name: "b" } } })).toMatchObject(
      forbidden("paramRef", /does not have "get" permission/),
    );
    await ok(eve.patch(`${bindings}/a`, { metadata: { labels: { a: "b" } } }));
    const selected = { selector: { matchLabels: { a: "b" } } };
    expect(await bob.post(bindings, binding("selected", selected))).toMatchObject(
      forbidden("paramRef", /user "bob" does not have "list" permission/),
    );
    expect(await bob.post(bindings, binding("unknown", { name: "a" }, "missing"))).toMatchObject(
      forbidden("paramRef", /permission on all groups, versions and resources/),
    );
    await ok(server.admin.post(bindings, binding("unknown", { name: "a" }, "missing")));
  });
});
