import { useServer } from "../support/use-server.ts";
import { type X509Certificate } from "node:crypto";
import { afterAll, expect } from "vitest";
import * as der from "../../src/base/certificates/der.ts";
import { extension } from "../../src/base/certificates/x509.ts";
import { ok } from "../api/support.ts";
import { CertificateSigningRequest } from "../../src/kinds/certificates/certificate-signing-request.ts";
import { keyOf } from "../../src/resources/registry/registry.ts";
import { decodeEntry, encodeObject } from "../../src/resources/objects/stored.ts";
import { engineOf } from "../support/api.ts";
import { subjectAltNames } from "../support/certificate-request.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import {
  decide,
  extensionKey,
  nodeClient,
  outcome,
  requestObject,
  requestsPath,
  type Asked,
} from "./certificate-support.ts";

export const year = 365 * 24 * 3600;
export const key = {
  keyUsage: extensionKey("2.5.29.15"),
  extendedKeyUsage: extensionKey("2.5.29.37"),
  subjectAltName: extensionKey("2.5.29.17"),
  basicConstraints: extensionKey("2.5.29.19"),
  odd: extensionKey("1.2.3.4"),
};
export const servingRequest = {
  ...nodeClient,
  signerName: "platform.io/agent-serving",
  usages: ["key encipherment", "digital signature", "server auth"],
  extensions: [subjectAltNames("DNS:n1.example.com", "IP:0a000001")],
};

/** Asks to be an authority, and for an extension that no signer knows. */
export const greedy = [
  extension("2.5.29.19", true, der.sequence(der.boolean(true))),
  extension("1.2.3.4", false, der.octetString(Buffer.of(1))),
];

export function expectNoAuthority(certificate: X509Certificate): void {
  expect(certificate.ca).toBe(false);
}

/** How long it holds from now on, in seconds; up to a minute may have passed. */
export function expectLife(certificate: X509Certificate, seconds: number): void {
  const left = (Date.parse(certificate.validTo) - Date.now()) / 1000;
  expect(left).toBeLessThanOrEqual(seconds);
  expect(left).toBeGreaterThan(seconds - 60);
}

/** Starts a server whose controllers sign certificates. */
export function useSigner() {
  const folder = temporaryFolder();
  const server = useServer();
  afterAll(() => folder.remove());
  /** Makes a request, approves it, and gives what became of it. */
  async function approved(asked: Asked) {
    const object = requestObject(asked);
    const at = `${requestsPath}/${object.metadata.name}`;
    await ok(server.admin.post(requestsPath, object));
    await ok(decide(server.admin, at, "Approved"));
    return outcome(server.admin, at);
  }

  async function issued(asked: Asked) {
    const became = await approved(asked);
    return became.issued ?? expect.unreachable(JSON.stringify(became.failed));
  }

  async function failure(asked: Asked) {
    const became = await approved(asked);
    return became.failed ?? expect.unreachable("it was issued");
  }

  /** Whether a request stays without condition and certificate while the controllers see to it. */
  async function staysPending(asked: Asked): Promise<void> {
    const object = requestObject(asked);
    await ok(server.admin.post(requestsPath, object));
    // One that is approved afterwards has gone the same way through the controllers.
    await issued({});
    expect((await server.admin.get(`${requestsPath}/${object.metadata.name}`)).body.status).toEqual({});
  }

  /** Changes the spec of a stored request behind the API's back. */
  async function rewriteSpec(
    name: string,
    change: Partial<CertificateSigningRequest["spec"]>,
  ): Promise<void> {
    const { store, registry } = engineOf(server);
    const resource = registry.require(CertificateSigningRequest);
    const key = keyOf(resource, "", name);
    const { revision: expected, ...entry } = (await store.get(key))!;
    const stored = decodeEntry({ ...entry, revision: expected }) as CertificateSigningRequest;
    const changed = { ...stored, spec: { ...stored.spec, ...change } };
    await store.commit({ kind: "update", key, expected, draft: encodeObject(resource, changed) });
  }

  /** What the signer makes of a lifetime: the smaller of what is asked for and a year. */
  async function expectLifetimes(asked: Asked): Promise<void> {
    expectLife((await issued({ ...asked, expirationSeconds: 600 })).certificate, 600);
    for (const expirationSeconds of [undefined, year, 2 * year]) {
      const more = expirationSeconds === undefined ? {} : { expirationSeconds };
      // Longer lifetimes count from the beginning, which is five minutes ago.
      expect((await issued({ ...asked, ...more })).lifeSeconds).toBe(year);
    }
  }

  return { folder, server, issued, failure, staysPending, rewriteSpec, expectLifetimes };
}
