import { afterEach, describe, expect, test } from "vitest";
import type { CreateServerOptions } from "../../src/index.ts";
import { ok } from "../api/support.ts";
import { AuditedServer, everythingAt } from "../audit/support.ts";
import { TestServer } from "../support/api.ts";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const accounts = "/api/v1/namespaces/default/serviceaccounts";
const pods = "/api/v1/namespaces/default/pods";
const reviews = "/apis/authentication.platform.io/v1/tokenreviews";

interface Issued {
  readonly token: string;
  readonly claims: { readonly jti?: string; readonly "platform.io": Record<string, unknown> };
}

async function start(options: CreateServerOptions) {
  const server = await TestServer.start({ enabledControllers: [], ...options });
  servers.push(server);
  const { admin } = server;
  await ok(admin.post(accounts, { metadata: { name: "app" } }));
  const node = (await ok(admin.post("/api/v1/nodes", { metadata: { name: "n1" } }))).body;
  const addPod = async (name: string, nodeName?: string) => {
    const spec = { serviceAccountName: "app", nodeName, containers: [{ name: "c", image: "i" }] };
    return (await ok(admin.post(pods, { metadata: { name }, spec }))).body;
  };
  const request = (kind: string, name: string) =>
    admin.post(`${accounts}/app/token`, { spec: { boundObjectRef: { apiVersion: "v1", kind, name } } });
  const issue = async (kind: string, name: string): Promise<Issued> => {
    const { token } = (await ok(request(kind, name))).body["status"] as { token: string };
    const payload = Buffer.from(token.split(".")[1]!, "base64url").toString();
    return { token, claims: JSON.parse(payload) as Issued["claims"] };
  };
  const review = async (token: string) =>
    (await ok(admin.post(reviews, { spec: { token } }))).body["status"] as {
      authenticated?: boolean;
      user?: { extra?: Record<string, string[]> };
    };
  return { admin, node: node.metadata as { uid: string }, addPod, request, issue, review };
}

const prefix = "authentication.platform.io/";

describe("tokens that are bound to a pod", () => {
  test("have identifier and node from release 1.30 on; the user shows them", async () => {
    const { addPod, issue, review, node } = await start({ release: "1.30" });
    const pod = (await addPod("p", "n1")).metadata as { uid: string };
    const { token, claims } = await issue("Pod", "p");
    expect(claims.jti).toMatch(/^[0-9a-f-]{36}$/);
    expect(claims["platform.io"]["node"]).toEqual({ name: "n1", uid: node.uid });
    expect((await review(token)).user?.extra).toEqual({
      [`${prefix}credential-id`]: [`JTI=${claims.jti}`],
      [`${prefix}node-name`]: ["n1"],
      [`${prefix}node-uid`]: [node.uid],
      [`${prefix}pod-name`]: ["p"],
      [`${prefix}pod-uid`]: [pod.uid],
    });
  });

  test("name a node without an object, and no node before the pod has one", async () => {
    const { addPod, issue, review } = await start({ release: "1.37" });
    await addPod("far", "gone");
    await addPod("waiting");
    const far = await issue("Pod", "far");
    expect(far.claims["platform.io"]["node"]).toEqual({ name: "gone" });
    const extra = (await review(far.token)).user?.extra;
    expect(extra).toMatchObject({ [`${prefix}node-name`]: ["gone"] });
    expect(extra).not.toHaveProperty([`${prefix}node-uid`]);
    expect((await issue("Pod", "waiting")).claims["platform.io"]).not.toHaveProperty("node");
  });

  test("have neither in the reference release, nor with the gates off", async () => {
    for (const options of [
      { release: "1.26" },
      { release: "1.30", featureGates: "ServiceAccountTokenJTI=false,ServiceAccountTokenPodNodeInfo=false" },
    ] as const) {
      const { addPod, issue, review } = await start(options);
      await addPod("p", "n1");
      const { token, claims } = await issue("Pod", "p");
      expect(claims).not.toHaveProperty("jti");
      expect(claims["platform.io"]).not.toHaveProperty("node");
      expect(Object.keys((await review(token)).user?.extra ?? {})).toEqual([
        `${prefix}pod-name`,
        `${prefix}pod-uid`,
      ]);
    }
  });
});

test.each([
  ["1.26", undefined],
  ["1.30", "JTI="],
] as const)(
  "release %s: the audit event of a token request has the identifier %s",
  async (release, prefix) => {
    const server = await AuditedServer.start(everythingAt("Metadata"), { release });
    try {
      const answer = await ok(server.api.admin.post(`${accounts}/default/token`, { spec: {} }));
      const { token } = answer.body["status"] as { token: string };
      const { jti = "" } = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()) as {
        jti?: string;
      };
      const complete = (await server.events(answer.headers["audit-id"])).at(-1);
      expect(complete.annotations["authentication.platform.io/issued-credential-id"]).toBe(
        prefix && `${prefix}${jti}`,
      );
    } finally {
      await server.close();
    }
  },
);

describe("tokens that are bound to a node", () => {
  test("are valid until the Node is deleted or recreated, from release 1.31 on", async () => {
    const { admin, issue, review, node } = await start({ release: "1.31" });
    const { token, claims } = await issue("Node", "n1");
    expect(claims["platform.io"]["node"]).toEqual({ name: "n1", uid: node.uid });
    expect((await review(token)).user?.extra).toMatchObject({ [`${prefix}node-uid`]: [node.uid] });
    await ok(admin.delete("/api/v1/nodes/n1"));
    expect((await review(token)).authenticated).not.toBe(true);
    await ok(admin.post("/api/v1/nodes", { metadata: { name: "n1" } }));
    expect((await review(token)).authenticated).not.toBe(true);
  });

  test("aren't issued in earlier releases, nor for a missing Node", async () => {
    const earlier = await start({ release: "1.30" });
    expect((await earlier.request("Node", "n1")).status).toBe(400);
    const later = await start({ release: "1.37" });
    expect((await later.request("Node", "gone")).status).toBe(404);
  });
});
