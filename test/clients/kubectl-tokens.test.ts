import { afterAll, beforeAll, expect, it } from "vitest";
import { createServer } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";
import { claimsOf } from "../authentication/jwt-support.ts";
import { Api } from "../support/api.ts";
import { describeKubectl, Kubectl } from "../support/kubectl.ts";

describeKubectl("kubectl and tokens of service accounts", (program) => {
  let server: Server;
  let kubectl: Kubectl;
  beforeAll(async () => {
    server = await createServer({ vocabulary: "kubernetes" });
    kubectl = new Kubectl(program, server.kubeconfig());
    await kubectl.ok(["create", "serviceaccount", "robot"]);
  });
  afterAll(async () => {
    await kubectl?.close();
    await server?.close();
  });

  /** Requests a token with the command `create token`, or with the request of that command when this kubectl doesn't have it. */
  async function tokenOf(words: readonly string[], spec: object): Promise<string> {
    if (program.minor >= 24) return (await kubectl.ok(["create", "token", "robot", ...words])).trim();
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
    const path = "/api/v1/namespaces/default/serviceaccounts/robot/token";
    const answer = await kubectl.ok(["create", "--raw", path, "-f", "-"], { input: JSON.stringify(request) });
    return (JSON.parse(answer) as { status: { token: string } }).status.token;
  }

  it("C-5.5-07 create token: the token is bound to a pod, a duration and an audience", async () => {
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "job" },
      spec: { serviceAccountName: "robot", containers: [{ name: "c", image: "i" }] },
    };
    await kubectl.ok(["create", "-f", "-"], { input: JSON.stringify(pod) });
    const words = ["--bound-object-kind=Pod", "--bound-object-name=job", "--duration=20m"];
    const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "job" };
    const token = await tokenOf(words, { boundObjectRef, expirationSeconds: 1200 });
    const claims = claimsOf(token);
    expect(Number(claims["exp"]) - Number(claims["iat"])).toBe(1200);
    expect(claims["aud"]).toEqual(["https://kubernetes.default.svc.cluster.local"]);
    const { uid } = (
      await server.client.get({ apiVersion: "v1", kind: "Pod", namespace: "default", name: "job" })
    ).metadata;
    expect(claims["kubernetes.io"]).toMatchObject({ namespace: "default", pod: { name: "job", uid } });
    const review = { spec: { token } };
    const admin = new Api(server.url!, server.caCertificate, `Bearer ${server.adminToken}`);
    const { body } = await admin.post("/apis/authentication.k8s.io/v1/tokenreviews", review);
    admin.close();
    expect(body.status.user).toMatchObject({
      username: "system:serviceaccount:default:robot",
      extra: {
        "authentication.kubernetes.io/pod-name": ["job"],
        "authentication.kubernetes.io/pod-uid": [uid],
      },
    });
    const elsewhere = await tokenOf(["--audience=vault"], { audiences: ["vault"] });
    expect(claimsOf(elsewhere)["aud"]).toEqual(["vault"]);
  });

  it("C-5.5-01 create token: the token authenticates kubectl", async () => {
    const token = await tokenOf([], {});
    const as = ["--token", token, "--kubeconfig", "/dev/null", "--server", server.url!];
    const said = await kubectl.run([...as, "--insecure-skip-tls-verify", "get", "pods"]);
    expect(said.stderr).toContain('User "system:serviceaccount:default:robot" cannot list resource "pods"');
    const bad = await kubectl.run([...as.with(1, `${token}x`), "--insecure-skip-tls-verify", "get", "pods"]);
    expect(bad.stderr).toContain("logged in to the server");
  });
});
