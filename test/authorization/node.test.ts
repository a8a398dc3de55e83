import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Decision } from "../../src/authorization/authorizer.ts";
import { NodeAuthorizer } from "../../src/authorization/node/node-authorizer.ts";
import { NodeGraph } from "../../src/authorization/node/node-graph.ts";
import { attachedNode, podReferences, volumeReferences } from "../../src/authorization/node/references.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { TestServer, type Api } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const mirror = "platform.io/config.mirror";
const agent = (node: string) => ({
  name: `system:node:${node}`,
  uid: "",
  groups: ["system:nodes", "system:authenticated"],
  extra: {},
});

describe("objects that a Pod refers to", () => {
  test.each<[string, object, string[]]>([
    ["its service account", { serviceAccountName: "runner" }, ["serviceaccount ns/runner"]],
    ["its imagePullSecrets", { imagePullSecrets: [{ name: "a" }] }, ["secret ns/a"]],
    [
      "environment sources of containers, init containers and ephemeral containers",
      {
        initContainers: [{ env: [{ valueFrom: { secretKeyRef: { name: "a" } } }] }],
        containers: [{ envFrom: [{ secretRef: { name: "b" } }, { configMapRef: { name: "c" } }] }],
        ephemeralContainers: [{ env: [{ valueFrom: { configMapKeyRef: { name: "d" } } }, { value: "x" }] }],
      },
      ["secret ns/a", "secret ns/b", "configmap ns/c", "configmap ns/d"],
    ],
    [
      "secret, config map and projected volumes",
      {
        volumes: [
          { secret: { secretName: "a" } },
          { configMap: { name: "b" } },
          { projected: { sources: [{ secret: { name: "c" } }, { configMap: { name: "d" } }] } },
        ],
      },
      ["secret ns/a", "secret ns/c", "configmap ns/b", "configmap ns/d"],
    ],
    [
      "secrets of volume plugins",
      {
        volumes: [
          { azureFile: { secretName: "a" } },
          { csi: { nodePublishSecretRef: { name: "b" } } },
          { iscsi: { secretRef: { name: "c" } } },
        ],
      },
      ["secret ns/a", "secret ns/b", "secret ns/c"],
    ],
    [
      "persistent volume claims, also those of ephemeral volumes",
      { volumes: [{ persistentVolumeClaim: { claimName: "a" } }, { name: "scratch", ephemeral: {} }] },
      ["claim ns/a", "claim ns/web-scratch"],
    ],
  ])("%s", (_what, spec, objects) => {
    const pod = { metadata: { namespace: "ns", name: "web" }, spec: { nodeName: "n1", ...spec } };
    expect(podReferences(pod, mirror)).toEqual({ node: "n1", objects });
    const own = { ...pod, metadata: { ...pod.metadata, annotations: { [mirror]: "" } } };
    expect(podReferences(own, mirror)).toEqual({ node: "n1", objects: [] });
    expect(podReferences({ ...pod, spec }, mirror)).toBeUndefined();
  });
});

test("volumeReferences returns the claim of a volume and the secrets that nodes need", () => {
  const spec = {
    claimRef: { namespace: "ns", name: "data" },
    csi: {
      nodeStageSecretRef: { namespace: "drivers", name: "a" },
      controllerPublishSecretRef: { namespace: "drivers", name: "b" },
    },
    azureFile: { secretName: "c" },
  };
  expect(volumeReferences({ spec })).toEqual({
    claim: "claim ns/data",
    secrets: ["secret ns/c", "secret drivers/a"],
  });
  expect(volumeReferences({ spec: { ...spec, claimRef: undefined } })).toBeUndefined();
});

describe("NodeAuthorizer", () => {
  const graph = new NodeGraph();
  const put = (name: string, spec: object) =>
    graph.setPod(name, podReferences({ metadata: { namespace: "ns", name }, spec }, mirror));
  put("web", {
    nodeName: "n1",
    serviceAccountName: "runner",
    volumes: [{ secret: { secretName: "s" } }, { persistentVolumeClaim: { claimName: "data" } }],
  });
  const volume = {
    spec: {
      claimRef: { namespace: "ns", name: "data" },
      csi: { nodeStageSecretRef: { namespace: "drivers", name: "key" } },
    },
  };
  graph.setVolume("pv1", volumeReferences(volume));
  graph.setAttachment("va1", attachedNode({ spec: { nodeName: "n1" } }));
  const authorizer = new NodeAuthorizer({ graph, sync: () => undefined }, platform);

  const ask = (node: string, verb: string, what: string): Decision => {
    const [place, name = ""] = what.split(" ");
    const [group, namespace, type] = place!.split("|") as [string, string, string];
    const [resource, subresource = ""] = type.split("/") as [string, string?];
    const user = agent(node);
    const asked = {
      kind: "resource",
      user,
      verb,
      group,
      version: "v1",
      resource,
      subresource,
      namespace,
      name,
    } as const;
    return authorizer.authorize(asked) as Decision;
  };
  const unrelated = "no relationship found between node 'n2' and this object";
  const leases = "coordination.platform.io|platform-node-lease|leases";
  const csiNodes = "storage.platform.io||csinodes";

  test.each<[string, string, string, true | string]>([
    ["n1", "get", "|ns|secrets s", true],
    ["n1", "list", "|ns|secrets s", true],
    ["n1", "watch", "|ns|secrets s", true],
    ["n2", "get", "|ns|secrets s", unrelated],
    ["n1", "list", "|ns|secrets", "No Object name found"],
    ["n1", "update", "|ns|secrets s", "can only read resources of this type"],
    ["n1", "list", "||secrets s", "can only read namespaced object of this type"],
    ["n1", "get", "|ns|configmaps other", "no relationship found between node 'n1' and this object"],
    ["n1", "get", "|ns|persistentvolumeclaims data", true],
    ["n1", "list", "|ns|persistentvolumeclaims data", "can only get individual resources of this type"],
    ["n1", "patch", "|ns|persistentvolumeclaims/status data", true],
    ["n1", "delete", "|ns|persistentvolumeclaims/status data", "can only get/update/patch this type"],
    ["n2", "patch", "|ns|persistentvolumeclaims/status data", unrelated],
    ["n1", "get", "||persistentvolumes pv1", true],
    ["n1", "get", "||persistentvolumes/status pv1", "cannot get subresource"],
    ["n2", "get", "||persistentvolumes pv1", unrelated],
    ["n1", "get", "|drivers|secrets key", true],
    ["n2", "get", "|drivers|secrets key", unrelated],
    ["n1", "get", "storage.platform.io||volumeattachments va1", true],
    ["n2", "get", "storage.platform.io||volumeattachments va1", unrelated],
    ["n1", "create", "|ns|serviceaccounts/token runner", true],
    ["n2", "create", "|ns|serviceaccounts/token runner", unrelated],
    ["n1", "get", "|ns|serviceaccounts runner", "can only create tokens for individual service accounts"],
    ["n1", "create", "|ns|serviceaccounts runner", "can only create token subresource of serviceaccount"],
    ["n1", "update", `${leases} n1`, true],
    ["n1", "create", leases, true],
    ["n1", "update", `${leases} n2`, "can only access node lease with the same name as the requesting node"],
    ["n1", "list", leases, "can only get, create, update, patch, or delete a node lease"],
    [
      "n1",
      "get",
      "coordination.platform.io|ns|leases n1",
      'can only access leases in the "platform-node-lease" system namespace',
    ],
    ["n1", "patch", `${csiNodes} n1`, true],
    ["n1", "patch", `${csiNodes} n2`, "can only access CSINode with the same name as the requesting node"],
    ["n1", "watch", csiNodes, "can only get, create, update, patch, or delete a CSINode"],
    ["n1", "list", "||pods", true],
    ["n1", "patch", "||nodes/status n1", true],
    ["n1", "create", "|ns|events", true],
    ["n1", "delete", "||nodes n1", ""],
    ["n1", "create", "apps|ns|deployments", ""],
    ["", "list", "||pods", 'unknown node for user "system:node:"'],
  ])("decides for node %s: %s %s", (node, verb, what, expected) => {
    expect(ask(node, verb, what)).toEqual(
      expected === true
        ? { verdict: "allow", reason: "", evaluationError: "" }
        : { verdict: "noOpinion", reason: expected, evaluationError: "" },
    );
  });

  test("withdraws access when the Pod, the claim of the volume or the attachment is removed", () => {
    graph.setVolume("pv1", volumeReferences({ spec: {} }));
    expect(ask("n1", "get", "||persistentvolumes pv1").verdict).toBe("noOpinion");
    expect(ask("n1", "get", "|drivers|secrets key").verdict).toBe("noOpinion");
    put("second", { nodeName: "n1", volumes: [{ secret: { secretName: "s" } }] });
    graph.setPod("web", undefined);
    expect(ask("n1", "get", "|ns|secrets s").verdict).toBe("allow");
    graph.setPod("second", undefined);
    expect(ask("n1", "get", "|ns|secrets s").verdict).toBe("noOpinion");
    graph.setAttachment("va1", undefined);
    expect(ask("n1", "get", "storage.platform.io||volumeattachments va1").verdict).toBe("noOpinion");
  });

  test("has no opinion on users without the group system:nodes or with another name", () => {
    const attributes = { kind: "nonResource", verb: "get", path: "/" } as const;
    for (const user of [
      { ...agent("n1"), groups: [] },
      { ...agent("n1"), name: "n1" },
    ]) {
      expect(authorizer.authorize({ ...attributes, user })).toMatchObject({
        verdict: "noOpinion",
        reason: "",
      });
      expect(authorizer.rulesFor(user)).toMatchObject({ incomplete: false });
    }
  });

  test("returns incomplete rules with an evaluation error", () => {
    expect(authorizer.rulesFor(agent("n1"))).toMatchObject({
      incomplete: true,
      evaluationError: "node authorizer does not support user rule resolution",
    });
  });
});

describe("server with authorization mode Node", () => {
  const folder = temporaryFolder();
  let server: TestServer;
  let one: Api;
  let two: Api;
  beforeAll(async () => {
    const tokens = path.join(folder.path, "tokens");
    writeFileSync(tokens, "one,system:node:n1,1,system:nodes\ntwo,system:node:n2,2,system:nodes\n");
    server = await TestServer.start({
      authorizationModes: ["Node", "RBAC"],
      enabledAdmissionPlugins: ["NodeRestriction"],
      tokenAuthFile: tokens,
    });
    one = server.as("one");
    two = server.as("two");
    await server.admin.post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
  });
  afterAll(async () => {
    await server.close();
    folder.remove();
  });

  const secret = "/api/v1/namespaces/default/secrets/key";
  const status = async (api: Api, path: string) => (await api.get(path)).status;

  test("an agent can read a Secret while a Pod on its node refers to it", async () => {
    await server.admin.post("/api/v1/namespaces/default/secrets", { metadata: { name: "key" } });
    expect(await status(one, secret)).toBe(403);
    const pod = {
      metadata: { name: "web" },
      spec: {
        nodeName: "n1",
        containers: [{ name: "c", image: "i" }],
        volumes: [{ name: "v", secret: { secretName: "key" } }],
      },
    };
    const made = await server.admin.post("/api/v1/namespaces/default/pods", pod);
    expect(made.status).toBe(201);
    expect(await status(one, secret)).toBe(200);
    expect(await status(one, `${secret.slice(0, -4)}?fieldSelector=metadata.name%3Dkey`)).toBe(200);
    expect(await status(one, secret.slice(0, -4))).toBe(403);
    expect(await status(two, secret)).toBe(403);
    await server.admin.ask("DELETE", "/api/v1/namespaces/default/pods/web", {
      body: { gracePeriodSeconds: 0 },
    });
    expect(await status(one, secret)).toBe(403);
  });

  test("C-4.11-03 the readiness check node-graph-sync succeeds", async () => {
    const { text } = await server.admin.get("/readyz?verbose");
    expect(text).toContain("[+]node-graph-sync ok\n");
    expect((await server.admin.get("/readyz/node-graph-sync")).text).toBe("ok");
  });

  test("an agent can write and read only its own Lease in the node lease namespace", async () => {
    const path = "/apis/coordination.platform.io/v1/namespaces/platform-node-lease/leases";
    expect((await one.post(path, { metadata: { name: "n1" } })).status).toBe(201);
    expect(await status(one, `${path}/n1`)).toBe(200);
    expect(await status(two, `${path}/n1`)).toBe(403);
  });

  test("a rules review of an agent is incomplete", async () => {
    const path = "/apis/authorization.platform.io/v1/selfsubjectrulesreviews";
    const { body } = await one.post(path, { spec: { namespace: "default" } });
    expect(body.status).toMatchObject({
      incomplete: true,
      evaluationError: "node authorizer does not support user rule resolution",
    });
  });
});
