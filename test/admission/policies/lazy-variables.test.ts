import { describe, expect, test } from "vitest";
import { compile } from "../../../src/cel/compile.ts";
import { int } from "../../../src/cel/types/types.ts";
import { ok } from "../../api/support.ts";
import { configMap, CONFIG_MAPS, configMapRule, withPolicies } from "./support.ts";

const GROUP = "/apis/admissionregistration.platform.io/v1";

const server = withPolicies({ release: "1.30", controllers: [] });

interface Variable {
  readonly name: string;
  readonly expression: string;
}

/** Creates a policy in force with variables and returns the answer to the creation of a ConfigMap. */
async function createWith(variables: readonly Variable[], validation: object, data: object = {}) {
  const { admin } = server();
  const metadata = { name: "lazy" };
  const spec = {
    matchConstraints: { resourceRules: [configMapRule] },
    variables,
    validations: [validation],
  };
  await ok(admin.post(`${GROUP}/validatingadmissionpolicies`, { metadata, spec }));
  const binding = { metadata, spec: { policyName: "lazy", validationActions: ["Deny"] } };
  await ok(admin.post(`${GROUP}/validatingadmissionpolicybindings`, binding));
  try {
    return await admin.post(`${CONFIG_MAPS}?dryRun=All`, configMap("lazy", data));
  } finally {
    await ok(admin.delete(`${GROUP}/validatingadmissionpolicybindings/lazy`));
    await ok(admin.delete(`${GROUP}/validatingadmissionpolicies/lazy`));
  }
}

const broken = { name: "broken", expression: "1 / 0 == 1" };

describe("variables of policies", () => {
  test.each([
    "true || variables.broken",
    "variables.broken || true",
    "false ? variables.broken : true",
    "[].all(x, variables.broken)",
  ])("aren't needed where another operand decides: %s", async (expression) => {
    expect((await createWith([broken], { expression })).status).toBe(201);
  });

  test.each(["variables.broken || false", "true ? variables.broken : true", "[1].all(x, variables.broken)"])(
    "fail an expression that needs a value which can't be evaluated: %s",
    async (expression) => {
      const { status, body } = await createWith([broken], { expression });
      expect([status, body["message"]]).toEqual([
        422,
        expect.stringContaining('composited variable "broken" fails to evaluate: division by zero'),
      ]);
    },
  );

  test("aren't charged if they aren't needed", async () => {
    const expensive = { name: "expensive", expression: "object.data.all(k, object.data.all(l, k != ''))" };
    const data = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, ""]));
    expect((await createWith([expensive], { expression: "true || variables.expensive" }, data)).status).toBe(
      201,
    );
    const { body } = await createWith([expensive], { expression: "variables.expensive" }, data);
    expect(body["message"]).toContain("actual cost limit exceeded");
  });

  test("can use each other in a chain of the maximum length", async () => {
    const variables = Array.from({ length: 256 }, (_, index) => ({
      name: `v${index}`,
      expression:
        index === 0 ? "1" : `[[[[[[[[[variables.v${index - 1} + 1]]]]]]]]][0][0][0][0][0][0][0][0][0]`,
    }));
    expect((await createWith(variables, { expression: "variables.v255 == 256" })).status).toBe(201);
  });

  test("cost as a selection of a field", () => {
    const { program } = compile("variables.a == 1", {
      variables: new Map([["variables.a", int]]),
      fields: new Set(["variables.a"]),
    });
    const cost = program?.evaluate({ "variables.a": () => 1n }, 100);
    expect(cost).toEqual({ outcome: "value", value: true, cost: 3 });
  });
});
