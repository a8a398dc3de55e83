import { describe, expect, test } from "vitest";
import { ok } from "../../api/support.ts";
import { configMap, CONFIG_MAPS, configMapRule, withPolicies } from "./support.ts";

const GROUP = "/apis/admissionregistration.platform.io/v1";
const POLICIES = `${GROUP}/validatingadmissionpolicies`;
const BINDINGS = `${GROUP}/validatingadmissionpolicybindings`;

const server = withPolicies({ release: "1.30", enabledControllers: [] });

const policy = (name: string, spec: object) => ({
  metadata: { name },
  spec: { matchConstraints: { resourceRules: [configMapRule] }, ...spec },
});

/** Creates a policy and its binding, runs `work`, and removes both. */
async function inForce(name: string, spec: object, work: () => Promise<void>, binding: object = {}) {
  const { admin } = server();
  await ok(admin.post(POLICIES, policy(name, spec)));
  const bound = { metadata: { name }, spec: { policyName: name, validationActions: ["Deny"], ...binding } };
  await ok(admin.post(BINDINGS, bound));
  try {
    await work();
  } finally {
    await ok(admin.delete(`${BINDINGS}/${name}`));
    await ok(admin.delete(`${POLICIES}/${name}`));
  }
}

const create = (name: string, data: object = {}) => server().admin.post(CONFIG_MAPS, configMap(name, data));

describe("policies of later releases", () => {
  test("are in force in v1 without flags", async () => {
    await inForce(
      "plain",
      { validations: [{ expression: "has(object.data) && has(object.data.a)" }] },
      async () => {
        const refused = await create("plain");
        expect([refused.status, refused.body["message"]]).toEqual([
          422,
          expect.stringContaining("'plain' with binding 'plain' denied request: failed expression"),
        ]);
        await ok(create("plain", { a: "b" }));
      },
    );
  });

  test("evaluate variables, which can use earlier ones, and message expressions", async () => {
    const spec = {
      variables: [
        { name: "size", expression: "has(object.data) && has(object.data.size) ? int(object.data.size) : 0" },
        { name: "double", expression: "variables.size * 2" },
      ],
      validations: [
        {
          expression: "variables.double <= 10",
          messageExpression: "'size ' + string(variables.size) + ' is too large'",
          message: "too large",
        },
      ],
    };
    await inForce("variables", spec, async () => {
      await ok(create("small", { size: "5" }));
      const refused = await create("large", { size: "6" });
      expect(refused.body["message"]).toContain("denied request: size 6 is too large");
      const failing = await create("text", { size: "x" });
      expect(failing.status).toBe(422);
      expect(failing.body["message"]).toContain('composited variable "size" fails to evaluate');
    });
  });

  test("use the constant message when the message expression fails or yields several lines", async () => {
    for (const messageExpression of ["string(object.data.missing)", "'a\\nb'"]) {
      const spec = { validations: [{ expression: "false", messageExpression, message: "constant" }] };
      await inForce("messages", spec, async () => {
        expect((await create("m")).body["message"]).toContain("denied request: constant");
      });
    }
  });

  test("don't evaluate a variable that no expression uses", async () => {
    const spec = {
      variables: [{ name: "broken", expression: "1 / 0" }],
      validations: [{ expression: "true" }],
    };
    await inForce("unused", spec, async () => {
      await ok(create("unused"));
    });
  });

  test("apply only to requests for which all match conditions hold", async () => {
    const conditions = (...expressions: string[]) => ({
      matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
      validations: [{ expression: "false", message: "matched" }],
    });
    await inForce("conditions", conditions("has(object.data)", "object.data.a == 'x'"), async () => {
      await ok(create("c-none"));
      await ok(create("c-other", { a: "y" }));
      expect((await create("c-match", { a: "x" })).body["message"]).toContain("matched");
    });
    // One that is false decides, also if another fails.
    await inForce("false-and-error", conditions("1 / 0 == 1", "false"), async () => {
      await ok(create("c-false"));
    });
    await inForce("error", conditions("1 / 0 == 1"), async () => {
      const { status, body } = await create("c-error");
      expect([status, body["message"]]).toEqual([422, expect.stringContaining("matchCondition 'c0' failed")]);
    });
    await inForce("error-ignored", { ...conditions("1 / 0 == 1"), failurePolicy: "Ignore" }, async () => {
      await ok(create("c-ignored"));
    });
  });

  test("warn instead of denying with the action Warn", async () => {
    const spec = { validations: [{ expression: "false", message: "not good" }] };
    const binding = { validationActions: ["Warn"] };
    const work = async () => {
      const answer = await ok(create("warned"));
      expect(answer.headers["warning"]).toContain(
        "Validation failed for ValidatingAdmissionPolicy 'warns' with binding 'warns': not good",
      );
    };
    await inForce("warns", spec, work, binding);
  });

  test("see the namespace of the object", async () => {
    const { admin } = server();
    await ok(
      admin.post("/api/v1/namespaces", { metadata: { name: "prod", labels: { stage: "production" } } }),
    );
    const spec = {
      validations: [
        { expression: "!('stage' in namespaceObject.metadata.labels)", message: "in production" },
        { expression: "namespaceObject.metadata.creationTimestamp > timestamp('2020-01-01T00:00:00Z')" },
      ],
    };
    await inForce("namespaces", spec, async () => {
      const { status } = await admin.post("/api/v1/namespaces/prod/configmaps", configMap("n"));
      expect(status).toBe(422);
      await ok(create("n"));
    });
  });

  test("take parameters by name in the namespace of the request, and by labels", async () => {
    const { admin } = server();
    const spec = {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      matchConditions: [{ name: "not-params", expression: "!object.metadata.name.startsWith('limit')" }],
      validations: [{ expression: "int(object.data.n) <= int(params.data.max)", message: "above the limit" }],
    };
    const labels = { kind: "limit" };
    await ok(admin.post(CONFIG_MAPS, configMap("limit-a", { max: "5" }, { labels })));
    const byName = { paramRef: { name: "limit-a", parameterNotFoundAction: "Deny" } };
    await inForce(
      "by-name",
      spec,
      async () => {
        await ok(create("p5", { n: "5" }));
        expect((await create("p6", { n: "6" })).body["message"]).toContain("above the limit");
      },
      byName,
    );
    await ok(admin.post(CONFIG_MAPS, configMap("limit-b", { max: "3" }, { labels })));
    const selector = { matchLabels: labels };
    await inForce(
      "by-labels",
      spec,
      async () => {
        await ok(create("q3", { n: "3" }));
        expect((await create("q4", { n: "4" })).status).toBe(422);
      },
      { paramRef: { selector, parameterNotFoundAction: "Deny" } },
    );
    const none = { matchLabels: { kind: "none" } };
    for (const [action, status] of [
      ["Allow", 201],
      ["Deny", 422],
    ] as const) {
      const binding = { paramRef: { selector: none, parameterNotFoundAction: action } };
      await inForce(
        `none-${action.toLowerCase()}`,
        spec,
        async () => {
          expect((await create(`none-${action.toLowerCase()}`, { n: "9" })).status).toBe(status);
        },
        binding,
      );
    }
  });

  test("select at most 16 MiB of parameters for a request, each object once", async () => {
    const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
    const spec = { paramKind, validations: [{ expression: "has(params.data)" }] };
    const paramRef = { selector: { matchLabels: { size: "large" } }, parameterNotFoundAction: "Allow" };
    const { admin } = server();
    const created = async (name: string) => {
      const { status, body } = await create(name);
      return [status, body["message"]];
    };
    const add = (at: number) => {
      const metadata = { name: `large-${at}`, labels: { size: "large" } };
      return ok(admin.post(CONFIG_MAPS, { metadata, data: { text: "x".repeat(1_000_000) } }));
    };
    for (let at = 0; at < 12; at++) await add(at);
    const binding = {
      metadata: { name: "second" },
      spec: { policyName: "sizes", validationActions: ["Deny"], paramRef },
    };
    await inForce(
      "sizes",
      spec,
      async () => {
        await ok(admin.post(BINDINGS, binding));
        expect(await created("fits")).toEqual([201, undefined]);
        await ok(admin.delete(`${BINDINGS}/second`));
        await ok(admin.delete(`${BINDINGS}/sizes`));
        for (let at = 12; at < 17; at++) await add(at);
        await ok(admin.post(BINDINGS, { ...binding, metadata: { name: "sizes" } }));
        await expect
          .poll(() => created("refused"))
          .toEqual([422, expect.stringContaining("the selected params have more than 16777216 bytes")]);
      },
      { paramRef },
    );
  });

  test.each([
    [
      { variables: [{ name: "a-b", expression: "1" }], validations: [{ expression: "true" }] },
      "variables[0].name",
    ],
    [
      { variables: [{ name: "a", expression: "1 +" }], validations: [{ expression: "true" }] },
      "variables[0].expression",
    ],
    [{ validations: [{ expression: "variables.none" }] }, "validations[0].expression"],
    [{ validations: [{ expression: "true", messageExpression: "1" }] }, "validations[0].messageExpression"],
    [{ auditAnnotations: [{ key: "k", valueExpression: "1" }] }, "auditAnnotations[0].valueExpression"],
    [{ auditAnnotations: [{ key: "k k", valueExpression: "'a'" }] }, "auditAnnotations[0].key"],
    [
      { matchConditions: [{ name: "", expression: "true" }], validations: [{ expression: "true" }] },
      "matchConditions[0].name",
    ],
    [
      { matchConditions: [{ name: "c", expression: "1" }], validations: [{ expression: "true" }] },
      "matchConditions[0].expression",
    ],
    [{}, "validations"],
  ])("are refused with an error in %j", async (spec, field) => {
    const { status, body } = await server().admin.post(POLICIES, policy("refused", spec));
    expect(status).toBe(422);
    expect(body["details"].causes.map((cause: { field: string }) => cause.field)).toContain(`spec.${field}`);
  });

  test.each([
    [{}, "validationActions"],
    [{ validationActions: ["Deny", "Warn"] }, "validationActions"],
    [{ validationActions: ["Stop"] }, "validationActions[0]"],
    [{ validationActions: ["Deny"], paramRef: { name: "a" } }, "paramRef.parameterNotFoundAction"],
    [
      { validationActions: ["Deny"], paramRef: { name: "a", selector: {}, parameterNotFoundAction: "Deny" } },
      "paramRef.selector",
    ],
  ])("are not bound by %j", async (spec, field) => {
    const bound = { metadata: { name: "refused" }, spec: { policyName: "p", ...spec } };
    const { status, body } = await server().admin.post(BINDINGS, bound);
    expect(status).toBe(422);
    expect(body["details"].causes.map((cause: { field: string }) => cause.field)).toContain(`spec.${field}`);
  });

  test("have the status subresource", async () => {
    const { admin } = server();
    const created = await ok(
      admin.post(POLICIES, {
        ...policy("status", { validations: [{ expression: "true" }] }),
        status: { observedGeneration: 9 },
      }),
    );
    expect(created.body["status"]).toEqual({});
    const body = { ...created.body, status: { observedGeneration: 1 } };
    const written = await ok(admin.put(`${POLICIES}/status/status`, body));
    expect(written.body["status"]).toEqual({ observedGeneration: 1 });
    await ok(admin.delete(`${POLICIES}/status`));
  });

  test("share the cost budget of a request among the match conditions of all policies", async () => {
    const { admin } = server();
    const list = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";
    // Costs about 900,000 of the 10,000,000 of a request.
    const loops = Array.from({ length: 5 }, (_, level) => `${list}.all(x${level}, `).join("");
    const costly = `${loops}x0 + x1 > 0${")".repeat(5)}`;
    const names = Array.from({ length: 20 }, (_, index) => `costly-${index}`);
    for (const name of names) {
      const matchConditions = [{ name: "c", expression: costly }];
      await ok(
        admin.post(POLICIES, policy(name, { matchConditions, validations: [{ expression: "true" }] })),
      );
      const bound = { metadata: { name }, spec: { policyName: name, validationActions: ["Deny"] } };
      await ok(admin.post(BINDINGS, bound));
    }
    const { status, body } = await create("costly");
    expect([status, body["message"]]).toEqual([422, expect.stringContaining("matchCondition 'c' failed")]);
    for (const name of names) {
      await ok(admin.delete(`${BINDINGS}/${name}`));
      await ok(admin.delete(`${POLICIES}/${name}`));
    }
  });

  test("have at most 256 variables", async () => {
    const variables = Array.from({ length: 20_000 }, (_, index) => ({ name: `v${index}`, expression: "1" }));
    const spec = { variables, validations: [{ expression: "true" }] };
    const { status, body } = await server().admin.post(POLICIES, policy("many", spec));
    expect(status).toBe(422);
    expect(body["details"].causes[0]).toMatchObject({ reason: "FieldValueTooMany", field: "spec.variables" });
  });
});
