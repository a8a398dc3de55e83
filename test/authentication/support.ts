import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import type { Clock } from "../../src/base/time/clock.ts";
import type { Credentials } from "../../src/authentication/authenticator.ts";

/** A request that brings along what is given, and nothing else. */
export function request(given: Partial<Credentials>): Credentials {
  return { authorization: undefined, certificate: undefined, remoteAddress: "192.0.2.1", ...given };
}

export const bearer = (token: string): Credentials => request({ authorization: `Bearer ${token}` });

/** A clock that stands still until it is set. */
export function stoppedClock(now: string): Clock & { set(now: string): void } {
  let nowMs = Date.parse(now);
  return {
    now: () => nowMs,
    monotonicNow: () => nowMs,
    setTimer: () => ({ cancel: () => undefined }),
    set: (next) => void (nowMs = Date.parse(next)),
  };
}

/** A self-signed certificate of the year 2030, in DER. */
export async function certificate(subject: x509.JsonName, usages?: readonly string[]): Promise<Buffer> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: "01",
    name: subject,
    notBefore: new Date("2030-01-01T00:00:00Z"),
    notAfter: new Date("2031-01-01T00:00:00Z"),
    signingAlgorithm: algorithm,
    keys,
    extensions: usages === undefined ? [] : [new x509.ExtendedKeyUsageExtension([...usages])],
  });
  return Buffer.from(made.rawData);
}
