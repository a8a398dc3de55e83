import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mirrorPodReference } from "../../src/admission/plugins/node-restriction/release-checks.ts";
import type { Release } from "../../src/base/releases.ts";
import type { ApiObject } from "../../src/schema/kind.ts";
import { ok } from "../api/support.ts";
import { TestServer, type Answer, type Api } from "../support/api.ts";
import { certificateRequest } from "../support/certificate-request.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const DEFAULT = "/api/v1/namespaces/default";
const PODS = `${DEFAULT}/pods`;
const SLICES = "/apis/resource.platform.io/v1/resourceslices";
const SIGNING = "/apis/certificates.platform.io/v1/certificatesigningrequests";
const REQUESTS = "/apis/certificates.platform.io/v1/namespaces/default/podcertificaterequests";
const RBAC = "/apis/rbac.authorization.platform.io/v1";

const folder = temporaryFolder();
let server: TestServer;
let one: Api;
let account: string;

const container = { name: "c", image: "i" };
const pod = (name: string, nodeName: string, more: object = {}) => ({
  metadata: { name },
  spec: { nodeName, serviceAccountName: "runner", containers: [container], ...more },
});
const slice = (name: string, nodeName?: string) => ({
  metadata: { name },
  spec: {
    driver: "d.example.com",
    pool: { name: "p", generation: 1, resourceSliceCount: 1 },
    ...(nodeName === undefined ? { allNodes: true } : { nodeName }),
    devices: [{ name: "dev" }],
  },
});

async function refused(answer: Promise<Answer>, why: string): Promise<void> {
  const { status, body } = await answer;
  expect(`${status} ${body.message}`).toContain(why);
  expect(status).toBe(403);
}

beforeAll(async () => {
  const tokens = path.join(folder.path, "tokens");
  writeFileSync(tokens, "one,system:node:n1,1,system:nodes\n");
  server = await TestServer.start({
    release: "1.37",
    authorizationModes: ["Node", "RBAC"],
    enabledAdmissionPlugins: ["NodeRestriction"],
    disabledAdmissionPlugins: ["ServiceAccount"],
    tokenAuthFile: tokens,
    authentication: { apiAudiences: ["api", "api-2"] },
    controllers: [],
  });
  one = server.as("one");
  const { admin } = server;
  for (const name of ["n1", "n2"]) await ok(admin.post("/api/v1/nodes", { metadata: { name } }));
  account = (await create(`${DEFAULT}/serviceaccounts`, { metadata: { name: "runner" } })).metadata.uid;
  const rules = [
    {
      apiGroups: [""],
      resources: ["extra"],
      verbs: ["request-serviceaccounts-token-audience"],
      resourceNames: ["runner"],
    },
    {
      apiGroups: ["certificates.platform.io"],
      resources: ["example.com:extra"],
      verbs: ["request-serviceaccounts-podcertificate-signer"],
    },
  ];
  await ok(admin.post(`${RBAC}/clusterroles`, { metadata: { name: "extra" }, rules }));
  const roleRef = { apiGroup: "rbac.authorization.platform.io", kind: "ClusterRole", name: "extra" };
  const subjects = [{ apiGroup: roleRef.apiGroup, kind: "User", name: "system:node:n1" }];
  await ok(admin.post(`${RBAC}/clusterrolebindings`, { metadata: { name: "extra" }, roleRef, subjects }));
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

const create = async (path: string, object: object) =>
  (await ok(server.admin.post(path, object))).body as { metadata: { uid: string } };

describe("an agent of release 1.37", () => {
  test("reads its own Node, pods, claims and slices only", async () => {
    const resourceClaims = [{ name: "a", resourceClaimName: "mine" }];
    await create(PODS, pod("web", "n1", { resourceClaims }));
    await create(PODS, pod("theirs", "n2"));
    const claims = "/apis/resource.platform.io/v1/namespaces/default/resourceclaims";
    for (const name of ["mine", "other"]) await create(claims, { metadata: { name }, spec: { devices: {} } });
    await create(SLICES, slice("s2", "n2"));
    await ok(one.post(SLICES, slice("s1", "n1")));
    const statusOf = async (path: string) => [path, (await one.get(path)).status];
    const expected = [
      [`${PODS}/web`, 200],
      [`${PODS}/theirs`, 403],
      ["/api/v1/pods", 403],
      ["/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", 200],
      ["/api/v1/nodes/n1", 200],
      ["/api/v1/nodes/n2", 403],
      [`${claims}/mine`, 200],
      [`${claims}/other`, 403],
      [`${SLICES}/s1`, 200],
      [`${SLICES}/s2`, 403],
      [SLICES, 403],
      [`${SLICES}?fieldSelector=spec.nodeName%3Dn1`, 200],
      [`${DEFAULT}/serviceaccounts/runner`, 200],
    ] as const;
    for (const [path, status] of expected) expect(await statusOf(path)).toEqual([path, status]);
    await ok(server.admin.ask("DELETE", `${PODS}/web`, { body: { gracePeriodSeconds: 0 } }));
    expect(await statusOf(`${claims}/mine`)).toEqual([`${claims}/mine`, 403]);
  });

  test("writes slices of its own node only", async () => {
    await refused(one.post(SLICES, slice("x", "n2")), "can only create ResourceSlice with the same NodeName");
    await refused(one.post(SLICES, slice("x")), "can only create ResourceSlice with the same NodeName");
    await ok(one.post(SLICES, slice("own", "n1")));
    await ok(one.delete(`${SLICES}/own`));
    await refused(one.delete(SLICES), "nodeName field selector");
    await ok(one.delete(`${SLICES}?fieldSelector=spec.nodeName%3Dn1`));
  });

  test("doesn't change the claims in the status of a pod", async () => {
    const resourceClaims = [{ name: "a", resourceClaimTemplateName: "t" }];
    await create(PODS, pod("claiming", "n1", { resourceClaims }));
    const write = (api: Api, status: object) => api.patch(`${PODS}/claiming/status`, { status });
    const statuses = (name: string) => ({ resourceClaimStatuses: [{ name: "a", resourceClaimName: name }] });
    await refused(write(one, statuses("x")), "cannot update resource claim statuses");
    await ok(write(server.admin, statuses("x")));
    await ok(write(one, { ...statuses("x"), message: "m" }));
    await refused(write(one, { resourceClaimStatuses: null }), "cannot update resource claim statuses");
  });

  test("requests tokens for audiences of the volumes of the pod, or those that it is granted", async () => {
    await create("/apis/storage.platform.io/v1/csidrivers", {
      metadata: { name: "d.example.com" },
      spec: { tokenRequests: [{ audience: "driver" }] },
    });
    const volumes = [
      { name: "t", projected: { sources: [{ serviceAccountToken: { path: "t", audience: "vault" } }] } },
      { name: "d", csi: { driver: "d.example.com" } },
    ];
    const { metadata } = await create(PODS, pod("tokens", "n1", { volumes }));
    const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "tokens", uid: metadata.uid };
    const ask = (...audiences: string[]) =>
      one.post(`${DEFAULT}/serviceaccounts/runner/token`, {
        apiVersion: "authentication.platform.io/v1",
        kind: "TokenRequest",
        spec: { audiences, boundObjectRef },
      });
    for (const audience of ["vault", "driver", "extra"]) await ok(ask(audience));
    await refused(ask("other"), 'is not authorized to request tokens for audience "other"');
    await refused(ask(), "is not authorized to request tokens for audience");
    await refused(ask("vault", "driver"), "node may only request 0 or 1 audiences");
    // A source without an audience is for the server, as a request without audiences.
    const source = { name: "t", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } };
    const plain = await create(PODS, pod("plain", "n1", { volumes: [source] }));
    Object.assign(boundObjectRef, { name: "plain", uid: plain.metadata.uid });
    await ok(ask());
    await refused(ask("vault"), "is not authorized to request tokens for audience");
    await refused(ask("api"), "is not authorized to request tokens for audience");
    // A token for all audiences of the server isn't one for the first.
    const first = {
      name: "t",
      projected: { sources: [{ serviceAccountToken: { path: "t", audience: "api" } }] },
    };
    const limited = await create(PODS, pod("limited", "n1", { volumes: [first] }));
    Object.assign(boundObjectRef, { name: "limited", uid: limited.metadata.uid });
    await ok(ask("api"));
    await refused(ask(), 'is not authorized to request tokens for audience ""');
    await refused(ask("api", "api-2"), "node may only request 0 or 1 audiences");
  });

  test("requests certificates with its own name from the signers of agents", async () => {
    const ask = (name: string, signerName: string, subject: string) =>
      one.post(SIGNING, {
        metadata: { name },
        spec: {
          signerName,
          request: Buffer.from(certificateRequest(subject)).toString("base64"),
          usages: ["digital signature", "server auth"],
        },
      });
    await ok(ask("own", "platform.io/agent-serving", "system:node:n1"));
    await refused(ask("x", "platform.io/agent-serving", "system:node:n2"), "CN=system:node:n1");
    await ok(ask("other", "example.com/x", "system:node:n2"));
  });

  test("requests certificates for pods on its node", async () => {
    const sources = [
      { podCertificate: { signerName: "example.com/a", keyType: "ED25519", credentialBundlePath: "b" } },
    ];
    const { metadata } = await create(
      PODS,
      pod("certified", "n1", { volumes: [{ name: "v", projected: { sources } }] }),
    );
    const { body: node } = await server.admin.get("/api/v1/nodes/n1");
    const pem = certificateRequest("pod").replaceAll(/-----[^-]+-----|\s/g, "");
    const spec = {
      signerName: "example.com/a",
      podName: "certified",
      podUID: metadata.uid,
      serviceAccountName: "runner",
      serviceAccountUID: account,
      nodeName: "n1",
      nodeUID: node.metadata.uid,
      stubPKCS10Request: pem,
    };
    const ask = (name: string, more: object = {}) =>
      one.post(REQUESTS, { metadata: { name }, spec: { ...spec, ...more } });
    await ok(ask("own"));
    await ok(ask("granted", { signerName: "example.com/extra" }));
    await refused(ask("x", { signerName: "example.com/b" }), "does not mount");
    await refused(ask("x", { nodeName: "n2" }), "not the requesting node");
    expect((await ask("x", { podUID: "other" })).status).toBe(500);
    expect((await ask("x", { nodeUID: "other" })).status).toBe(500);
    expect((await ask("x", { serviceAccountUID: "other" })).status).toBe(500);
    await refused(ask("x", { serviceAccountName: "default" }), "spec.serviceAccountName");
    expect((await one.get(`${REQUESTS}/own`)).status).toBe(200);
    await refused(one.get(REQUESTS), "nodeName field selector");
  });
});

test.each<[Release, object, string | undefined]>([
  ["1.28", { volumes: [{ projected: { sources: [{ clusterTrustBundle: {} }] } }] }, undefined],
  ["1.29", { volumes: [{ projected: { sources: [{ clusterTrustBundle: {} }] } }] }, "clustertrustbundles"],
  ["1.31", { resourceClaims: [{ name: "a" }] }, undefined],
  ["1.32", { resourceClaims: [{ name: "a" }] }, "resourceclaims"],
  ["1.33", { volumes: [{ csi: { driver: "d" } }] }, undefined],
  ["1.34", { volumes: [{ csi: { driver: "d" } }] }, "csidrivers (via CSI volumes)"],
  ["1.34", { volumes: [{ emptyDir: {} }, { projected: { sources: [{ downwardAPI: {} }] } }] }, undefined],
  ["1.34", { volumes: [{ projected: { sources: [{ podCertificate: {} }] } }] }, "podcertificates"],
  ["1.34", { serviceAccountName: "a" }, "serviceaccounts"],
])("release %s: a mirror pod with %j refers to %s", (release, spec, expected) => {
  const object = { metadata: {}, spec } as unknown as ApiObject;
  expect(mirrorPodReference({ release })?.(object)).toBe(expected);
});
