import { X509Certificate } from "node:crypto";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createServer } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { authority, client, intermediate, type CertificatePair } from "../authentication/pki.ts";
import { Api } from "../support/api.ts";
import { AUTHN, ManualClock, until } from "./support.ts";

const SELF = `${AUTHN}/selfsubjectreviews`;
let folder: string;
let clock: ManualClock;
let server: Server;
let logged: string[];
const open: Api[] = [];
const [old, next, proxies] = [authority(), authority(), authority()];
const serving = createServingCertificates(["127.0.0.1"]);
const file = (name: string) => path.join(folder, name);

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "plinth-files-"));
  clock = new ManualClock();
  logged = [];
  writeFileSync(file("tls.crt"), serving.serving.certificate);
  writeFileSync(file("tls.key"), serving.serving.key);
  writeFileSync(file("clients.pem"), old.certificate);
  writeFileSync(file("proxies.pem"), proxies.certificate);
  server = await createServer({
    certificateFiles: { cert: file("tls.crt"), key: file("tls.key") },
    clientCaFile: file("clients.pem"),
    authentication: { proxy: { caFile: file("proxies.pem"), usernameHeaders: ["X-Remote-User"] } },
    runtimeConfig: "authentication.platform.io/v1alpha1",
    clock,
    log: {
      info: () => undefined,
      warn: () => undefined,
      error: (facts, message) => logged.push(`${message} ${JSON.stringify(facts)}`),
    },
  });
});
afterEach(async () => {
  for (const api of open.splice(0)) api.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A client that trusts `ca`, with a certificate. */
function as({ certificate, key }: CertificatePair, ca = serving.caCertificate): Api {
  const api = new Api(server.url!, ca, undefined, { cert: certificate, key });
  open.push(api);
  return api;
}
const nameOf = async (api: Api, headers: Record<string, string> = {}) => {
  const { status, body } = await api.post(SELF, {}, { headers });
  return status === 201 ? (body.status.userInfo.username as string) : status;
};
/** Advances the clock so that the server checks its files, until it has seen the change. */
async function looked(until: () => Promise<boolean>): Promise<void> {
  do await clock.advance(10_000);
  while (!(await until()));
}

describe("5.1 certificate files that change while the server runs", () => {
  it("C-5.1-01 C-5.1-02 a changed client CA file applies to new and open connections", async () => {
    const [before, after] = [client(old, "before"), client(next, "after")];
    const standing = as(before);
    expect(await nameOf(standing)).toBe("before");
    expect(await nameOf(as(after))).toBe(401);
    writeFileSync(file("clients.pem"), `${old.certificate}${next.certificate}`);
    await looked(async () => (await nameOf(as(after))) === "after");
    expect(await nameOf(standing)).toBe("before");
    const told = {
      apiVersion: "v1",
      kind: "ConfigMap",
      namespace: "platform-system",
      name: "extension-apiserver-authentication",
    };
    const published = async () =>
      ((await server.client.get(told)) as unknown as { data: Record<string, string> }).data["client-ca-file"];
    await until(published, (pem) => pem === `${old.certificate.trim()}\n${next.certificate.trim()}\n`);
    writeFileSync(file("clients.pem"), next.certificate);
    await looked(async () => (await nameOf(as(before))) === 401);
    expect(await nameOf(standing)).toBe(401);
    expect(await nameOf(as(after))).toBe("after");
  });

  it("C-5.8-05 a changed proxy CA file applies to new and open connections", async () => {
    const headers = { "X-Remote-User": "ann" };
    const standing = as(client(proxies, "front"));
    expect(await nameOf(standing, headers)).toBe("ann");
    writeFileSync(file("proxies.pem"), next.certificate);
    await looked(async () => (await nameOf(as(client(next, "front")), headers)) === "ann");
    expect(await nameOf(standing, headers)).toBe(401);
  });

  it("a changed serving certificate is used once its key matches", async () => {
    const fresh = createServingCertificates(["127.0.0.1"]);
    const pair = client(old, "ann");
    writeFileSync(file("tls.key"), fresh.serving.key);
    await looked(() => Promise.resolve(logged.length > 0));
    expect(logged[0]).toContain("keeping the previous ones");
    expect(logged[0]).toContain("is not the key of");
    expect(await nameOf(as(pair))).toBe("ann");
    writeFileSync(file("tls.crt"), fresh.serving.certificate);
    await looked(async () => {
      try {
        return (await nameOf(as(pair, fresh.caCertificate))) === "ann";
      } catch {
        return false;
      }
    });
    await expect(nameOf(as(pair))).rejects.toThrow();
  });

  it("client configurations trust the CA at the end of the serving certificate's chain", async () => {
    const told = () => JSON.parse(server.kubeconfig()).clusters[0].cluster["certificate-authority-data"];
    // The file has only the leaf certificate.
    expect(server.caCertificate).toBeUndefined();
    expect(told()).toBeUndefined();
    const { caCertificate } = serving;
    writeFileSync(file("tls.crt"), `${serving.serving.certificate}${caCertificate}`);
    await looked(() => Promise.resolve(server.caCertificate !== undefined));
    expect(server.caCertificate).toBe(caCertificate);
    expect(Buffer.from(told(), "base64").toString()).toBe(caCertificate);
    expect(await nameOf(as(client(old, "ann"), Buffer.from(told(), "base64").toString()))).toBe("ann");
    // An intermediate CA can't be a client's trust anchor.
    const below = intermediate(authority(), "below");
    writeFileSync(file("tls.crt"), `${serving.serving.certificate}${below.certificate}`);
    await looked(() => Promise.resolve(server.caCertificate === undefined));
    expect(told()).toBeUndefined();
  });

  it("metrics have the expiration of the certificates in use, and of the certificates of clients", async () => {
    const admin = new Api(server.url!, serving.caCertificate, `Bearer ${server.adminToken}`);
    open.push(admin);
    const expirations = async () => {
      const { text } = await admin.get("/metrics");
      return (certificate: string) =>
        Number(
          new RegExp(
            `^platform_certificate_expiration_timestamp_seconds\\{certificate="${certificate}"\\} (\\S+)$`,
            "m",
          ).exec(text)?.[1],
        );
    };
    const expires = (pem: string) => Date.parse(new X509Certificate(pem).validTo) / 1000;
    const before = await expirations();
    expect(before("serving")).toBe(expires(serving.serving.certificate));
    expect(before("client-ca")).toBe(expires(old.certificate));
    expect(before("requestheader-client-ca")).toBe(expires(proxies.certificate));
    expect(before("proxy-client")).toBe(NaN);
    const soon = intermediate(old, "soon");
    writeFileSync(file("clients.pem"), `${old.certificate}${soon.certificate}`);
    await looked(async () => (await expirations())("client-ca") === expires(soon.certificate));
    expect(await nameOf(as(client(old, "ann")))).toBe("ann");
    const { text } = await admin.get("/metrics");
    const below = (bound: string) =>
      Number(
        new RegExp(
          `^apiserver_client_certificate_expiration_seconds_bucket\\{le="${bound}"\\} (\\d+)$`,
          "m",
        ).exec(text)?.[1],
      );
    // The certificate of the client is valid for a day.
    expect([below("43200"), below("172800")]).toEqual([0, 1]);
  });

  it("unusable files are ignored until they are repaired", async () => {
    const pair = client(old, "ann");
    copyFileSync(file("clients.pem"), file("kept.pem"));
    writeFileSync(file("clients.pem"), "no certificate");
    await looked(() => Promise.resolve(logged.length > 0));
    rmSync(file("clients.pem"));
    await looked(() => Promise.resolve(logged.length > 1));
    expect(await nameOf(as(pair))).toBe("ann");
    writeFileSync(file("clients.pem"), next.certificate);
    await looked(async () => (await nameOf(as(pair))) === 401);
  });
});

describe("5.1 client certificates in the TLS handshake", () => {
  it("C-5.1-02 a certificate of an intermediate CA is accepted on each connection when the chain is sent", async () => {
    const below = intermediate(old, "below");
    const made = client(below, "ann");
    const pair = { certificate: `${made.certificate}\n${below.certificate}`, key: made.key };
    for (let n = 0; n < 3; n++) expect(await nameOf(as(pair))).toBe("ann");
    expect(await nameOf(as(made))).toBe(401);
  });

  it("a resumed TLS session verifies the client certificate again", async () => {
    const { hostname: host, port } = new URL(server.url!);
    const pair = client(old, "ann");
    const handshake = (session?: Buffer) =>
      new Promise<{ socket: TLSSocket; session: Buffer | undefined }>((resolve, reject) => {
        const given = {
          ca: serving.caCertificate,
          cert: pair.certificate,
          key: pair.key,
          ALPNProtocols: ["http/1.1"],
        };
        const socket = connect({ host, port: Number(port), ...given, ...(session ? { session } : {}) });
        socket.once("error", reject);
        socket.once("secureConnect", () => {
          socket.write("GET /api HTTP/1.1\r\nHost: x\r\n\r\n");
          socket.once("data", () => resolve({ socket, session: socket.getSession() }));
        });
      });
    const first = await handshake();
    first.socket.destroy();
    const second = await handshake(first.session);
    expect(second.socket.isSessionReused()).toBe(false);
    second.socket.destroy();
  });
});
