import { X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { AuthorityPool } from "../../src/authentication/authority-pool.ts";
import { ClientCertificateVerifier } from "../../src/authentication/presented-certificate.ts";
import { ManualClock } from "../api/support.ts";
import { certificate, request } from "./support.ts";

/** A pool of authorities that counts how often it verifies a chain. */
class CountingPool extends AuthorityPool {
  verified = 0;

  override isTrusted(chain: readonly Buffer[], nowMs: number): boolean {
    this.verified++;
    return super.isTrusted(chain, nowMs);
  }
}

async function subject() {
  const der = await certificate([{ CN: ["alice"] }]);
  const pool = new CountingPool([new X509Certificate(der).toString()]);
  const clock = new ManualClock();
  await clock.advance(Date.parse("2030-06-01T00:00:00Z") - clock.now());
  return { der, pool, clock, verifier: new ClientCertificateVerifier(pool, clock) };
}

test("a request without a certificate is not trusted, and no chain is verified", async () => {
  const { pool, verifier } = await subject();
  expect(verifier.isTrusted(request({}))).toBe(false);
  expect(pool.verified).toBe(0);
});

test("the verification of a chain is repeated after a minute", async () => {
  const { der, pool, clock, verifier } = await subject();
  const credentials = request({ certificate: der });
  expect(verifier.isTrusted(credentials)).toBe(true);
  await clock.advance(59_999);
  expect(verifier.isTrusted(credentials)).toBe(true);
  expect(pool.verified).toBe(1);
  await clock.advance(1);
  expect(verifier.isTrusted(credentials)).toBe(true);
  expect(pool.verified).toBe(2);
});

test("the verification of a chain is repeated when the authorities change", async () => {
  const { der, pool, verifier } = await subject();
  const credentials = request({ certificate: der });
  expect(verifier.isTrusted(credentials)).toBe(true);
  pool.replace([]);
  expect(verifier.isTrusted(credentials)).toBe(false);
  expect(pool.verified).toBe(2);
});
