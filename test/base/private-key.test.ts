import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { objectIdentifier, octetString, sequence, unsignedInteger } from "../../src/base/certificates/der.ts";
import { pemOf } from "../../src/base/certificates/pem.ts";
import { privateKeyOf } from "../../src/base/certificates/private-key.ts";

const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const ed25519 = generateKeyPairSync("ed25519").privateKey;

/** Returns a DSA key (PKCS#8) without its public key, of 2048 bits. */
function dsaKey(): Buffer {
  const [p, x] = [Buffer.alloc(256, 0xff), Buffer.alloc(256, 0x7f)];
  const parameters = sequence(...[p, Buffer.of(0x7f), Buffer.of(3)].map(unsignedInteger));
  const algorithm = sequence(objectIdentifier("1.2.840.10040.4.1"), parameters);
  return sequence(unsignedInteger(Buffer.of(0)), algorithm, octetString(unsignedInteger(x)));
}

/** An RSA key (PKCS#1) whose numbers, also its exponents and primes, have 16384 bits each. */
const longKey = sequence(
  unsignedInteger(Buffer.of(0)),
  ...Array.from({ length: 8 }, () => unsignedInteger(Buffer.alloc(2048, 0xff))),
);

describe("privateKeyOf", () => {
  it.each([
    ["an ECDSA key in PKCS#8", ec.export({ type: "pkcs8", format: "pem" }), "ec"],
    ["an ECDSA key in SEC 1", ec.export({ type: "sec1", format: "pem" }), "ec"],
    ["an RSA key in PKCS#8", rsa.export({ type: "pkcs8", format: "pem" }), "rsa"],
    ["an RSA key in PKCS#1", rsa.export({ type: "pkcs1", format: "pem" }), "rsa"],
    ["an Ed25519 key", ed25519.export({ type: "pkcs8", format: "pem" }), "ed25519"],
  ])("reads %s behind another block", (_title, pem, type) => {
    expect(privateKeyOf(pemOf("OTHER", Buffer.of(1)) + String(pem))?.asymmetricKeyType).toBe(type);
  });

  it.each([
    ["a DSA key", dsaKey(), "PRIVATE KEY"],
    ["a DSA key with another label", dsaKey(), "RSA PRIVATE KEY"],
    ["bytes that aren't DER", Buffer.from("abc"), "PRIVATE KEY"],
    ["bytes after the key", Buffer.concat([dsaKey(), Buffer.of(5, 0)]), "PRIVATE KEY"],
    ["an empty sequence", sequence(), "PRIVATE KEY"],
    ["a key of more than 16 KiB", longKey, "PRIVATE KEY"],
    ["a public key", Buffer.from("abc"), "PUBLIC KEY"],
  ])("rejects %s", (_title, der, label) => {
    expect(privateKeyOf(pemOf(label, der))).toBeUndefined();
  });
});
