import { execFileSync } from "node:child_process";
import { X509Certificate, createPrivateKey, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type TLSSocket, connect, createServer } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../../src/base/time/clock.ts";
import { signCertificate } from "../../src/base/certificates/x509.ts";
import {
  CertificateFault,
  createServingCertificates,
  ensureServingCertificates,
  isSelfMade,
  issueClientCertificate,
  loadCertificateFiles,
} from "../../src/base/certificates/serving-certificates.ts";

const dayMs = 24 * 60 * 60 * 1000;
const at = (time: number): Clock => ({
  now: () => time,
  monotonicNow: () => time,
  setTimer: () => ({ cancel: () => {} }),
});
const hosts = ["localhost", "*.example.com", "127.0.0.1", "::1", "2001:db8::ff:1"];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "plinth-certificates-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string): string => path.join(folder, name);
const read = (name: string): string => readFileSync(file(name), "utf8");
const openssl = (...args: string[]): string =>
  execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

function hasOpenssl(): boolean {
  try {
    return openssl("version") !== "";
  } catch {
    return false;
  }
}

describe("made certificates", () => {
  const made = createServingCertificates(hosts);
  const ca = { certificate: made.caCertificate, key: made.caKey! };
  const client = issueClientCertificate(ca, {
    commonName: "admin",
    organizations: ["system:masters", "ops"],
    days: 10,
  });

  it("say what they are for", () => {
    const authority = new X509Certificate(made.caCertificate);
    const serving = new X509Certificate(made.serving.certificate);
    expect(authority.ca).toBe(true);
    expect(serving.ca).toBe(false);
    expect(serving.checkIssued(authority)).toBe(true);
    expect(serving.verify(authority.publicKey)).toBe(true);
    expect(serving.subjectAltName).toBe(
      "DNS:localhost, DNS:*.example.com, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:2001:DB8:0:0:0:0:FF:1",
    );
    expect(serving.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
    const user = new X509Certificate(client.certificate);
    expect(user.subject).toBe("O=system:masters\nO=ops\nCN=admin");
    expect(user.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(user.checkPrivateKey(createPrivateKey(client.key))).toBe(true);
  });

  it("have a client's key in the form that says its algorithm, as clients in Java need it", () => {
    expect(client.key).toMatch(/^-----BEGIN EC PRIVATE KEY-----\n/);
    const key = createPrivateKey({ key: client.key, format: "pem", type: "sec1" });
    expect(key.asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
  });

  it("begin five minutes ago and don't outlive the authority", () => {
    const now = Date.UTC(2048, 0, 1);
    const later = createServingCertificates(["a"], at(now));
    const long = issueClientCertificate(
      { certificate: later.caCertificate, key: later.caKey! },
      { commonName: "a", organizations: [], days: 36500 },
      at(now),
    );
    const authority = new X509Certificate(later.caCertificate);
    expect(Date.parse(authority.validFrom)).toBe(now - 5 * 60 * 1000);
    expect(Date.parse(authority.validTo)).toBe(now + 3650 * dayMs); // in the form for years from 2050
    expect(new X509Certificate(long.certificate).validTo).toBe(authority.validTo);
  });

  it.skipIf(!hasOpenssl())("are accepted by openssl", () => {
    for (const [name, content] of Object.entries({
      ca: made.caCertificate,
      server: made.serving.certificate,
      client: client.certificate,
    })) {
      writeFileSync(file(name), content);
    }
    const verify = (purpose: string, name: string) =>
      openssl(
        "verify",
        "-x509_strict",
        "-check_ss_sig",
        "-purpose",
        purpose,
        "-CAfile",
        file("ca"),
        file(name),
      );
    expect(verify("sslserver", "server")).toContain("OK");
    expect(verify("sslclient", "client")).toContain("OK");
    expect(() => verify("sslclient", "server")).toThrow("unsuitable certificate purpose");
    writeFileSync(file("key"), client.key);
    expect(openssl("ec", "-in", file("key"), "-noout", "-text")).toContain("prime256v1");
    const text = openssl("x509", "-in", file("ca"), "-noout", "-text");
    expect(text).toContain("CA:TRUE");
    expect(text).toContain("Digital Signature, Certificate Sign, CRL Sign");
  });

  it("are accepted by node's TLS, both ways", async () => {
    const peer = await new Promise<string>((resolve, reject) => {
      const server = createServer(
        {
          cert: made.serving.certificate,
          key: made.serving.key,
          ca: ca.certificate,
          requestCert: true,
          rejectUnauthorized: true,
        },
        (socket: TLSSocket) => socket.end(String(socket.getPeerCertificate().subject.CN)),
      );
      server.on("tlsClientError", reject);
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as { port: number };
        const socket = connect({
          port,
          host: "127.0.0.1",
          ca: ca.certificate,
          cert: client.certificate,
          key: client.key,
        });
        socket.on("error", reject).on("data", (data) => resolve(data.toString()));
        socket.on("close", () => server.close());
      });
    });
    expect(peer).toBe("admin");
  });

  it("refuse hosts that are none", () => {
    for (const host of ["", "a b", "a,DNS:b", "-", "*", "*.", "fe80::1::2"]) {
      expect(() => createServingCertificates([host])).toThrow(CertificateFault);
    }
    expect(() => createServingCertificates([])).toThrow("at least one host");
  });

  it.skipIf(!hasOpenssl())("can be issued by an RSA authority with another encoding of its name", () => {
    const ca1 = [
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-days",
      "100",
      "-subj",
      "/C=CH/O=Own/CN=Own CA",
    ];
    openssl(...ca1, "-keyout", file("ca.key"), "-out", file("ca.crt"));
    const issued = issueClientCertificate(
      { certificate: read("ca.crt"), key: read("ca.key") },
      { commonName: "jürg", organizations: [], days: 1 },
    );
    writeFileSync(file("client"), issued.certificate);
    expect(openssl("verify", "-CAfile", file("ca.crt"), file("client"))).toContain("OK");
  });

  it("refuse a key that can't sign", () => {
    const { publicKey, privateKey } = generateKeyPairSync("ed448");
    const facts = { commonName: "a", use: "authority", notBefore: 0, notAfter: 1 } as const;
    expect(() => signCertificate(facts, publicKey, privateKey)).toThrow(
      "must be EC, RSA or Ed25519, this one is ed448",
    );
  });
});

describe("ensureServingCertificates", () => {
  const start = Date.UTC(2026, 0, 1);
  const ensure = (time = start, names: readonly string[] = ["localhost", "::1"]) =>
    ensureServingCertificates(folder, { hosts: names, clock: at(time) });

  it("makes four files for their owner only, then reuses them", async () => {
    const first = await ensure();
    expect(first.renewed).toBe("authority");
    expect(readdirSync(folder).toSorted()).toEqual(["ca.crt", "ca.key", "server.crt", "server.key"]);
    for (const name of readdirSync(folder)) expect(statSync(file(name)).mode & 0o777).toBe(0o600);
    const second = await ensure(start + dayMs, ["0::1", "LOCALHOST"]);
    expect(second).toEqual({ ...first, renewed: "nothing" });
  });

  it("writes the files of the reference, with the authority behind the certificate, when they are called apiserver", async () => {
    const options = { hosts: ["localhost"], clock: at(start), fileName: "apiserver" } as const;
    const first = await ensureServingCertificates(folder, options);
    expect(readdirSync(folder).toSorted()).toEqual(["apiserver.crt", "apiserver.key", "ca.crt", "ca.key"]);
    expect(read("apiserver.crt")).toBe(first.serving.certificate);
    expect(read("apiserver.crt").endsWith(first.caCertificate)).toBe(true);
    expect(isSelfMade(read("apiserver.crt"))).toBe(true);
    expect(await ensureServingCertificates(folder, options)).toEqual({ ...first, renewed: "nothing" });
    const later = { ...options, clock: at(start + 336 * dayMs) };
    expect((await ensureServingCertificates(folder, later)).renewed).toBe("serving");
    expect(isSelfMade(read("apiserver.crt"))).toBe(true);
  });

  it("takes no other certificate for one that a server made", async () => {
    const { serving, caCertificate } = await ensure();
    const other = createServingCertificates(["localhost"]);
    const client = issueClientCertificate(
      { certificate: caCertificate, key: read("ca.key") },
      { commonName: "operator", organizations: [], days: 1 },
    );
    const texts = [
      "",
      "no certificate",
      serving.certificate,
      serving.certificate + other.caCertificate,
      client.certificate + caCertificate,
    ];
    expect(texts.map(isSelfMade)).toEqual(texts.map(() => false));
  });

  it.each<readonly [string, number, readonly string[]]>([
    ["it ends within 30 days", start + 336 * dayMs, ["localhost", "::1"]],
    ["a host was added", start, ["localhost", "::1", "other"]],
    ["a host was removed", start, ["localhost"]],
  ])("renews the serving certificate when %s", async (_reason, time, names) => {
    const first = await ensure();
    const second = await ensure(time, names);
    expect(second.renewed).toBe("serving");
    expect(second.caCertificate).toBe(first.caCertificate);
    expect(second.serving.certificate).toBe(read("server.crt"));
    expect((await ensure(time, names)).renewed).toBe("nothing");
  });

  it.each(["server.crt", "server.key"])(
    "renews the serving certificate when %s is missing or broken",
    async (name) => {
      await ensure();
      rmSync(file(name));
      expect((await ensure()).renewed).toBe("serving");
      writeFileSync(file(name), "broken");
      expect((await ensure()).renewed).toBe("serving");
      writeFileSync(file(name), name === "server.crt" ? read("ca.crt") : read("ca.key"));
      expect((await ensure()).renewed).toBe("serving");
    },
  );

  it("makes a new authority when the old one ends, or was half made", async () => {
    const first = await ensure();
    const second = await ensure(start + 3630 * dayMs);
    expect(second.renewed).toBe("authority");
    expect(second.caCertificate).not.toBe(first.caCertificate);
    rmSync(file("ca.crt"));
    expect((await ensure()).renewed).toBe("authority");
  });

  it("needs the authority's key only for renewal", async () => {
    await ensure();
    rmSync(file("ca.key"));
    expect(await ensure()).toMatchObject({ caKey: undefined, renewed: "nothing" });
    await expect(ensure(start, ["other"])).rejects.toThrow(/ca\.key is missing/);
  });

  it("refuses an authority that can't be used", async () => {
    await ensure();
    writeFileSync(file("ca.key"), read("server.key"));
    await expect(ensure(start, ["other"])).rejects.toThrow(/ca\.key is not the key of .*ca\.crt/);
    writeFileSync(file("ca.crt"), "nonsense");
    await expect(ensure()).rejects.toThrow(/ca\.crt doesn't hold a certificate in PEM/);
  });
});

describe("loadCertificateFiles", () => {
  it("gives a pair that belongs together", async () => {
    const made = await ensureServingCertificates(folder, { hosts: ["localhost"] });
    expect(await loadCertificateFiles(file("server.crt"), file("server.key"))).toEqual(made.serving);
  });

  it.each<readonly [string, string, RegExp]>([
    ["missing", "server.key", /missing doesn't exist/],
    ["server.crt", "missing", /missing doesn't exist/],
    ["server.crt", "ca.key", /ca\.key is not the key of .*server\.crt/],
    ["server.key", "server.key", /server\.key doesn't hold a certificate in PEM/],
    ["server.crt", "server.crt", /server\.crt doesn't hold an unencrypted private key in PEM/],
    ["", "server.key", /can't be read: EISDIR/],
  ])("refuses %j with %j", async (certificate, key, message) => {
    await ensureServingCertificates(folder, { hosts: ["localhost"] });
    const loading = loadCertificateFiles(file(certificate), file(key));
    await expect(loading).rejects.toThrow(message);
    await expect(loading).rejects.toBeInstanceOf(CertificateFault);
  });
});
