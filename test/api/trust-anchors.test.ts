import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect } from "node:tls";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import type { CreateServerOptions } from "../../src/index.ts";
import { RemoteClient } from "../../src/remote/remote-client.ts";
import { ServerClient } from "../../src/cli/client/server-client.ts";
import {
  authority,
  authorityOfVersion1,
  client,
  intermediate,
  type CertificatePair,
} from "../authentication/pki.ts";
import { Api, TestServer } from "../support/api.ts";
import { FakeBackend, makeNode, makePod } from "../support/backends.ts";
import { ExtensionServer } from "../support/extension-server.ts";
import { AUTHN, ok } from "./support.ts";

const folder = mkdtempSync(path.join(tmpdir(), "plinth-trust-"));
const closing: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of closing.splice(0).toReversed()) await one.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function file(text: string): string {
  const place = path.join(folder, `${files++}.pem`);
  writeFileSync(place, text, { mode: 0o600 });
  return place;
}
function closeLater<T extends { close(): unknown }>(one: T): T {
  closing.push(one);
  return one;
}

/** A server, and the result of a client with a certificate: the user's name or the status. */
async function serverWith(options: CreateServerOptions) {
  const server = closeLater(
    await TestServer.start({ runtimeConfig: "authentication.platform.io/v1alpha1", ...options }),
  );
  return async ({ certificate, key }: CertificatePair, headers: Record<string, string> = {}) => {
    const api = closeLater(
      new Api(server.server.url!, server.server.caCertificate!, undefined, { cert: certificate, key }),
    );
    const { status, body } = await api.post(`${AUTHN}/selfsubjectreviews`, {}, { headers });
    return status === 201 ? (body.status.userInfo.username as string) : status;
  };
}

const root = authority();
const below = intermediate(root, "below");
const ann = client(below, "ann");
const withChain = { ...ann, certificate: `${ann.certificate}${below.certificate}` };
const old = authorityOfVersion1();

describe("a certificate of a CA bundle that isn't a self-signed root is a trust anchor", () => {
  test("C-5.1-02 a client is authenticated when --client-ca-file has an intermediate CA", async () => {
    const whoIs = await serverWith({ clientCaFile: file(below.certificate) });
    expect([await whoIs(ann), await whoIs(withChain)]).toEqual(["ann", "ann"]);
    expect(await whoIs(client(root, "bob"))).toBe(401);
  });

  test("C-5.1-02 a client is authenticated when --client-ca-file has its certificate, which is no CA for others", async () => {
    const whoIs = await serverWith({ clientCaFile: file(ann.certificate) });
    expect(await whoIs(ann)).toBe("ann");
    expect([await whoIs(client(below, "bob")), await whoIs(client(ann, "eve"))]).toEqual([401, 401]);
  });

  test("C-5.1-02 a client is authenticated when its CA in --client-ca-file has a version 1 certificate", async () => {
    const whoIs = await serverWith({ clientCaFile: file(old.certificate) });
    expect(await whoIs(client(old, "carl"))).toBe("carl");
    expect(await whoIs(client(authorityOfVersion1(), "eve"))).toBe(401);
  });

  test("C-5.1-02 a client is rejected when it sends a version 1 certificate as its CA", async () => {
    const whoIs = await serverWith({ clientCaFile: file(root.certificate) });
    const eve = client(old, "eve");
    expect(await whoIs({ ...eve, certificate: `${eve.certificate}${old.certificate}` })).toBe(401);
  });

  test("C-5.8-05 a proxy is authenticated when --requestheader-client-ca-file has an intermediate CA", async () => {
    const caFile = file(below.certificate);
    const whoIs = await serverWith({
      authentication: { proxy: { caFile, usernameHeaders: ["X-Remote-User"] } },
    });
    expect(await whoIs(ann, { "X-Remote-User": "dora" })).toBe("dora");
    expect(await whoIs(client(root, "front"), { "X-Remote-User": "dora" })).toBe(401);
  });

  test("webhooks, token reviews, audit and OpenID providers are trusted when the bundle has their certificate", async () => {
    const own = createServingCertificates(["127.0.0.1"]);
    const { certificate: cert, key } = own.serving;
    const service = closeLater(
      await FakeBackend.start((_request, response) => response.end("ok"), { tls: { cert, key } }),
    );
    const limits = { timeoutMs: 5000, maxAnswerBytes: 1000 };
    const ask = (ca: string) => {
      const remote = closeLater(new RemoteClient({ ca: [ca] }, limits, systemClock));
      return remote.send(new URL(`https://127.0.0.1:${service.port}/`), { method: "GET" });
    };
    expect((await ask(cert)).status).toBe(200);
    await expect(ask(createServingCertificates(["127.0.0.1"]).serving.certificate)).rejects.toThrow(
      /certificate|signature/,
    );
  });

  test("an extension server is trusted when the bundle of its APIService has its certificate", async () => {
    const server = closeLater(await TestServer.start({ connections: { allowLoopback: true } }));
    const extension = closeLater(await ExtensionServer.start());
    const caBundle = Buffer.from(extension.certificate).toString("base64");
    await extension.register(server.admin, { caBundle });
    await ok(server.admin.get(`${extension.path}/namespaces/default/widgets/one`));
  });

  test("a node agent is trusted when --kubelet-certificate-authority has its certificate", async () => {
    const { certificate: cert, key } = createServingCertificates(["127.0.0.1"]).serving;
    const agent = closeLater(
      await FakeBackend.start((_request, response) => response.end("line"), { tls: { cert, key } }),
    );
    const connections = { allowLoopback: true, nodeAgentCaFile: file(cert) };
    const server = closeLater(await TestServer.start({ connections }));
    await makeNode(server.admin, "node", { Hostname: "127.0.0.1" }, agent.port);
    await makePod(server.admin, "pod", { node: "node", ip: "127.0.0.1" });
    expect((await server.admin.get("/api/v1/namespaces/default/pods/pod/log")).text).toBe("line");
  });

  test("commands trust a server when the CA of the client configuration is its certificate", async () => {
    const server = closeLater(await TestServer.start({}));
    const shown = await new Promise<Buffer>((resolve, reject) => {
      const { hostname: host, port } = new URL(server.server.url!);
      const socket = connect({ host, port: Number(port), ca: server.server.caCertificate }, () => {
        resolve(socket.getPeerCertificate().raw);
        socket.destroy();
      });
      socket.on("error", reject);
    });
    const access = { server: server.server.url!, namespace: "", authorization: undefined };
    const tls = { ca: [new X509Certificate(shown).toString()] };
    const commands = closeLater(new ServerClient({ ...access, tls }));
    expect(await commands.get("/version")).toHaveProperty("major");
  });
});
