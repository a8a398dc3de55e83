import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { CreateServerOptions } from "../../../src/index.ts";
import { TestServer } from "../../support/api.ts";
import { ok } from "../../api/support.ts";
import { blockOf } from "../../support/pages.ts";
import { configMap, CONFIG_MAPS, configMapRule } from "./support.ts";

const GROUP = "/apis/admissionregistration.platform.io";

const policy = (name: string, mutations: readonly object[], spec: object = {}) => ({
  metadata: { name },
  spec: {
    matchConstraints: { resourceRules: [configMapRule] },
    reinvocationPolicy: "Never",
    mutations,
    ...spec,
  },
});
const apply = (expression: string) => ({
  patchType: "ApplyConfiguration",
  applyConfiguration: { expression },
});
const patch = (expression: string) => ({ patchType: "JSONPatch", jsonPatch: { expression } });
const labelled = (expression: string) => apply(`Object{metadata: Object.metadata{labels: ${expression}}}`);

async function enforce(
  server: TestServer,
  version: string,
  object: ReturnType<typeof policy>,
): Promise<void> {
  const { name } = object.metadata;
  await ok(server.admin.post(`${GROUP}/${version}/mutatingadmissionpolicies`, object));
  const binding = { metadata: { name }, spec: { policyName: name } };
  await ok(server.admin.post(`${GROUP}/${version}/mutatingadmissionpolicybindings`, binding));
}

describe("mutating policies by release", () => {
  const servers: TestServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  async function start(options: CreateServerOptions): Promise<TestServer> {
    const server = await TestServer.start({ controllers: [], ...options });
    servers.push(server);
    return server;
  }

  test.each([
    ["1.32", "v1alpha1", { featureGates: "MutatingAdmissionPolicy=true" }],
    ["1.34", "v1beta1", { featureGates: "MutatingAdmissionPolicy=true" }],
    ["1.36", "v1", {}],
    ["1.37", "v1alpha1", {}],
  ] as const)("change objects in release %s in %s", async (release, version, gates) => {
    const runtimeConfig = version === "v1" ? "" : `admissionregistration.platform.io/${version}=true`;
    const server = await start({ release, ...gates, ...(runtimeConfig === "" ? {} : { runtimeConfig }) });
    await enforce(server, version, policy("p", [labelled("{'a': 'b'}")]));
    const { body } = await ok(server.admin.post(CONFIG_MAPS, configMap("map")));
    expect(body.metadata.labels).toEqual({ a: "b" });
  });

  test("have no effect while the gate is off", async () => {
    const server = await start({ release: "1.36", featureGates: "MutatingAdmissionPolicy=false" });
    await enforce(server, "v1", policy("p", [labelled("{'a': 'b'}")]));
    const { body } = await ok(server.admin.post(CONFIG_MAPS, configMap("map")));
    expect(body.metadata.labels).toBeUndefined();
  });

  test("can be disabled in a release that has the plugin, which is unknown before", async () => {
    const disabledAdmissionPlugins = ["MutatingAdmissionPolicy"];
    const server = await start({ release: "1.36", disabledAdmissionPlugins });
    await enforce(server, "v1", policy("p", [labelled("{'a': 'b'}")]));
    const { body } = await ok(server.admin.post(CONFIG_MAPS, configMap("map")));
    expect(body.metadata.labels).toBeUndefined();
    await expect(start({ release: "1.31", disabledAdmissionPlugins })).rejects.toThrow(
      'unknown admission plugin "MutatingAdmissionPolicy"',
    );
  });
});

describe("mutating policies", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ release: "1.37", controllers: [] });
  });
  afterAll(() => server.close());

  async function withPolicies<T>(
    policies: readonly ReturnType<typeof policy>[],
    work: () => Promise<T>,
  ): Promise<T> {
    for (const one of policies) await enforce(server, "v1", one);
    try {
      return await work();
    } finally {
      for (const { metadata } of policies) {
        await ok(server.admin.delete(`${GROUP}/v1/mutatingadmissionpolicybindings/${metadata.name}`));
        await ok(server.admin.delete(`${GROUP}/v1/mutatingadmissionpolicies/${metadata.name}`));
      }
    }
  }

  const create = (name: string, data: object = {}) => server.admin.post(CONFIG_MAPS, configMap(name, data));

  test("are evaluated by name, each with the changes of those before it", async () => {
    const policies = [
      policy("b", [labelled("{'seen': string('a' in object.metadata.labels)}")]),
      policy("a", [labelled("{'a': 'x'}")]),
    ];
    const { body } = await withPolicies(policies, () => ok(create("ordered")));
    expect(body.metadata.labels).toEqual({ a: "x", seen: "true" });
  });

  test("docs/cel.md: the mutations and access checks of the page are accepted, and change objects", async () => {
    const checks = blockOf("docs/cel.md", "text authorizer").trim().split("\n");
    const variables = checks.map((expression, index) => ({ name: `check${index}`, expression }));
    const configuration = apply(
      blockOf("docs/cel.md", "text configuration")
        .replace("params.data.tier", "'front'")
        .replace(/,\s+spec: .*/, "}"),
    );
    const patched = patch(
      blockOf("docs/cel.md", "text patch").replace("'/spec/replicas', value: 1", "'/data/a', value: '1'"),
    );
    const { body } = await withPolicies([policy("page", [configuration, patched], { variables })], () =>
      ok(create("page", { a: "1" })),
    );
    expect(body.metadata.labels).toEqual({ tier: "front", "example.com/tier": "front" });
  });

  test("that fail are causes of one error, in order", async () => {
    const policies = [
      policy("a", [apply("Object{data: {'x': object.data.missing}}")]),
      policy("b", [patch("[JSONPatch{op: 'remove', path: '/data/missing'}]")]),
    ];
    const { status, body } = await withPolicies(policies, () => create("failing", { a: "b" }));
    expect([status, body.reason]).toEqual([403, "Invalid"]);
    expect(body.details.causes.map(({ message }: { message: string }) => message)).toEqual([
      "policy 'a' with binding 'a' denied request: expression 'Object{data: {'x': object.data.missing}}' resulted in error: no such key: missing",
      expect.stringContaining("policy 'b' with binding 'b' denied request: JSON Patch: "),
    ]);
    expect(body.message).toBe(body.details.causes[0].message);
  });

  test("don't change their own kinds", async () => {
    const everything = [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }];
    const all = policy("all", [labelled("{'a': 'b'}")], { matchConstraints: { resourceRules: everything } });
    await withPolicies([all], async () => {
      const other = policy("other", [apply("Object{}")]);
      const { body } = await ok(server.admin.post(`${GROUP}/v1/mutatingadmissionpolicies`, other));
      expect(body.metadata.labels).toBeUndefined();
      await ok(server.admin.delete(`${GROUP}/v1/mutatingadmissionpolicies/other`));
    });
  });

  test("can't build a result of any size from shared parts", async () => {
    const variables = Array.from({ length: 40 }, (_, index) => ({
      name: `v${index}`,
      expression: index === 0 ? "['0123456789']" : `[variables.v${index - 1}, variables.v${index - 1}]`,
    }));
    const large = [patch("[JSONPatch{op: 'add', path: '/data', value: variables.v39}]")];
    const { status, body } = await withPolicies([policy("large", large, { variables })], () =>
      create("large"),
    );
    expect([status, body.message]).toEqual([403, expect.stringContaining("the value is too large")]);
  });

  test("can't make the object larger than the store accepts", async () => {
    const copies = Array.from({ length: 4 }, (_, index) =>
      policy(`copy-${index}`, [patch(`[JSONPatch{op: 'copy', from: '/data/a', path: '/data/b${index}'}]`)]),
    );
    const { status, body } = await withPolicies(copies, () =>
      create("growing", { a: "x".repeat(1_000_000) }),
    );
    expect([status, body.message]).toEqual([413, "the object is larger than 3145728 bytes"]);
  });

  test("can't build an object that is too deep to be read again", async () => {
    const variables = Array.from({ length: 201 }, (_, index) => ({
      name: `v${index}`,
      expression: index === 0 ? "['']" : `[variables.v${index - 1}]`,
    }));
    const deep = [apply("Object{data: {'a': variables.v200}}")];
    const { status, body } = await withPolicies([policy("deep", deep, { variables })], () => create("deep"));
    expect([status, body.message]).toEqual([403, expect.stringContaining("the value is nested too deeply")]);
  });

  test("let other requests run between the mutations of a policy", async () => {
    const mutations = Array.from({ length: 300 }, (_, index) => labelled(`{'l${index}': 'x'}`));
    const data = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, ""]));
    await withPolicies([policy("many", mutations)], async () => {
      let created = false;
      const creation = create("many", data).then((answer) => {
        created = true;
        return answer;
      });
      let answers = 0;
      while (!created) {
        await ok(server.admin.get("/version"));
        answers++;
      }
      expect((await creation).status).toBe(201);
      expect(answers).toBeGreaterThan(3);
    });
  });

  test("share the cost budget of the request with validating policies", async () => {
    const data = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${index}`, ""]));
    const expensive = "object.data.all(k, object.data.all(l, k != '?'))";
    const mutation = apply(`Object{data: {'x': string(${expensive})}}`);
    const policies = Array.from({ length: 25 }, (_, index) => policy(`p${index}`, [mutation]));
    const { status, body } = await withPolicies(policies, () => create("expensive", data));
    expect([status, body.message]).toEqual([
      403,
      expect.stringContaining("validation failed due to running out of cost budget"),
    ]);
  });

  test("are counted by policy, binding and type of error", async () => {
    const policies = [
      policy("good", [apply("Object{data: {'x': 'y'}}")]),
      policy("bad", [apply("Object{data: {'x': object.data.missing}}")], { failurePolicy: "Ignore" }),
    ];
    await withPolicies(policies, () => ok(create("counted", { a: "b" })));
    const { text } = await ok(server.admin.get("/metrics"));
    const name = "apiserver_mutating_admission_policy_check_total";
    expect(text).toContain(`${name}{policy="good",policy_binding="good",error_type="no_error"} 1`);
    expect(text).toContain(`${name}{policy="bad",policy_binding="bad",error_type="invalid_error"} 1`);
  });

  test("are shown as a table", async () => {
    await withPolicies([policy("shown", [apply("Object{}"), apply("Object{}")])], async () => {
      const accept = "application/json;as=Table;v=v1;g=meta.platform.io";
      const table = await ok(server.admin.get(`${GROUP}/v1/mutatingadmissionpolicies/shown`, { accept }));
      expect(table.body.rows[0].cells.slice(0, 3)).toEqual(["shown", 2, "<unset>"]);
      const binding = await ok(
        server.admin.get(`${GROUP}/v1/mutatingadmissionpolicybindings/shown`, { accept }),
      );
      expect(binding.body.rows[0].cells.slice(0, 3)).toEqual(["shown", "shown", "<unset>"]);
    });
  });

  test("refuse more variables than 256", async () => {
    const variables = Array.from({ length: 257 }, (_, index) => ({ name: `v${index}`, expression: "1" }));
    const object = policy("many", [apply("Object{}")], { variables });
    const { status } = await server.admin.post(`${GROUP}/v1/mutatingadmissionpolicies`, object);
    expect(status).toBe(422);
  });
});
