import { describe, expect, it } from "vitest";
import { createHash, X509Certificate } from "node:crypto";
import type { Clock } from "../../src/base/time/clock.ts";
import { AuthorityPool } from "../../src/authentication/authority-pool.ts";
import {
  ClientCertificateAuthenticator,
  type CertificateFeatures,
} from "../../src/authentication/client-certificate.ts";
import { ClientCertificateVerifier } from "../../src/authentication/presented-certificate.ts";
import * as der from "../../src/base/certificates/der.ts";
import { signBody } from "../../src/base/certificates/x509.ts";
import { newKeys } from "../support/certificate-request.ts";
import { certificate, request, stoppedClock } from "./support.ts";

/** The method, with these certificates as those of authorities. */
function methodFor(clock: Clock, ...known: readonly Buffer[]): ClientCertificateAuthenticator {
  return new ClientCertificateAuthenticator(verifierFor(clock, ...known));
}

function verifierFor(clock: Clock, ...known: readonly Buffer[]): ClientCertificateVerifier {
  const pool = new AuthorityPool(known.map((der) => new X509Certificate(der).toString()));
  return new ClientCertificateVerifier(pool, clock);
}

const clientAuth = "1.3.6.1.5.5.7.3.2";
const serverAuth = "1.3.6.1.5.5.7.3.1";
const midYear = "2030-06-01T00:00:00Z";

describe("client certificates", () => {
  it("C-5.1-02 C-5.1-03 common name is the user, each organization a group", async () => {
    const der = await certificate(
      [{ CN: ["alice"] }, { O: ["dev"] }, { O: ["ops, east"] }, { OU: ["unit"] }],
      [clientAuth],
    );
    const result = methodFor(stoppedClock(midYear), der).authenticate(request({ certificate: der }));
    expect(result).toEqual({
      user: { name: "alice", uid: "", groups: ["dev", "ops, east"], extra: {} },
      method: "client-certificate",
      cacheable: false,
    });
  });

  it("has the identifier of the certificate and of the user from the releases on that read them", async () => {
    const uid = { "1.3.6.1.4.1.57683.2": ["u-1"] };
    const der = await certificate([{ CN: ["alice"] }, uid], [clientAuth]);
    const verifier = verifierFor(stoppedClock(midYear), der);
    const userOf = (features?: CertificateFeatures) =>
      new ClientCertificateAuthenticator(verifier, features).authenticate(request({ certificate: der }))
        ?.user;
    expect(userOf()).toEqual({ name: "alice", uid: "", groups: [], extra: {} });
    const id = `X509SHA256=${createHash("sha256").update(der).digest("hex")}`;
    const features = { credentialIdKey: "example.io/credential-id", readsUid: true };
    const expected = { name: "alice", uid: "u-1", groups: [], extra: { "example.io/credential-id": [id] } };
    expect(userOf(features)).toEqual(expected);
  });

  it.each([
    ["several", [["u-1"], ["u-2"]], "its subject has several unique identifiers of the user"],
    ["an empty", [[""]], "the unique identifier of the user in its subject is empty"],
  ])("is refused with %s unique identifier", async (_, uids, message) => {
    const der = await certificate([
      { CN: ["alice"] },
      ...uids.map((uid) => ({ "1.3.6.1.4.1.57683.2": uid })),
    ]);
    const verifier = verifierFor(stoppedClock(midYear), der);
    const method = new ClientCertificateAuthenticator(verifier, { readsUid: true });
    expect(() => method.authenticate(request({ certificate: der }))).toThrow(message);
  });

  it("C-5.1-03 organizations in one multi-valued part of the subject", async () => {
    const der = await certificate([{ CN: ["system:node:a"], O: ["x", "y"] }]);
    const result = methodFor(stoppedClock(midYear), der).authenticate(request({ certificate: der }));
    expect(result?.user).toMatchObject({ name: "system:node:a", groups: ["x", "y"] });
  });

  it("C-5.1-03 no organization, no group; no common name, no user; no certificate, no answer", async () => {
    const [bob, nobody] = [await certificate([{ CN: ["bob"] }]), await certificate([{ O: ["dev"] }])];
    const method = methodFor(stoppedClock(midYear), bob, nobody);
    expect(method.authenticate(request({ certificate: bob }))?.user.groups).toEqual([]);
    expect(method.authenticate(request({ certificate: nobody }))).toBeUndefined();
    expect(method.authenticate(request({}))).toBeUndefined();
  });

  it("C-5.1-02 an unverified chain returns 401", () => {
    const method = methodFor(stoppedClock(midYear));
    const refused = () => method.authenticate(request({ certificateError: "SELF_SIGNED_CERT_IN_CHAIN" }));
    expect(refused).toThrow(
      expect.objectContaining({ code: 401, message: expect.stringContaining("SELF_SIGNED") }),
    );
  });

  it("C-5.1-02 validity is checked on every request", async () => {
    const clock = stoppedClock("2029-12-31T00:00:00Z");
    const alice = await certificate([{ CN: ["alice"] }]);
    const method = methodFor(clock, alice);
    const credentials = request({ certificate: alice });
    expect(() => method.authenticate(credentials)).toThrow("not valid yet");
    clock.set(midYear);
    expect(method.authenticate(credentials)?.user.name).toBe("alice");
    clock.set("2031-01-01T00:00:01Z");
    expect(() => method.authenticate(credentials)).toThrow(expect.objectContaining({ code: 401 }));
  });

  it.each([
    ["none named", undefined, true],
    ["client auth", [clientAuth], true],
    ["any", ["2.5.29.37.0"], true],
    ["server auth only", [serverAuth], false],
  ])("C-5.1-02 key usage: %s", async (_what, usages, accepted) => {
    const alice = await certificate([{ CN: ["alice"] }], usages);
    const method = methodFor(stoppedClock(midYear), alice);
    const credentials = request({ certificate: alice });
    if (accepted) expect(method.authenticate(credentials)?.user.name).toBe("alice");
    else expect(() => method.authenticate(credentials)).toThrow("client auth");
  });

  it.each([
    ["a NumericString of letters", 0x12, "dev:"],
    ["a UniversalString", 0x1c, "\0\0\0d"],
    ["text with NUL", 0x0c, "dev\0"],
  ])(
    "C-5.1-03 the authenticator refuses a certificate when its organization is %s",
    (_what, tag, content) => {
      const { publicKey, privateKey } = newKeys();
      const organization = der.sequence(
        der.objectIdentifier("2.5.4.10"),
        der.element(tag, Buffer.from(content)),
      );
      const pem = signBody(
        {
          subject: der.sequence(der.set(organization)),
          publicKeyInfo: publicKey.export({ type: "spki", format: "der" }),
          notBefore: Date.parse("2030-01-01T00:00:00Z"),
          notAfter: Date.parse("2031-01-01T00:00:00Z"),
          extensions: [],
        },
        privateKey,
        undefined,
      );
      const { raw } = new X509Certificate(pem);
      const method = methodFor(stoppedClock(midYear), raw);
      expect(() => method.authenticate(request({ certificate: raw }))).toThrow(
        expect.objectContaining({
          code: 401,
          message: expect.stringContaining("attribute 0 of the subject"),
        }),
      );
    },
  );

  it("C-5.1-02 an unreadable certificate returns 401", () => {
    const method = methodFor(stoppedClock(midYear));
    expect(() => method.authenticate(request({ certificate: Buffer.from("x") }))).toThrow(
      expect.objectContaining({ code: 401 }),
    );
  });
});
