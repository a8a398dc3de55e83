import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { AuthorityPool } from "../../src/authentication/authority-pool.ts";
import { signCertificate } from "../../src/base/certificates/x509.ts";
import { authority, client, der, intermediate } from "./pki.ts";

const root = authority();
const other = authority();
const middle = intermediate(root, "middle");
const now = Date.now();
const pool = new AuthorityPool([root.certificate]);

describe("a pool of client CAs", () => {
  it("C-5.1-02 C-5.8-05 trusts only certificates that its CAs signed", () => {
    expect(pool.isTrusted([der(client(root, "a").certificate)], now)).toBe(true);
    expect(pool.isTrusted([der(client(other, "a").certificate)], now)).toBe(false);
    expect(pool.isTrusted([], now)).toBe(false);
    expect(new AuthorityPool([]).isTrusted([der(client(root, "a").certificate)], now)).toBe(false);
  });

  it("C-5.1-02 trusts a chain only with its intermediate certificates", () => {
    const leaf = der(client(middle, "a").certificate);
    expect(pool.isTrusted([leaf, der(middle.certificate)], now)).toBe(true);
    expect(pool.isTrusted([leaf, der(other.certificate), der(middle.certificate)], now)).toBe(true);
    expect(pool.isTrusted([leaf], now)).toBe(false);
    expect(new AuthorityPool([middle.certificate]).isTrusted([leaf], now)).toBe(true);
    expect(new AuthorityPool([other.certificate]).isTrusted([leaf, der(middle.certificate)], now)).toBe(
      false,
    );
  });

  it("does not trust a certificate signed by a non-CA certificate", () => {
    const plain = intermediate(root, "plain", "client");
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
    const facts = {
      commonName: "admin",
      use: "client" as const,
      notBefore: now - 1000,
      notAfter: now + 60_000,
    };
    const forged = signCertificate(facts, publicKey, createPrivateKey(plain.key));
    expect(privateKey.type).toBe("private");
    expect(pool.isTrusted([der(forged), der(plain.certificate)], now)).toBe(false);
  });

  it("does not trust a chain through a CA with the same name and another key", () => {
    const name = "same name";
    const real = intermediate(other, name);
    const leaf = der(client(real, "mallory").certificate);
    // Somebody else's certificate under the same name, which the root really signed: it has another key.
    const homonym = intermediate(root, name);
    expect(new AuthorityPool([other.certificate]).isTrusted([leaf, der(real.certificate)], now)).toBe(true);
    expect(pool.isTrusted([leaf, der(homonym.certificate)], now)).toBe(false);
    expect(pool.isTrusted([leaf, der(real.certificate), der(homonym.certificate)], now)).toBe(false);
  });

  it("does not trust a chain with an expired CA or intermediate certificate", () => {
    const leaf = der(client(middle, "a").certificate);
    const chain = [leaf, der(middle.certificate)];
    expect(pool.isTrusted(chain, now + 2 * 3_600_000)).toBe(false);
    expect(pool.isTrusted([der(client(root, "a").certificate)], now + 20 * 365 * 24 * 3_600_000)).toBe(false);
  });

  it("does not trust certificates of replaced CAs", () => {
    const changing = new AuthorityPool([root.certificate]);
    const leaf = der(client(root, "a").certificate);
    changing.replace([other.certificate]);
    expect([changing.isTrusted([leaf], now), changing.generation]).toEqual([false, 1]);
    expect(changing.certificates).toEqual([other.certificate]);
  });
});
