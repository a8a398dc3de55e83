import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer, type Answer } from "../../support/api.ts";
import { ok } from "../../api/support.ts";

const GROUP = "admissionregistration.platform.io";
const later = ["v1beta1", "v1"] as const;

describe.each([
  ["validating", "1.30"],
  ["mutating", "1.37"],
] as const)("parameterNotFoundAction of bindings of %s policies in release %s", (type, release) => {
  let server: TestServer;
  beforeAll(async () => {
    const runtimeConfig = ["v1alpha1", "v1beta1"].map((version) => `${GROUP}/${version}=true`).join(",");
    server = await TestServer.start({ release, controllers: [], runtimeConfig });
  });
  afterAll(() => server.close());

  const path = (version: string) => `/apis/${GROUP}/${version}/${type}admissionpolicybindings`;
  const binding = (name: string, paramRef: object = { name: "a" }) => ({
    metadata: { name },
    spec: {
      policyName: "p",
      ...(type === "validating" ? { validationActions: ["Deny"] } : {}),
      paramRef,
    },
  });
  const expectRequired = (answer: Answer) => {
    expect(answer.status).toBe(422);
    expect(answer.body["details"].causes).toEqual([
      expect.objectContaining({
        reason: "FieldValueRequired",
        field: "spec.paramRef.parameterNotFoundAction",
      }),
    ]);
  };

  test("has the default Deny in v1alpha1, which the other versions show", async () => {
    const { body } = await ok(server.admin.post(path("v1alpha1"), binding("default")));
    expect(body["spec"].paramRef).toEqual({ name: "a", parameterNotFoundAction: "Deny" });
    for (const version of later) {
      const read = await ok(server.admin.get(`${path(version)}/default`));
      expect(read.body["spec"].paramRef).toEqual({ name: "a", parameterNotFoundAction: "Deny" });
    }
  });

  test("keeps Allow and rejects an empty value in v1alpha1", async () => {
    const allow = binding("allow", { name: "a", parameterNotFoundAction: "Allow" });
    const { body } = await ok(server.admin.post(path("v1alpha1"), allow));
    expect(body["spec"].paramRef.parameterNotFoundAction).toBe("Allow");
    const empty = binding("empty", { name: "a", parameterNotFoundAction: "" });
    expectRequired(await server.admin.post(path("v1alpha1"), empty));
  });

  test.each(later)("has no default in %s", async (version) => {
    expectRequired(await server.admin.post(path(version), binding("missing")));
    const name = `removed-${version}`;
    const deny = binding(name, { name: "a", parameterNotFoundAction: "Deny" });
    await ok(server.admin.post(path(version), deny));
    const removal = {
      body: { spec: { paramRef: { parameterNotFoundAction: null } } },
      contentType: "application/merge-patch+json",
    };
    expectRequired(await server.admin.ask("PATCH", `${path(version)}/${name}`, removal));
    const { body } = await ok(server.admin.ask("PATCH", `${path("v1alpha1")}/${name}`, removal));
    expect(body["spec"].paramRef.parameterNotFoundAction).toBe("Deny");
  });
});
