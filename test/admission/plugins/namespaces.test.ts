import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { configMap, namespace, ok } from "../../api/support.ts";
import { TestServer } from "../../support/api.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { pod, rejected } from "./support.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** Writes an AdmissionConfiguration for one plugin, and returns its path. */
function configuration(plugin: string, value: object): string {
  const file = path.join(folder.path, `${plugin}.yaml`);
  const plugins = [{ name: plugin, configuration: value }];
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: "apiserver.config.platform.io/v1",
      kind: "AdmissionConfiguration",
      plugins,
    }),
  );
  return file;
}

const podsIn = (where: string) => `/api/v1/namespaces/${where}/pods`;
const annotated = (name: string, annotations: object) => ({
  ...namespace(name),
  metadata: { name, annotations },
});

describe("NamespaceAutoProvision", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ enabledAdmissionPlugins: ["NamespaceAutoProvision"], controllers: [] });
  });
  afterAll(() => server.close());

  test("C-4.13-64 creates a missing namespace that a namespaced request refers to", async () => {
    await ok(server.admin.post("/api/v1/namespaces/fresh/configmaps", configMap("m")));
    expect((await ok(server.admin.get("/api/v1/namespaces/fresh"))).body.status.phase).toBe("Active");
  });

  test("concurrent requests in a missing namespace return 201, and a dry run returns 404 and does not create it", async () => {
    const many = Array.from({ length: 20 }, (_, index) =>
      server.admin.post("/api/v1/namespaces/crowd/configmaps", configMap(`m${index}`)),
    );
    expect((await Promise.all(many)).map(({ status }) => status)).toEqual(Array(20).fill(201));
    const dry = await server.admin.post("/api/v1/namespaces/dry/configmaps?dryRun=All", configMap("m"));
    expect(dry.status).toBe(404);
    expect((await server.admin.get("/api/v1/namespaces/dry")).status).toBe(404);
  });

  test("a request with an invalid namespace name returns 422", async () => {
    const { status } = await server.admin.post("/api/v1/namespaces/No_Name/configmaps", configMap("m"));
    expect(status).toBe(422);
  });
});

test("C-4.13-63 C-4.13-65 NamespaceAutoProvision and NamespaceExists are off by default", async () => {
  const server = await TestServer.start({
    controllers: [],
    disabledAdmissionPlugins: ["NamespaceLifecycle"],
  });
  try {
    await ok(server.admin.post("/api/v1/namespaces/nowhere/configmaps", configMap("m")));
    expect((await server.admin.get("/api/v1/namespaces/nowhere")).status).toBe(404);
  } finally {
    await server.close();
  }
});

test("C-4.13-66 NamespaceExists returns 404 for a namespaced request in a missing namespace", async () => {
  const server = await TestServer.start({
    controllers: [],
    disabledAdmissionPlugins: ["NamespaceLifecycle"],
    enabledAdmissionPlugins: ["NamespaceExists"],
  });
  try {
    const { status, body } = await server.admin.post("/api/v1/namespaces/nowhere/configmaps", configMap("m"));
    expect([status, body.message]).toEqual([404, 'namespaces "nowhere" not found']);
    await ok(server.admin.post("/api/v1/namespaces/default/configmaps", configMap("m")));
    await ok(server.admin.post("/api/v1/namespaces", namespace("nowhere")));
    await ok(server.admin.post("/api/v1/namespaces/nowhere/configmaps", configMap("m")));
  } finally {
    await server.close();
  }
});

describe("PodNodeSelector", () => {
  let server: TestServer;
  const key = "scheduler.alpha.platform.io/node-selector";
  beforeAll(async () => {
    const podNodeSelectorPluginConfig = {
      clusterDefaultNodeSelector: "tier=any",
      narrow: "env=test,disk=ssd",
    };
    server = await TestServer.start({
      enabledAdmissionPlugins: ["PodNodeSelector"],
      admissionConfigurationFile: configuration("PodNodeSelector", { podNodeSelectorPluginConfig }),
      controllers: [],
    });
    await ok(server.admin.post("/api/v1/namespaces", annotated("marked", { [key]: "env=prod" })));
    await ok(server.admin.post("/api/v1/namespaces", annotated("narrow", { [key]: "env=test" })));
    await ok(server.admin.post("/api/v1/namespaces", annotated("broken", { [key]: "env in (a,b)" })));
  });
  afterAll(() => server.close());
  const selectorOf = async (where: string, nodeSelector?: object) =>
    (await ok(server.admin.post(podsIn(where), { ...pod("", { nodeSelector }, { generateName: "p-" }) })))
      .body.spec.nodeSelector;

  test("C-4.13-90 applies the node selector of the namespace's annotation", async () => {
    expect(await selectorOf("marked")).toEqual({ env: "prod" });
    expect(await selectorOf("marked", { disk: "ssd" })).toEqual({ env: "prod", disk: "ssd" });
  });

  test("C-4.13-91 applies clusterDefaultNodeSelector when the namespace has no annotation", async () => {
    expect(await selectorOf("default")).toEqual({ tier: "any" });
  });

  test("an empty annotation leaves pods without a node selector, including the default one", async () => {
    await ok(server.admin.post("/api/v1/namespaces", annotated("empty", { [key]: "" })));
    expect(await selectorOf("empty")).toBeUndefined();
    expect(await selectorOf("empty", { tier: "one" })).toEqual({ tier: "one" });
  });

  test("C-4.13-93 a Pod whose nodeSelector conflicts with that of the namespace returns 403", async () => {
    await rejected(
      server.admin.post(podsIn("marked"), pod("torn", { nodeSelector: { env: "test" } })),
      "pod node label selector conflicts with its namespace node label selector",
    );
    await rejected(
      server.admin.post(podsIn("default"), pod("torn", { nodeSelector: { tier: "one" } })),
      "conflicts with its namespace node label selector",
    );
  });

  test("C-4.13-92 configuration entries restrict the node selectors of a namespace's pods", async () => {
    expect(await selectorOf("narrow", { disk: "ssd" })).toEqual({ env: "test", disk: "ssd" });
    await rejected(
      server.admin.post(podsIn("narrow"), pod("wide", { nodeSelector: { other: "x" } })),
      "conflict with its namespace whitelist",
    );
  });

  test("a pod is rejected when the annotation is invalid, and a corrected annotation applies to the next request", async () => {
    await rejected(server.admin.post(podsIn("broken"), pod("p")), "the node selector of namespace broken");
    await ok(
      server.admin.patch("/api/v1/namespaces/broken", { metadata: { annotations: { [key]: "a=b" } } }),
    );
    expect(await selectorOf("broken")).toEqual({ a: "b" });
  });

  test("the server does not start when a selector is invalid, and the error names its field", async () => {
    const file = configuration("PodNodeSelector", { podNodeSelectorPluginConfig: { here: "a in (" } });
    const starts = TestServer.start({
      enabledAdmissionPlugins: ["PodNodeSelector"],
      admissionConfigurationFile: file,
    });
    await expect(starts).rejects.toThrow(/PodNodeSelector: podNodeSelectorPluginConfig\.here: /);
  });
});

test("C-4.13-89 C-4.13-96 PodNodeSelector and PodTolerationRestriction are off by default", async () => {
  const server = await TestServer.start({ controllers: [] });
  try {
    const annotations = {
      "scheduler.alpha.platform.io/node-selector": "env=prod",
      "scheduler.alpha.platform.io/defaultTolerations": '[{"key":"a","operator":"Exists"}]',
    };
    await ok(server.admin.post("/api/v1/namespaces", annotated("marked", annotations)));
    const { body } = await ok(server.admin.post(podsIn("marked"), pod("p")));
    expect(body.spec.nodeSelector).toBeUndefined();
    expect(JSON.stringify(body.spec.tolerations)).not.toContain('"a"');
  } finally {
    await server.close();
  }
});

describe("PodTolerationRestriction", () => {
  let server: TestServer;
  const defaults = "scheduler.alpha.platform.io/defaultTolerations";
  const allowed = "scheduler.alpha.platform.io/tolerationsWhitelist";
  const spare = { key: "spare", operator: "Exists" };
  const dedicated = { key: "dedicated", operator: "Equal", value: "team", effect: "NoSchedule" };
  beforeAll(async () => {
    const file = configuration("PodTolerationRestriction", {
      apiVersion: "podtolerationrestriction.admission.platform.io/v1alpha1",
      kind: "Configuration",
      default: [spare],
    });
    server = await TestServer.start({
      enabledAdmissionPlugins: ["PodTolerationRestriction"],
      disabledAdmissionPlugins: ["DefaultTolerationSeconds"],
      admissionConfigurationFile: file,
      controllers: [],
    });
    const annotations = {
      [defaults]: JSON.stringify([dedicated]),
      [allowed]: JSON.stringify([
        { key: "dedicated", operator: "Exists" },
        { key: "other", operator: "Exists" },
      ]),
    };
    await ok(server.admin.post("/api/v1/namespaces", annotated("team", annotations)));
    await ok(server.admin.post("/api/v1/namespaces", annotated("broken", { [defaults]: "{" })));
    await ok(server.admin.post("/api/v1/namespaces", annotated("none", { [defaults]: "" })));
  });
  afterAll(() => server.close());
  const tolerationsOf = async (where: string, tolerations?: object[]) =>
    (await ok(server.admin.post(podsIn(where), pod("", { tolerations }, { generateName: "p-" })))).body.spec
      .tolerations;

  test("C-4.13-98 merges the namespace's tolerations into pods", async () => {
    expect(await tolerationsOf("team")).toEqual([dedicated]);
    const own = { key: "other", operator: "Exists" };
    expect(await tolerationsOf("team", [own])).toEqual([own, dedicated]);
    expect(await tolerationsOf("team", [dedicated])).toEqual([dedicated]);
  });

  test("C-4.13-97 a Pod whose tolerations conflict with those of the namespace returns 403", async () => {
    const other = { ...dedicated, value: "other" };
    await rejected(
      server.admin.post(podsIn("team"), pod("torn", { tolerations: [other] })),
      "namespace tolerations and pod tolerations conflict",
    );
  });

  test("C-4.13-99 a Pod with a toleration outside the allow-list returns 403 on create and update", async () => {
    const foreign = { key: "foreign", operator: "Exists" };
    const why = "conflict with its namespace whitelist";
    await rejected(server.admin.post(podsIn("team"), pod("out", { tolerations: [foreign] })), why);
    await ok(server.admin.post(podsIn("team"), pod("in")));
    const { body } = await ok(server.admin.get(`${podsIn("team")}/in`));
    const spec = { ...body.spec, tolerations: [...body.spec.tolerations, foreign] };
    await rejected(server.admin.put(`${podsIn("team")}/in`, { ...body, spec }), why);
  });

  describe("an allow-list", () => {
    const gpu = (more: object) => ({ key: "gpu", operator: "Exists", ...more });
    const seconds = (tolerationSeconds: number) => gpu({ effect: "NoExecute", tolerationSeconds });
    const tolerates = async (where: string, toleration: object): Promise<boolean> => {
      const answer = await server.admin.post(
        podsIn(where),
        pod("", { tolerations: [toleration] }, { generateName: "p-" }),
      );
      expect([201, 403]).toContain(answer.status);
      return answer.status === 201;
    };
    const allowing = (name: string, ...list: object[]) =>
      ok(
        server.admin.post(
          "/api/v1/namespaces",
          annotated(name, { [allowed]: JSON.stringify(list), [defaults]: "" }),
        ),
      );

    test("C-4.13-99 with an effect allows tolerations of this effect only", async () => {
      await allowing("effect", gpu({ effect: "NoSchedule" }));
      expect(await tolerates("effect", gpu({ effect: "NoSchedule" }))).toBe(true);
      expect(await tolerates("effect", gpu({ effect: "NoExecute" }))).toBe(false);
      // A toleration without an effect tolerates every effect.
      expect(await tolerates("effect", gpu({}))).toBe(false);
    });

    test("C-4.13-99 without an effect allows tolerations of every effect", async () => {
      await allowing("effects", gpu({}));
      for (const more of [{}, { effect: "NoSchedule" }, { effect: "NoExecute" }])
        expect(await tolerates("effects", gpu(more))).toBe(true);
    });

    test("C-4.13-99 with tolerationSeconds allows tolerations that are not longer", async () => {
      await allowing("seconds", seconds(60));
      expect(await tolerates("seconds", seconds(60))).toBe(true);
      expect(await tolerates("seconds", seconds(59))).toBe(true);
      expect(await tolerates("seconds", seconds(61))).toBe(false);
      // A toleration without tolerationSeconds has no end.
      expect(await tolerates("seconds", gpu({ effect: "NoExecute" }))).toBe(false);
    });
  });

  test("C-4.13-97 tolerations of the same taint that differ in their seconds conflict", async () => {
    const limited = { key: "gpu", operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 };
    await ok(
      server.admin.post(
        "/api/v1/namespaces",
        annotated("limited", { [defaults]: JSON.stringify([limited]) }),
      ),
    );
    await rejected(
      server.admin.post(
        podsIn("limited"),
        pod("p", { tolerations: [{ ...limited, tolerationSeconds: 61 }] }),
      ),
      "namespace tolerations and pod tolerations conflict",
    );
    const other = { ...limited, effect: "NoSchedule", tolerationSeconds: undefined };
    expect(await tolerationsOf("limited", [other])).toEqual([
      { key: "gpu", operator: "Exists", effect: "NoSchedule" },
      limited,
    ]);
  });

  test("C-4.13-100 cluster-level defaults apply when the namespace has none", async () => {
    await ok(server.admin.post("/api/v1/namespaces", annotated("unmarked", {})));
    expect(await tolerationsOf("unmarked")).toEqual([spare]);
    // An empty annotation means no default tolerations.
    expect(await tolerationsOf("none")).toBeUndefined();
  });

  test("a pod is rejected when an annotation is invalid, and the message names it", async () => {
    await rejected(
      server.admin.post(podsIn("broken"), pod("p")),
      `the annotation ${defaults} of namespace broken`,
    );
  });
});
