import { describe, expect, test } from "vitest";
import { clusterRoleBinding, grant, group, ManualClock, ok, RBAC, refTo, user } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { base64, decide, nodeClient, outcome, requestObject, requestsPath } from "./certificate-support.ts";
import { minute, certificates, certificatePem, useCertificateServer } from "./certificate-states-support.ts";

const { tokens, server, make } = useCertificateServer();

describe("4.12 permissions", () => {
  const may = (who: string, rules: Parameters<typeof grant>[2]) => grant(server.admin, who, rules);
  const rule = (resource: string, verbs: string[], resourceNames?: string[]) => ({
    apiGroups: [certificates],
    resources: [resource],
    verbs,
    ...(resourceNames === undefined ? {} : { resourceNames }),
  });
  const requests = "certificatesigningrequests";

  test("C-4.12-02 the verbs create, get, list and watch on certificatesigningrequests suffice to create and read requests", async () => {
    const maker = server.as("maker");
    const object = requestObject();
    const at = `${requestsPath}/${object.metadata.name}`;
    for (const path of [at, requestsPath, `${requestsPath}?watch=true&timeoutSeconds=1`])
      expect((await maker.get(path)).status).toBe(403);
    expect((await maker.post(requestsPath, object)).status).toBe(403);
    await may("maker", [rule(requests, ["create", "get", "list", "watch"])]);
    await ok(maker.post(requestsPath, object));
    for (const path of [at, requestsPath, `${requestsPath}?watch=true&timeoutSeconds=1`])
      await ok(maker.get(path));
    expect((await decide(maker, at, "Approved")).status).toBe(403);
    expect((await maker.put(`${at}/status`, (await maker.get(at)).body)).status).toBe(403);
  });

  test.each(["example.com/own", "example.com/*"])(
    "C-4.12-03 approval needs get, list, watch on certificatesigningrequests, update on certificatesigningrequests/approval and approve on signers with resourceName <domain>/<path> or <domain>/*: %s",
    async (signers) => {
      const at = await make({ signerName: "example.com/own" });
      const approver = server.as("approver");
      const body = (await server.admin.get(at)).body;
      const conditions = [{ type: "Approved", status: "True", reason: "R", message: "" }];
      const approve = () => approver.put(`${at}/approval`, { ...body, status: { conditions } });
      const read = async () => [
        (await approver.get(at)).status,
        (await approver.get(requestsPath)).status,
        (await approver.get(`${requestsPath}?watch=true&timeoutSeconds=1`)).status,
      ];
      const all = [
        rule(requests, ["get", "list", "watch"]),
        rule(`${requests}/approval`, ["update"]),
        rule("signers", ["approve"], [signers]),
      ];
      for (const [index, left] of all.entries()) {
        const name = `approver-${index}-${signers.length}`;
        const others = all.filter((one) => one !== left);
        await ok(server.admin.post(`${RBAC}/clusterroles`, { metadata: { name }, rules: others }));
        await ok(
          server.admin.post(
            `${RBAC}/clusterrolebindings`,
            clusterRoleBinding(name, refTo("ClusterRole", name), [user("approver")]),
          ),
        );
        if (index === 0) expect(await read()).toEqual([403, 403, 403]);
        else expect((await approve()).status).toBe(403);
        await ok(server.admin.delete(`${RBAC}/clusterrolebindings/${name}`));
      }
      const name = `approver-${signers.length}`;
      await ok(server.admin.post(`${RBAC}/clusterroles`, { metadata: { name }, rules: all }));
      const binding = clusterRoleBinding(name, refTo("ClusterRole", name), [user("approver")]);
      await ok(server.admin.post(`${RBAC}/clusterrolebindings`, binding));
      expect(await read()).toEqual([200, 200, 200]);
      await ok(approve());
      await ok(server.admin.delete(`${RBAC}/clusterrolebindings/${name}`));
    },
  );

  test.each(["example.com/own", "example.com/*"])(
    "C-4.12-04 signing needs get, list, watch on certificatesigningrequests, update on certificatesigningrequests/status and sign on signers with resourceName <domain>/<path> or <domain>/*: %s",
    async (signers) => {
      const at = await make({ signerName: "example.com/own" });
      await ok(decide(server.admin, at, "Approved"));
      const signer = server.as("signer");
      const { body } = await server.admin.get(at);
      const certificate = base64(certificatePem());
      const sign = () => signer.put(`${at}/status`, { ...body, status: { ...body.status, certificate } });
      const read = async () => [
        (await signer.get(at)).status,
        (await signer.get(requestsPath)).status,
        (await signer.get(`${requestsPath}?watch=true&timeoutSeconds=1`)).status,
      ];
      const all = [
        rule(requests, ["get", "list", "watch"]),
        rule(`${requests}/status`, ["update"]),
        rule("signers", ["sign"], [signers]),
      ];
      const bind = async (name: string, rules: object[]) => {
        await ok(server.admin.post(`${RBAC}/clusterroles`, { metadata: { name }, rules }));
        const binding = clusterRoleBinding(name, refTo("ClusterRole", name), [user("signer")]);
        await ok(server.admin.post(`${RBAC}/clusterrolebindings`, binding));
      };
      for (const [index, left] of all.entries()) {
        const name = `signer-${index}-${signers.length}`;
        await bind(
          name,
          all.filter((one) => one !== left),
        );
        if (index === 0) expect(await read()).toEqual([403, 403, 403]);
        else expect((await sign()).status).toBe(403);
        await ok(server.admin.delete(`${RBAC}/clusterrolebindings/${name}`));
      }
      const name = `signer-${signers.length}`;
      await bind(name, all);
      expect(await read()).toEqual([200, 200, 200]);
      await ok(sign());
      await ok(server.admin.delete(`${RBAC}/clusterrolebindings/${name}`));
    },
  );

  test("C-4.12-05 the built-in approver approves only when a SubjectAccessReview shows the requester may", async () => {
    const clock = new ManualClock();
    const reviewed: unknown[] = [];
    const recording = {
      name: "recording",
      authorize(attributes: unknown) {
        reviewed.push(attributes);
        return { verdict: "noOpinion", reason: "", evaluationError: "" } as const;
      },
    };
    const own = await TestServer.start({
      tokenAuthFile: tokens,
      clock,
      authorizers: [recording],
      authorizationModes: ["recording", "RBAC"],
    });
    try {
      await grant(own.admin, "system:node:n1", [rule(requests, ["create"])]);
      await grant(own.admin, "bootstrap", [rule(requests, ["create"])]);
      const post = async (as: string, commonName: string) => {
        const object = requestObject({ ...nodeClient, commonName });
        await ok(own.as(as).post(requestsPath, object));
        return `${requestsPath}/${object.metadata.name}`;
      };
      const self = await post("n1", "system:node:n1");
      const other = await post("n1", "system:node:n2");
      const first = await post("bootstrap", "system:node:n3");
      await clock.advance(minute);
      for (const at of [self, other, first]) expect((await own.admin.get(at)).body.status).toEqual({});
      expect(reviewed).toContainEqual({
        kind: "resource",
        user: { name: "bootstrap", uid: "bootstrap", groups: ["team", "system:authenticated"], extra: {} },
        verb: "create",
        group: certificates,
        version: "*",
        resource: requests,
        subresource: "nodeclient",
        namespace: "",
        name: "",
      });

      const selfNodeClients = "system:certificates.platform.io:certificatesigningrequests:selfnodeclient";
      const self1 = clusterRoleBinding("self", refTo("ClusterRole", selfNodeClients), [
        user("system:node:n1"),
      ]);
      await ok(own.admin.post(`${RBAC}/clusterrolebindings`, self1));
      await clock.advance(10 * minute);
      expect((await outcome(own.admin, self)).issued?.certificate.subject).toContain("CN=system:node:n1");
      for (const at of [other, first]) expect((await own.admin.get(at)).body.status).toEqual({});

      const nodeClients = "system:certificates.platform.io:certificatesigningrequests:nodeclient";
      const binding = clusterRoleBinding("team", refTo("ClusterRole", nodeClients), [group("team")]);
      await ok(own.admin.post(`${RBAC}/clusterrolebindings`, binding));
      const at = await post("bootstrap", "system:node:n4");
      expect((await outcome(own.admin, at)).issued?.certificate.subject).toContain("CN=system:node:n4");
    } finally {
      await own.close();
    }
  });

  test("C-4.12-06 the server's controllers run the built-in signers, unless csrsigning is turned off", async () => {
    const own = await TestServer.start({ enabledControllers: ["*", "-csrsigning"] });
    try {
      const object = requestObject(nodeClient);
      await ok(own.admin.post(requestsPath, object));
      const at = `${requestsPath}/${object.metadata.name}`;
      await expect.poll(async () => (await own.admin.get(at)).body.status.conditions?.length).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect((await own.admin.get(at)).body.status.certificate).toBeUndefined();
    } finally {
      await own.close();
    }
  });
});
