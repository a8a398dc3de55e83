import { describe, expect, test } from "vitest";
import { ok } from "../../api/support.ts";
import { TestServer } from "../../support/api.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { pod, PODS } from "../plugins/support.ts";
import {
  BINDINGS,
  configMap,
  configMapRule,
  CONFIG_MAPS,
  inForce,
  POLICIES,
  policiesOn,
  policy,
  withPolicies,
} from "./support.ts";

test("C-4.13-118 ValidatingAdmissionPolicy is on by default and can be disabled", async () => {
  for (const disabledAdmissionPlugins of [[], ["ValidatingAdmissionPolicy"]]) {
    const server = await TestServer.start({ ...policiesOn, disabledAdmissionPlugins });
    try {
      await inForce(server, "deny", { validations: ["false"] }, async () => {
        const { status } = await server.admin.post(CONFIG_MAPS, configMap("a"));
        expect(status).toBe(disabledAdmissionPlugins.length === 0 ? 422 : 201);
      });
    } finally {
      await server.close();
    }
  }
});

test("C-4.13-120 policies need the feature gate and the group version", async () => {
  const { featureGates = "", runtimeConfig = "" } = policiesOn;
  const withoutGate = await TestServer.start({ runtimeConfig, controllers: [] });
  try {
    await inForce(withoutGate, "deny", { validations: ["false"] }, async () => {
      await ok(withoutGate.admin.post(CONFIG_MAPS, configMap("a")));
    });
  } finally {
    await withoutGate.close();
  }
  const withoutGroup = await TestServer.start({ featureGates, controllers: [] });
  try {
    expect((await withoutGroup.admin.get(POLICIES)).status).toBe(404);
    await ok(withoutGroup.admin.post(CONFIG_MAPS, configMap("a")));
  } finally {
    await withoutGroup.close();
  }
});

describe("evaluation", () => {
  const server = withPolicies();
  const create = (name: string, data: object = {}, metadata: object = {}) =>
    server().admin.post(CONFIG_MAPS, configMap(name, data, metadata));

  test("C-4.13-119 a matching request is rejected when an expression of any policy is false", async () => {
    await inForce(server(), "has-a", { validations: ["has(object.data) && 'a' in object.data"] }, () =>
      inForce(server(), "has-b", { validations: ["has(object.data) && 'b' in object.data"] }, async () => {
        expect((await create("ab", { a: "1", b: "1" })).status).toBe(201);
        expect((await create("only-a", { a: "1" })).status).toBe(422);
        expect((await create("only-b", { b: "1" })).status).toBe(422);
        await ok(server().admin.post("/api/v1/namespaces/default/secrets", { metadata: { name: "other" } }));
      }),
    );
    await ok(create("only-a", { a: "1" }));
  });

  test("a denial names the policy, the binding and the expression or its message", async () => {
    await inForce(server(), "plain", { validations: [" object.metadata.name != 'x' "] }, async () => {
      const { status, body } = await create("x");
      const message =
        "ValidatingAdmissionPolicy 'plain' with binding 'plain-b' denied request: failed expression: object.metadata.name != 'x'";
      expect([status, body.reason, body.message]).toEqual([
        422,
        "Invalid",
        `configmaps "x" is forbidden: ${message}`,
      ]);
      expect(body.details).toEqual({ name: "x", kind: "configmaps", causes: [{ message }] });
    });
  });

  test.each([
    ["Unauthorized", 401],
    ["Forbidden", 403],
    ["Invalid", 422],
    ["RequestEntityTooLarge", 413],
  ])("a validation with the reason %s returns %d", async (reason, code) => {
    const validations = [{ expression: "false", message: " not here ", reason }];
    await inForce(server(), "reasons", { validations }, async () => {
      const { status, body } = await create("reason");
      expect([status, body.reason]).toEqual([code, reason]);
      expect(body.message).toContain("denied request: not here");
    });
  });

  test("an evaluation error returns 422 with failurePolicy Fail, and is ignored with Ignore", async () => {
    const validations = ["object.data.missing == 'x'"];
    await inForce(server(), "fails", { validations }, async () => {
      const { status, body } = await create("fault", { a: "1" });
      expect([status, body.message]).toEqual([
        422,
        expect.stringContaining(
          "expression 'object.data.missing == 'x'' resulted in error: no such key: missing",
        ),
      ]);
    });
    await inForce(server(), "ignores", { validations, spec: { failurePolicy: "Ignore" } }, () =>
      ok(create("fault", { a: "1" })),
    );
  });

  test("a policy has no effect without a binding or when the binding does not match", async () => {
    await ok(server().admin.post(POLICIES, policy("unbound", { validations: ["false"] })));
    await ok(create("unbound"));
    await ok(server().admin.delete(`${POLICIES}/unbound`));
    const elsewhere = {
      matchResources: { resourceRules: [{ ...configMapRule, resourceNames: ["elsewhere"] }] },
    };
    await inForce(server(), "narrow", { validations: ["false"], binding: elsewhere }, async () => {
      await ok(create("not-here"));
      expect((await create("elsewhere")).status).toBe(422);
    });
  });

  test("a policy is restricted by selectors, excludeResourceRules and resourceNames", async () => {
    const constraints = {
      objectSelector: { matchLabels: { checked: "yes" } },
      excludeResourceRules: [{ ...configMapRule, resourceNames: ["spared"] }],
    };
    await inForce(server(), "selected", { validations: ["false"], constraints }, async () => {
      await ok(create("unlabelled"));
      await ok(create("spared", {}, { labels: { checked: "yes" } }));
      expect((await create("labelled", {}, { labels: { checked: "yes" } })).status).toBe(422);
    });
    const namespaceSelector = { matchLabels: { "none-has": "this" } };
    await inForce(server(), "elsewhere", { validations: ["false"], constraints: { namespaceSelector } }, () =>
      ok(create("free")),
    );
  });

  test("the variables object, oldObject and request describe the write and its user", async () => {
    const operations = ["CREATE", "UPDATE", "DELETE"];
    const validations = [
      "request.operation != 'CREATE' || (oldObject == null && object.metadata.name == request.name)",
      "request.operation != 'UPDATE' || oldObject.data.v != object.data.v",
      "request.operation != 'DELETE' || object == null && oldObject.data.v == '2'",
      "request.kind == request.requestKind && request.kind.kind == 'ConfigMap' && request.kind.group == ''",
      "request.resource.resource == 'configmaps' && request.resource.version == 'v1'",
      "request.namespace == 'default' && !has(request.subResource) && !request.dryRun",
      "request.userInfo.username != '' && 'system:authenticated' in request.userInfo.groups",
      "request.operation == 'DELETE' ? request.options.kind == 'DeleteOptions' : has(request.options.fieldManager)",
    ];
    await inForce(server(), "seen", { validations, rule: { operations } }, async () => {
      await ok(server().admin.post(`${CONFIG_MAPS}?fieldManager=me`, configMap("seen", { v: "1" })));
      const path = `${CONFIG_MAPS}/seen`;
      expect((await server().admin.delete(path)).status).toBe(422);
      await ok(server().admin.patch(`${path}?fieldManager=me`, { data: { v: "2" } }));
      await ok(server().admin.delete(path));
    });
  });

  test("parameters are read for each request, and failurePolicy applies when they can't be read", async () => {
    const { admin } = server();
    const parts = {
      validations: ["int(params.data.max) >= size(object.data)"],
      rule: { operations: ["CREATE"], resources: ["secrets"] },
      spec: { paramKind: { apiVersion: "v1", kind: "ConfigMap" } },
      binding: { paramRef: { name: "limits", namespace: "default" } },
    };
    const secret = (name: string) =>
      admin.post("/api/v1/namespaces/default/secrets", {
        metadata: { name },
        data: { a: "MQ==", b: "MQ==" },
      });
    await inForce(server(), "limited", parts, async () => {
      const missing = await secret("two");
      expect([missing.status, missing.body.message]).toEqual([
        422,
        expect.stringContaining('failed to configure binding: configmaps "limits" not found'),
      ]);
      await ok(create("limits", { max: "1" }));
      expect((await secret("two")).status).toBe(422);
      await ok(admin.patch(`${CONFIG_MAPS}/limits`, { data: { max: "2" } }));
      await ok(secret("two"));
    });
    const unknown = { ...parts, spec: { paramKind: { apiVersion: "example.com/v1", kind: "Limit" } } };
    await inForce(server(), "unknown", unknown, async () => {
      const { body } = await secret("three");
      expect(body.message).toContain(
        "ValidatingAdmissionPolicy 'unknown' denied request: failed to configure policy:",
      );
    });
    await inForce(
      server(),
      "ignored",
      { ...unknown, spec: { ...unknown.spec, failurePolicy: "Ignore" } },
      () => ok(secret("three")),
    );
  });

  test("a policy for another version of a resource sees the object in that version", async () => {
    const rule = { apiGroups: ["autoscaling"], apiVersions: ["v1"], resources: ["horizontalpodautoscalers"] };
    const validations = [
      "object.apiVersion == 'autoscaling/v1' && object.spec.targetCPUUtilizationPercentage == 50",
      "request.kind.version == 'v1' && request.requestKind.version == 'v2'",
    ];
    const scaler = (utilization: number) => ({
      metadata: { name: `hpa-${utilization}` },
      spec: {
        maxReplicas: 2,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
        metrics: [
          {
            type: "Resource",
            resource: { name: "cpu", target: { type: "Utilization", averageUtilization: utilization } },
          },
        ],
      },
    });
    const path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    await inForce(server(), "versions", { validations, rule }, async () => {
      await ok(server().admin.post(path, scaler(50)));
      expect((await server().admin.post(path, scaler(51))).status).toBe(422);
    });
    await inForce(
      server(),
      "exact",
      { validations: ["false"], rule, constraints: { matchPolicy: "Exact" } },
      () => ok(server().admin.post(path, scaler(60))),
    );
  });

  test("policies do not apply to policies, bindings and webhook configurations", async () => {
    const rule = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] };
    // `inForce` removes the policy and its binding, which shows that the policy doesn't apply to them.
    await inForce(server(), "everything", { validations: ["false"], rule }, async () => {
      expect((await create("any")).status).toBe(422);
      const path = "/apis/admissionregistration.platform.io/v1/validatingwebhookconfigurations";
      await ok(server().admin.post(path, { metadata: { name: "w" }, webhooks: [] }));
    });
  });

  test("a policy for pods and pods/binding returns 422 for a Pod that violates it", async () => {
    const rule = { resources: ["pods/binding", "pods"], operations: ["CREATE"] };
    const validations = [
      "!has(object.spec) || object.spec.containers.all(c, c.image.startsWith('example.com/'))",
    ];
    await inForce(server(), "images", { validations, rule }, async () => {
      await ok(server().admin.post(PODS, pod("good")));
      const { status } = await server().admin.post(
        PODS,
        pod("bad", { containers: [{ name: "c", image: "other/i" }] }),
      );
      expect(status).toBe(422);
    });
  });

  test("request.namespace of a request for a Namespace is the name of the Namespace", async () => {
    const validations = ["request.namespace == request.name"];
    await inForce(server(), "own", { validations, rule: { resources: ["namespaces"] } }, () =>
      ok(server().admin.post("/api/v1/namespaces", { metadata: { name: "own" } })),
    );
  });

  test("a policy also applies to a dry run", async () => {
    await inForce(server(), "dry", { validations: ["!request.dryRun"] }, async () => {
      expect((await server().admin.post(`${CONFIG_MAPS}?dryRun=All`, configMap("dry"))).status).toBe(422);
    });
  });
});

describe("validation of expressions when a policy is written", () => {
  const server = withPolicies();

  test.each([
    ["undeclared == 1", "undeclared reference to 'undeclared'"],
    ["object.x", "must evaluate to bool, not dyn"],
    ["params.x == 1", "undeclared reference to 'params'"],
    ["object.", "a field's name expected, found the end"],
    ["request.nam == 'x'", "undefined field 'nam'"],
    ["object.x.matches('(')", "missing closing )"],
    ["1 == 'a'", "found no matching overload for '_==_' applied to '(int, string)'"],
    ["[1, 'a'] == object", "expected type 'int' but found 'string'"],
    [`${"(".repeat(300)}true${")".repeat(300)}`, "expression recursion limit exceeded: 250"],
  ])("the expression %s returns 422", async (expression, why) => {
    const { status, body } = await server().admin.post(
      POLICIES,
      policy("bad", { validations: ["true", expression] }),
    );
    expect([status, body.reason]).toEqual([422, "Invalid"]);
    const [cause] = body.details.causes;
    expect([cause.reason, cause.field]).toEqual(["FieldValueInvalid", "spec.validations[1].expression"]);
    expect(cause.message).toMatch(/compilation failed: ERROR: <input>:1:\d+: /);
    expect(cause.message).toContain(why);
  });

  test("an invalid expression returns 422 on update", async () => {
    await ok(server().admin.post(POLICIES, policy("good", { validations: ["true"] })));
    const { status } = await server().admin.patch(`${POLICIES}/good`, {
      spec: { validations: [{ expression: "1" }] },
    });
    expect(status).toBe(422);
  });

  test("an expression with a field that the kind lacks returns a warning", async () => {
    const rule = { resources: ["pods", "configmaps"] };
    const answer = await server().admin.post(
      POLICIES,
      policy("typo", { validations: ["object.spex.x == 1", "object.metadata.name != ''"], rule }),
    );
    expect(answer.status).toBe(201);
    expect(answer.warnings).toEqual([
      "spec.validations[0].expression: v1, Kind=Pod: undefined field 'spex'",
      "spec.validations[0].expression: v1, Kind=ConfigMap: undefined field 'spex'",
    ]);
  });
});

test("a new policy applies to the next request of another server over the same store", async () => {
  const folder = temporaryFolder();
  const options = { ...policiesOn, storage: { engine: "embedded", dir: folder.path } } as const;
  const one = await TestServer.start(options);
  const other = await TestServer.start(options);
  try {
    await ok(other.admin.post(CONFIG_MAPS, configMap("before")));
    for (const round of [1, 2, 3]) {
      await inForce(one, "deny", { validations: ["false"] }, async () => {
        expect((await other.admin.post(CONFIG_MAPS, configMap("during"))).status).toBe(422);
      });
      await ok(other.admin.post(CONFIG_MAPS, configMap(`after-${round}`)));
    }
    expect((await other.admin.get(BINDINGS)).body.items).toEqual([]);
  } finally {
    await other.close();
    await one.close();
    folder.remove();
  }
});
