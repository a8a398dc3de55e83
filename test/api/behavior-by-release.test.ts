import { request } from "node:https";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { clusterRole, grant, namespace, ok } from "./support.ts";

const pods = "/api/v1/namespaces/default/pods";
const pod = (name: string, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: { containers: [{ name: "c", image: "example.com/image:1" }], ...spec },
});

/** Starts two servers, of the releases before and after a change of behavior. */
function useReleases(before: "1.26" | "1.33" | "1.34" | "1.35" | "1.36", after: "1.37" = "1.37") {
  const servers: { before?: TestServer; after?: TestServer } = {};
  beforeAll(async () => {
    const users = [{ name: "dev" }];
    servers.before = await TestServer.start({ release: before, users });
    servers.after = await TestServer.start({ release: after, users });
  });
  afterAll(async () => {
    await servers.before?.close();
    await servers.after?.close();
  });
  return {
    /** Runs a function on both servers; returns both results. */
    both: async <T>(run: (server: TestServer) => Promise<T>): Promise<readonly [before: T, after: T]> => [
      await run(servers.before!),
      await run(servers.after!),
    ],
  };
}

describe("behavior of later releases", () => {
  const { both } = useReleases("1.26");

  test("a service's name may begin with a digit, also in an Ingress (1.36)", async () => {
    const service = (name: string) => ({ metadata: { name }, spec: { ports: [{ port: 80 }] } });
    const ingress = {
      metadata: { name: "i" },
      spec: { defaultBackend: { service: { name: "1a", port: { number: 80 } } } },
    };
    const statuses = await both(async ({ admin }) => [
      (await admin.post("/api/v1/namespaces/default/services?dryRun=All", service("123-abc"))).status,
      (await admin.post("/api/v1/namespaces/default/services?dryRun=All", service("a_b"))).status,
      (await admin.post("/apis/networking.platform.io/v1/namespaces/default/ingresses?dryRun=All", ingress))
        .status,
    ]);
    expect(statuses).toEqual([
      [422, 422, 422],
      [201, 422, 201],
    ]);
  });

  test("search domains may be a dot or have underscores (1.33)", async () => {
    const searching = (search: string) =>
      pod("p", { dnsPolicy: "None", dnsConfig: { nameservers: ["1.1.1.1"], searches: [search] } });
    const statuses = await both(({ admin }) =>
      Promise.all(
        [".", "_sip._tcp.abc_d.example.com", "example.com.", "a b", "..", "-a"].map(
          async (search) => (await admin.post(`${pods}?dryRun=All`, searching(search))).status,
        ),
      ),
    );
    expect(statuses).toEqual([
      [422, 422, 201, 422, 422, 422],
      [201, 201, 201, 422, 422, 422],
    ]);
  });

  test("a token request for the uid of an earlier service account is a conflict (1.34)", async () => {
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    const statuses = await both(async ({ admin }) => {
      const { body } = await ok(admin.post(accounts, { metadata: { name: "a" } }));
      const ask = (uid: string) => admin.post(`${accounts}/a/token`, { metadata: { uid }, spec: {} });
      const answers = [await ask(body.metadata.uid), await ask("00000000-0000-0000-0000-000000000000")];
      answers.push(await admin.post(`${accounts}/a/token`, { spec: {} }));
      return answers.map(({ status }) => status);
    });
    expect(statuses).toEqual([
      [201, 201, 201],
      [201, 409, 201],
    ]);
  });

  test("names that end with .static are reserved for files (1.37)", async () => {
    const group = "/apis/admissionregistration.platform.io/v1";
    const answers = await both(({ admin }) =>
      Promise.all(
        ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"].flatMap((type) =>
          ["x.static.platform.io", "x.platform.io"].map(
            async (name) => (await admin.post(`${group}/${type}?dryRun=All`, { metadata: { name } })).status,
          ),
        ),
      ),
    );
    expect(answers).toEqual([
      [201, 201, 201, 201],
      [422, 201, 422, 201],
    ]);
  });

  test("a bound pod gets zone and region of its node, and loses its nomination (1.35)", async () => {
    const shown = await both(async ({ admin }) => {
      const labels = { "topology.platform.io/zone": "z", "topology.platform.io/region": "r", other: "x" };
      await ok(admin.post("/api/v1/nodes", { metadata: { name: "n", labels } }));
      await ok(admin.post(pods, { ...pod("bound"), metadata: { name: "bound", labels: { own: "y" } } }));
      await ok(admin.patch(`${pods}/bound/status`, { status: { nominatedNodeName: "other" } }, "merge"));
      await ok(admin.post(`${pods}/bound/binding`, { metadata: { name: "bound" }, target: { name: "n" } }));
      const { body } = await ok(admin.get(`${pods}/bound`));
      return [body.metadata.labels, body.status.nominatedNodeName, body.spec.nodeName];
    });
    expect(shown).toEqual([
      [{ own: "y" }, "other", "n"],
      [{ own: "y", "topology.platform.io/zone": "z", "topology.platform.io/region": "r" }, undefined, "n"],
    ]);
  });

  test("the selectors of a pod with scheduling gates may become stricter (1.27)", async () => {
    const requiring = (...values: string[]) => ({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: values.map((value) => ({ key: "k", operator: "In", values: [value] })) },
            ],
          },
        },
      },
    });
    const patches: readonly (readonly [name: string, spec: object])[] = [
      ["gated", { nodeSelector: { a: "b" } }],
      ["gated", { nodeSelector: { a: "c" } }],
      ["gated", { nodeSelector: { c: "d" } }],
      ["gated", { nodeSelector: { a: null } }],
      ["gated", requiring("x")],
      ["gated", requiring("x", "y")],
      ["gated", requiring("y")],
      ["gated", { affinity: null }],
      ["free", { nodeSelector: { a: "b" } }],
      ["free", requiring("x")],
    ];
    const statuses = await both(async ({ admin }) => {
      await ok(admin.post(pods, pod("gated", { schedulingGates: [{ name: "example.com/g" }] })));
      await ok(admin.post(pods, pod("free")));
      const found: number[] = [];
      for (const [name, spec] of patches)
        found.push((await admin.patch(`${pods}/${name}`, { spec }, "merge")).status);
      return found;
    });
    // There the pod has no gates: the field is dropped. Removing what is absent changes nothing.
    expect(statuses[0]).toEqual([422, 422, 422, 200, 422, 422, 422, 200, 422, 422]);
    expect(statuses[1]).toEqual([200, 422, 200, 422, 200, 200, 422, 422, 422, 422]);
  });

  test("a stream to a pod over a WebSocket needs the right to create it (1.35)", async () => {
    const paths = ["exec?command=ls&stdout=true", "attach?stdout=true", "portforward?ports=80"];
    const rules = (verbs: readonly string[]) => [
      { verbs, apiGroups: [""], resources: ["pods/exec", "pods/attach", "pods/portforward"] },
    ];
    const statuses = await both(async (server) => {
      await ok(server.admin.post("/api/v1/namespaces", namespace("streams")));
      const path = "/api/v1/namespaces/streams/pods";
      await ok(server.admin.post(path, pod("p")));
      await grant(server.admin, "dev", rules(["get"]));
      const readOnly = await Promise.all(paths.map((sub) => upgradeStatus(server, `${path}/p/${sub}`)));
      const roles = "/apis/rbac.authorization.platform.io/v1/clusterroles";
      await ok(
        server.admin.put(`${roles}/grant-dev`, { ...clusterRole("grant-dev", rules(["get", "create"])) }),
      );
      const creating = await Promise.all(paths.map((sub) => upgradeStatus(server, `${path}/p/${sub}`)));
      return [...readOnly, ...creating].map((status) => status === 403);
    });
    expect(statuses).toEqual([
      [false, false, false, false, false, false],
      [true, true, true, false, false, false],
    ]);
  });
});

/** Asks for a WebSocket as the user `dev`; returns the status of the answer. */
function upgradeStatus(server: TestServer, path: string): Promise<number> {
  const headers = {
    authorization: "Bearer dev",
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-protocol": "v4.channel.platform.io",
  };
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, server.server.url), { rejectUnauthorized: false, headers });
    asked.on("upgrade", (_response, socket) => {
      socket.destroy();
      resolve(101);
    });
    asked.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on("error", reject);
    asked.end();
  });
}
