import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  certificateRequestFault,
  certificatesFault,
} from "../../src/base/certificates/certificate-request.ts";
import { signCertificate } from "../../src/base/certificates/x509.ts";
import * as der from "../../src/base/certificates/der.ts";
import { certificateRequest, newKeys, subjectAltNames } from "../support/certificate-request.ts";

describe("certificate requests", () => {
  it.each([
    ["an elliptic curve", newKeys()],
    ["RSA", generateKeyPairSync("rsa", { modulusLength: 2048 })],
  ])("signed with %s are right", (_title, keys) => {
    expect(certificateRequestFault(certificateRequest("alice", keys))).toBeUndefined();
  });

  it("behind other text is right", () => {
    expect(certificateRequestFault(`some words\n${certificateRequest("alice")}`)).toBeUndefined();
  });

  const good = certificateRequest("alice");
  const body = good.split("\n").slice(1, -2).join("");
  const bytes = Buffer.from(body, "base64");
  const pem = (content: Buffer) =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${content.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
  const changed = Buffer.from(bytes);
  changed[bytes.indexOf("alice")] = "A".charCodeAt(0);

  it.each([
    ["nothing", "", /must be CERTIFICATE REQUEST/],
    [
      "another type",
      certificateRequest("alice", newKeys(), { pemType: "CERTIFICATE" }),
      /must be CERTIFICATE REQUEST/,
    ],
    [
      "a good one behind another that isn't Base64",
      `${pem(Buffer.of(1)).replace("=", "!")}${good}`,
      /not a well-formed/,
    ],
    [
      "a good one behind a certificate",
      certificateRequest("a", newKeys(), { pemType: "CERTIFICATE" }) + good,
      /must be/,
    ],
    ["no DER", pem(Buffer.from("hello")), /not a well-formed/],
    ["cut DER", pem(bytes.subarray(0, 60)), /not a well-formed/],
    ["more after it", pem(Buffer.concat([bytes, bytes])), /not a well-formed/],
    ["a length that lies", pem(Buffer.from("30ffffffffff", "hex")), /not a well-formed/],
    [
      "another's signature",
      certificateRequest("alice", newKeys(), { signer: newKeys().privateKey }),
      /signature/,
    ],
    [
      "an organization that its type doesn't allow",
      certificateRequest("alice", newKeys(), { organizations: [der.element(0x12, Buffer.from("a"))] }),
      /attribute 0 of the subject is not a valid NumericString/,
    ],
    [
      "a subjectAltName beyond ASCII",
      certificateRequest("alice", newKeys(), { extensions: [subjectAltNames("DNS:\xe9")] }),
      /not a well-formed/,
    ],
    ["another name than was signed", pem(changed), /signature/],
  ])("%s is refused", (_title, text, message) => {
    expect(certificateRequestFault(text)).toMatch(message);
  });
});

describe("certificates", () => {
  const keys = newKeys();
  const certificate = signCertificate(
    { commonName: "one", use: "client", notBefore: 0, notAfter: 1e12 },
    keys.publicKey,
    keys.privateKey,
  );
  it("one or more are right", () => {
    expect(certificatesFault(certificate)).toBeUndefined();
    expect(certificatesFault(certificate + certificate)).toBeUndefined();
  });
  it.each([
    ["nothing", "", /at least one/],
    ["another block", certificateRequest("alice"), /only CERTIFICATE/],
    ["headers", certificate.replace("-----\n", "-----\nProc-Type: 4\n\n"), /no PEM block headers/],
    [
      "no certificate",
      "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n",
      /is no certificate/,
    ],
  ])("%s is refused", (_title, text, message) => {
    expect(certificatesFault(text)).toMatch(message);
  });
});
