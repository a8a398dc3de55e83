import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  certificateRequestFault,
  certificatesFault,
  requestedCertificate,
} from "../../src/base/certificates/certificate-request.ts";
import { signCertificate } from "../../src/base/certificates/x509.ts";
import * as der from "../../src/base/certificates/der.ts";
import { certificateRequest, newKeys, subjectAltNames } from "../support/certificate-request.ts";

describe("certificateRequestFault", () => {
  it.each([
    ["an elliptic curve", newKeys()],
    ["RSA", generateKeyPairSync("rsa", { modulusLength: 2048 })],
  ])("accepts a request signed with %s", (_title, keys) => {
    expect(certificateRequestFault(certificateRequest("alice", keys))).toBeUndefined();
  });

  it("accepts a request behind other text", () => {
    expect(certificateRequestFault(`some words\n${certificateRequest("alice")}`)).toBeUndefined();
  });

  it("accepts a request with other attributes than extensions, such as a challenge password", () => {
    const password = der.sequence(
      der.objectIdentifier("1.2.840.113549.1.9.7"),
      der.set(der.utf8String("secret")),
    );
    const flaws = { attributes: [password], extensions: [subjectAltNames("DNS:a")] };
    const request = certificateRequest("alice", newKeys(), flaws);
    expect(certificateRequestFault(request)).toBeUndefined();
    expect(requestedCertificate(request).alternativeNames.dnsNames).toEqual(["a"]);
  });

  const good = certificateRequest("alice");
  const body = good.split("\n").slice(1, -2).join("");
  const bytes = Buffer.from(body, "base64");
  const pem = (content: Buffer) =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${content.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
  const changed = Buffer.from(bytes);
  changed[bytes.indexOf("alice")] = "A".charCodeAt(0);

  it.each([
    ["an empty text", "", /must be CERTIFICATE REQUEST/],
    [
      "a PEM block of another type",
      certificateRequest("alice", newKeys(), { pemType: "CERTIFICATE" }),
      /must be CERTIFICATE REQUEST/,
    ],
    [
      "a valid request behind one with malformed Base64",
      `${pem(Buffer.of(1)).replace("=", "!")}${good}`,
      /not a well-formed/,
    ],
    [
      "a valid request behind a certificate",
      certificateRequest("a", newKeys(), { pemType: "CERTIFICATE" }) + good,
      /must be/,
    ],
    ["content that is not DER", pem(Buffer.from("hello")), /not a well-formed/],
    ["truncated DER", pem(bytes.subarray(0, 60)), /not a well-formed/],
    ["trailing bytes after the request", pem(Buffer.concat([bytes, bytes])), /not a well-formed/],
    ["a length beyond the content", pem(Buffer.from("30ffffffffff", "hex")), /not a well-formed/],
    [
      "a signature of another key",
      certificateRequest("alice", newKeys(), { signer: newKeys().privateKey }),
      /signature/,
    ],
    [
      "an organization with characters that its string type doesn't allow",
      certificateRequest("alice", newKeys(), { organizations: [der.element(0x12, Buffer.from("a"))] }),
      /attribute 0 of the subject is not a valid NumericString/,
    ],
    [
      "a subjectAltName with non-ASCII characters",
      certificateRequest("alice", newKeys(), { extensions: [subjectAltNames("DNS:\xe9")] }),
      /not a well-formed/,
    ],
    ["a name changed after signing", pem(changed), /signature/],
  ])("rejects %s", (_title, text, message) => {
    expect(certificateRequestFault(text)).toMatch(message);
  });
});

describe("certificatesFault", () => {
  const keys = newKeys();
  const certificate = signCertificate(
    { commonName: "one", use: "client", notBefore: 0, notAfter: 1e12 },
    keys.publicKey,
    keys.privateKey,
  );
  it("accepts one or more certificates", () => {
    expect(certificatesFault(certificate)).toBeUndefined();
    expect(certificatesFault(certificate + certificate)).toBeUndefined();
  });
  it.each([
    ["an empty text", "", /at least one/],
    ["a PEM block of another type", certificateRequest("alice"), /only CERTIFICATE/],
    [
      "a PEM block with headers",
      certificate.replace("-----\n", "-----\nProc-Type: 4\n\n"),
      /no PEM block headers/,
    ],
    [
      "content that is not a certificate",
      "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n",
      /is no certificate/,
    ],
  ])("rejects %s", (_title, text, message) => {
    expect(certificatesFault(text)).toMatch(message);
  });
});
