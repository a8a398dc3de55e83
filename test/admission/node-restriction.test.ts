import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServer } from "../../src/index.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { forbiddenLabels } from "../../src/admission/plugins/node-restriction/node-restriction.ts";
import { ok } from "../api/support.ts";
import { TestServer, type Answer, type Api } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const NODES = "/api/v1/nodes";
const PODS = "/api/v1/namespaces/default/pods";
const LEASES = "/apis/coordination.platform.io/v1/namespaces/platform-node-lease/leases";
const DRIVERS = "/apis/storage.platform.io/v1/csinodes";
const mirror = { "platform.io/config.mirror": "x" };

const folder = temporaryFolder();
let server: TestServer;
/** The agents of two nodes, and one that names no node. */
let one: Api;
let two: Api;
let nameless: Api;
let uid: string;

beforeAll(async () => {
  const tokens = path.join(folder.path, "tokens");
  writeFileSync(
    tokens,
    "one,system:node:n1,1,system:nodes\ntwo,system:node:n2,2,system:nodes\nnameless,system:node:,3,system:nodes\n",
  );
  // All requests are authorized, so that only the plugin restricts agents.
  server = await TestServer.start({
    authorizationModes: ["AlwaysAllow"],
    enabledAdmissionPlugins: ["NodeRestriction"],
    // ServiceAccount runs before NodeRestriction and would reject some of these Pods.
    disabledAdmissionPlugins: ["ServiceAccount"],
    tokenAuthFile: tokens,
  });
  [one, two, nameless] = [server.as("one"), server.as("two"), server.as("nameless")];
  ({ uid } = (await ok(one.post(NODES, { metadata: { name: "n1" } }))).body.metadata);
  await ok(two.post(NODES, { metadata: { name: "n2" } }));
  await server.admin.post("/api/v1/namespaces", { metadata: { name: "platform-node-lease" } });
  await ok(server.admin.post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "app" } }));
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

const pod = (name: string, nodeName: string, more: object = {}, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { nodeName, containers: [{ name: "c", image: "i" }], ...more },
});

const message = ({ status, body }: Answer) => `${status} ${body.message ?? ""}`;
async function refused(answer: Promise<Answer>, why: string): Promise<void> {
  const given = await answer;
  expect(message(given)).toContain(why);
  expect([given.status, given.body.reason]).toEqual([403, "Forbidden"]);
}

describe("Nodes", () => {
  test("C-4.13-74 an agent creates and changes its own Node only", async () => {
    await refused(
      one.post(NODES, { metadata: { name: "n3" } }),
      'node "n1" is not allowed to modify node "n3"',
    );
    const status = { status: { phase: "Running" } };
    await ok(one.patch(`${NODES}/n1/status`, status));
    await ok(one.patch(`${NODES}/n1`, { metadata: { annotations: { a: "b" } } }));
    await refused(one.patch(`${NODES}/n2/status`, status), 'node "n1" is not allowed to modify node "n2"');
    await refused(
      one.patch(`${NODES}/n2`, { metadata: { annotations: { a: "b" } } }),
      'node "n1" is not allowed to modify node "n2"',
    );
  });

  test("C-4.13-76 no agent deletes a Node, not even its own", async () => {
    await refused(one.delete(`${NODES}/n1`), 'node "n1" is not allowed to delete its node');
    await refused(one.delete(`${NODES}/n2`), 'node "n1" is not allowed to modify node "n2"');
    expect((await server.admin.get(`${NODES}/n1`)).status).toBe(200);
  });

  test("C-4.13-77 an agent registers with taints and can't change them later", async () => {
    const taints = [{ key: "a", effect: "NoSchedule" }];
    await ok(server.admin.delete(`${NODES}/n2`));
    const { body } = await ok(two.post(NODES, { metadata: { name: "n2" }, spec: { taints } }));
    const registered = body.spec.taints;
    expect(registered).toEqual(expect.arrayContaining(taints));
    for (const changed of [[], [...registered, { key: "b", effect: "NoExecute" }]]) {
      await refused(
        two.patch(`${NODES}/n2`, { spec: { taints: changed } }),
        "is not allowed to modify taints",
      );
    }
    await ok(two.patch(`${NODES}/n2`, { spec: { taints: registered } }));
    await ok(server.admin.patch(`${NODES}/n2`, { spec: { taints: [] } }));
  });

  test("an agent can't change the ownerReferences of its Node", async () => {
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "gone", uid: "gone" }];
    await refused(
      one.patch(`${NODES}/n1`, { metadata: { ownerReferences } }),
      "is not allowed to modify ownerReferences",
    );
  });

  test("C-4.13-78 C-4.13-81 an agent adds, changes and removes no restricted label, on the Node or through its status", async () => {
    const keys = [
      "node-restriction.platform.io/a",
      "team.node-restriction.platform.io/a",
      "platform.io/role",
    ];
    for (const key of keys) {
      await refused(
        one.patch(`${NODES}/n1`, { metadata: { labels: { [key]: "x" } } }),
        `is not allowed to modify labels: ${key}`,
      );
      await ok(server.admin.patch(`${NODES}/n1`, { metadata: { labels: { [key]: "x" } } }));
      for (const value of ["y", null]) {
        await refused(
          one.patch(`${NODES}/n1`, { metadata: { labels: { [key]: value } } }),
          `is not allowed to modify labels: ${key}`,
        );
      }
    }
    await server.admin.delete(`${NODES}/n2`);
    await refused(
      two.post(NODES, { metadata: { name: "n2", labels: { [keys[0]!]: "x" } } }),
      `is not allowed to set the following labels: ${keys[0]}`,
    );
    await ok(two.post(NODES, { metadata: { name: "n2" } }));
  });

  test("C-4.13-79 C-4.13-80 an agent changes the labels by which it describes its node, and those of others' domains", async () => {
    const allowed = [
      "platform.io/hostname",
      "platform.io/arch",
      "platform.io/os",
      "beta.platform.io/instance-type",
      "node.platform.io/instance-type",
      "failure-domain.beta.platform.io/region",
      "failure-domain.beta.platform.io/zone",
      "topology.platform.io/region",
      "topology.platform.io/zone",
      "kubelet.platform.io/anything",
      "sub.kubelet.platform.io/anything",
      "node.platform.io/anything",
      "example.com/mine",
      "plain",
    ];
    for (const value of ["x", "y", null]) {
      const labels = Object.fromEntries(allowed.map((key) => [key, value]));
      await ok(one.patch(`${NODES}/n1`, { metadata: { labels } }));
    }
  });

  test.each([
    [platform, "platform.io", "platform.io"],
    [kubernetes, "kubernetes.io", "k8s.io"],
  ])("labels are restricted by the domains of the vocabulary", (vocabulary, domain, suffix) => {
    const changed = (key: string) => forbiddenLabels({ [key]: "x" }, {}, vocabulary).length > 0;
    const names = [`${domain}/role`, `x.${domain}/role`, `x.${suffix}/role`, `node-restriction.${domain}/a`];
    expect(names.filter(changed)).toEqual(names);
    const free = [
      `beta.${domain}/os`,
      `beta.${domain}/arch`,
      `not${domain}/role`,
      `${domain}.example.com/role`,
    ];
    expect(free.filter(changed)).toEqual([]);
  });
});

describe("Pods", () => {
  const owner = (more: object = {}) => ({
    ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n1", uid, controller: true, ...more }],
    annotations: mirror,
  });

  test("C-4.13-75 an agent deletes, evicts and reports only what is bound to its node", async () => {
    for (const [name, node] of [
      ["mine", "n1"],
      ["theirs", "n2"],
      ["mine-2", "n1"],
    ] as const)
      await ok(server.admin.post(PODS, pod(name, node)));
    const status = { status: { message: "m" } };
    await ok(one.patch(`${PODS}/mine/status`, status));
    await refused(
      one.patch(`${PODS}/theirs/status`, status),
      'node "n1" can only update pod status for pods with spec.nodeName set to itself',
    );
    await refused(
      one.patch(`${PODS}/mine/status`, { metadata: { labels: { a: "b" } } }),
      'node "n1" cannot update labels through pod status',
    );
    await refused(
      one.delete(`${PODS}/theirs`),
      'node "n1" can only delete pods with spec.nodeName set to itself',
    );
    await refused(one.delete(PODS), 'node "n1" can only delete pods with spec.nodeName set to itself');
    const eviction = (name: string) => ({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name } });
    await refused(
      one.post(`${PODS}/theirs/eviction`, eviction("theirs")),
      'node "n1" can only evict pods with spec.nodeName set to itself',
    );
    expect((await one.post(`${PODS}/gone/eviction`, eviction("gone"))).status).toBe(404);
    await ok(one.post(`${PODS}/mine-2/eviction`, eviction("mine-2")));
    await ok(one.ask("DELETE", `${PODS}/mine`, { body: { gracePeriodSeconds: 0 } }));
    expect((await server.admin.get(`${PODS}/theirs`)).body.metadata.deletionTimestamp).toBeUndefined();
  });

  test("C-4.13-75 an agent can't change a pod in any other way", async () => {
    await ok(server.admin.post(PODS, pod("bound", "n1")));
    await refused(
      one.patch(`${PODS}/bound`, { metadata: { labels: { a: "b" } } }),
      'node "n1" can only create and delete mirror pods',
    );
    await refused(
      one.patch(`${PODS}/bound/ephemeralcontainers`, {
        spec: { ephemeralContainers: [{ name: "e", image: "i" }] },
      }),
      'unexpected pod subresource "ephemeralcontainers"',
    );
    const binding = { metadata: { name: "bound" }, target: { kind: "Node", name: "n1" } };
    await ok(
      server.admin.post(PODS, { ...pod("free", "n1"), spec: { containers: [{ name: "c", image: "i" }] } }),
    );
    await refused(one.post(`${PODS}/free/binding`, { ...binding, metadata: { name: "free" } }), "binding");
  });

  test("C-4.13-75 an agent creates mirror pods of its own Node, on its node", async () => {
    await ok(one.post(PODS, pod("mirror", "n1", {}, owner())));
    const cases: [string, object, string][] = [
      [
        "without the annotation",
        pod("p", "n1", {}, { ...owner(), annotations: {} }),
        "can only create mirror pods",
      ],
      ["on another node", pod("p", "n2", {}, owner()), "with spec.nodeName set to itself"],
      ["without owner", pod("p", "n1", {}, { annotations: mirror }), "with an owner reference set to itself"],
      ["of another Node", pod("p", "n1", {}, owner({ name: "n2" })), "with an owner reference set to itself"],
      [
        "of another kind",
        pod("p", "n1", {}, owner({ kind: "ConfigMap" })),
        "with an owner reference set to itself",
      ],
      [
        "without controller",
        pod("p", "n1", {}, owner({ controller: false })),
        "with a controller owner reference",
      ],
      [
        "that blocks",
        pod("p", "n1", {}, owner({ blockOwnerDeletion: true })),
        "must not set blockOwnerDeletion",
      ],
      ["of a Node that is gone", pod("p", "n1", {}, owner({ uid: "old" })), "node n1 UID mismatch"],
      [
        "of two owners",
        pod(
          "p",
          "n1",
          {},
          {
            ...owner(),
            ownerReferences: [
              ...owner().ownerReferences,
              { apiVersion: "v1", kind: "ConfigMap", name: "c", uid: "u" },
            ],
          },
        ),
        "with a single owner reference set to itself",
      ],
    ];
    for (const [, body, why] of cases) await refused(one.post(PODS, body), why);
  });

  test("a mirror pod can't reference objects that the agent could then read", async () => {
    const volume = (source: object) => ({ volumes: [{ name: "v", ...source }] });
    const container = (more: object) => ({ containers: [{ name: "c", image: "i", ...more }] });
    const cases: [object, string][] = [
      [volume({ secret: { secretName: "s" } }), "secrets"],
      [volume({ projected: { sources: [{ secret: { name: "s" } }] } }), "secrets"],
      [{ imagePullSecrets: [{ name: "s" }] }, "secrets"],
      [container({ envFrom: [{ secretRef: { name: "s" } }] }), "secrets"],
      [
        container({ env: [{ name: "E", valueFrom: { configMapKeyRef: { name: "m", key: "k" } } }] }),
        "configmaps",
      ],
      [volume({ configMap: { name: "m" } }), "configmaps"],
      [volume({ persistentVolumeClaim: { claimName: "c" } }), "persistentvolumeclaims"],
      [{ serviceAccountName: "app" }, "a service account"],
    ];
    for (const [more, what] of cases) {
      await refused(
        one.post(PODS, pod("p", "n1", more, owner())),
        `can not create pods that reference ${what}`,
      );
    }
  });
});

describe("other objects of an agent", () => {
  test("an agent creates tokens only when they are bound to a pod on its node by uid", async () => {
    for (const [name, node] of [
      ["token-mine", "n1"],
      ["token-theirs", "n2"],
    ] as const)
      await ok(server.admin.post(PODS, pod(name, node, { serviceAccountName: "app" })));
    const uidOf = async (name: string) =>
      (await ok(server.admin.get(`${PODS}/${name}`))).body.metadata.uid as string;
    const ask = (boundObjectRef?: object) =>
      one.post("/api/v1/namespaces/default/serviceaccounts/app/token", {
        spec: { audiences: [], boundObjectRef },
      });
    const bound = { apiVersion: "v1", kind: "Pod", name: "token-mine" };
    await ok(ask({ ...bound, uid: await uidOf("token-mine") }));
    await refused(ask(), "node requested token not bound to a pod");
    await refused(ask({ ...bound, kind: "Secret", name: "s" }), "node requested token not bound to a pod");
    await refused(ask(bound), "node requested token with a pod binding without a uid");
    await refused(ask({ ...bound, uid: "other" }), "does not match the UID in record");
    expect((await ask({ ...bound, name: "gone", uid: "u" })).status).toBe(404);
    await refused(
      ask({ ...bound, name: "token-theirs", uid: await uidOf("token-theirs") }),
      "node requested token bound to a pod scheduled on a different node",
    );
  });

  test("an agent writes only its own Lease and CSINode with any verb", async () => {
    const spec = { drivers: [] };
    await ok(one.post(LEASES, { metadata: { name: "n1" } }));
    await ok(one.post(DRIVERS, { metadata: { name: "n1" }, spec }));
    await ok(two.post(LEASES, { metadata: { name: "n2" } }));
    const lease = "can only access node lease with the same name as the requesting node";
    await refused(one.post(LEASES, { metadata: { name: "n3" } }), lease);
    await refused(one.patch(`${LEASES}/n2`, { metadata: { labels: { a: "b" } } }), lease);
    await refused(one.delete(`${LEASES}/n2`), lease);
    await refused(
      one.post(LEASES.replace("platform-node-lease", "default"), { metadata: { name: "n1" } }),
      'can only access leases in the "platform-node-lease" system namespace',
    );
    const drivers = "can only access CSINode with the same name as the requesting node";
    await refused(one.post(DRIVERS, { metadata: { name: "n3" }, spec }), drivers);
    await refused(two.delete(`${DRIVERS}/n1`), drivers);
    await ok(one.delete(`${DRIVERS}/n1`));
    await ok(one.delete(`${LEASES}/n1`));
  });

  test("an agent changes only the capacity and conditions of a claim", async () => {
    const claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    await ok(server.admin.post(claims, { metadata: { name: "c" }, spec }));
    const conditions = [{ type: "FileSystemResizePending", status: "True" }];
    await ok(one.patch(`${claims}/c/status`, { status: { capacity: { storage: "1Gi" }, conditions } }));
    const why = "is not allowed to update fields other than status.capacity and status.conditions";
    await refused(one.patch(`${claims}/c/status`, { status: { phase: "Lost" } }), why);
    await refused(
      one.patch(`${claims}/c`, { metadata: { labels: { a: "b" } } }),
      "may only update PVC status",
    );
    await refused(one.delete(`${claims}/c`), "may only update PVC status");
  });

  test("an agent without a node name writes nothing, and other users are not restricted", async () => {
    await refused(
      nameless.post(NODES, { metadata: { name: "n9" } }),
      'could not determine node from user "system:node:"',
    );
    await ok(server.admin.post(NODES, { metadata: { name: "n9" } }));
    await ok(server.admin.delete(`${NODES}/n9`));
  });
});

describe("NodeRestriction disabled", () => {
  test("C-4.13-73 it is off by default", async () => {
    const open = await TestServer.start({
      authorizationModes: ["AlwaysAllow"],
      tokenAuthFile: path.join(folder.path, "tokens"),
    });
    try {
      await ok(open.as("one").post(NODES, { metadata: { name: "n3" } }));
    } finally {
      await open.close();
    }
  });

  test.each([
    {},
    { enabledAdmissionPlugins: ["NodeRestriction"], disabledAdmissionPlugins: ["NodeRestriction"] },
  ])("a server in mode Node doesn't start: %j", async (options) => {
    await expect(createServer({ authorizationModes: ["Node", "RBAC"], ...options })).rejects.toThrow(
      "authorizationModes Node needs enabledAdmissionPlugins=NodeRestriction",
    );
  });
});
