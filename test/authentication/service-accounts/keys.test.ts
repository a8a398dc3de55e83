import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  KeyFault,
  toVerificationKey,
  readPublicKeys,
  readSigningKey,
} from "../../../src/authentication/service-accounts/keys.ts";
import { createAuthority } from "../../../src/base/certificates/serving-certificates.ts";
import { ec, privatePem, publicPem, rsa } from "../jwt-support.ts";

const pair = rsa();
const curve = ec();

describe("keys of service accounts' tokens", () => {
  it.each([
    ["an RSA public key", publicPem(pair.publicKey)],
    ["an RSA public key alone", pair.publicKey.export({ type: "pkcs1", format: "pem" }).toString()],
    ["an RSA private key", privatePem(pair.privateKey)],
    ["an RSA private key alone", pair.privateKey.export({ type: "pkcs1", format: "pem" }).toString()],
  ])("C-5.5-02 %s verifies", (_what, pem) => {
    const [key, ...more] = readPublicKeys(pem);
    expect(more).toEqual([]);
    expect(key).toMatchObject({ id: readPublicKeys(publicPem(pair.publicKey))[0]!.id });
    expect(key!.key.type).toBe("public");
    expect(key!.algorithms).toContain("RS256");
  });

  it.each([
    ["prime256v1", "ES256"],
    ["secp384r1", "ES384"],
    ["secp521r1", "ES512"],
  ])("C-5.5-02 an ECDSA key of curve %s verifies %s alone", (name, algorithm) => {
    const { publicKey, privateKey } = ec(name);
    expect(readPublicKeys(publicPem(publicKey))[0]!.algorithms).toEqual([algorithm]);
    const old = privateKey.export({ type: "sec1", format: "pem" }).toString();
    expect(readPublicKeys(old)[0]!.algorithms).toEqual([algorithm]);
  });

  it("C-5.5-02 a file may hold several keys, among other things, and certificates", () => {
    const parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
    const { certificate } = createAuthority();
    const text = `# keys\n${parameters}${privatePem(curve.privateKey)}\n${publicPem(pair.publicKey)}${certificate}`;
    expect(readPublicKeys(text).map(({ algorithms }) => algorithms[0])).toEqual(["ES256", "RS256", "ES256"]);
  });

  it("C-5.5-02 rejects files without a supported key, and short keys", () => {
    const ed = generateKeyPairSync("ed25519");
    expect(() => readPublicKeys("")).toThrow(KeyFault);
    expect(() => readPublicKeys(publicPem(ed.publicKey))).toThrow("contains no RSA or ECDSA key in PEM");
    const short = generateKeyPairSync("rsa", { modulusLength: 1024 });
    expect(() => readPublicKeys(publicPem(short.publicKey))).toThrow("1024 bits");
    expect(() => readSigningKey(privatePem(short.privateKey))).toThrow("1024 bits");
    expect(() => readSigningKey(publicPem(pair.publicKey))).toThrow("private key");
    expect(() => readSigningKey(privatePem(ed.privateKey))).toThrow("private key");
    const locked = curve.privateKey
      .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" })
      .toString();
    expect(() => readSigningKey(locked)).toThrow("unencrypted");
  });

  it("a signing key has the id of its public key", () => {
    const key = readSigningKey(privatePem(curve.privateKey));
    expect(toVerificationKey(key)).toMatchObject({ id: key.id, algorithms: ["ES256"] });
    expect(key.id).toMatch(/^[\w-]{43}$/);
  });
});
