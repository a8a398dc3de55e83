import { generateKeyPairSync } from "node:crypto";
import {
  certificateRequestFault,
  certificatesFault,
  requestedCertificate,
} from "../../../src/base/certificates/certificate-request.ts";
import { readElements } from "../../../src/base/certificates/der.ts";
import { privateKeyOf } from "../../../src/base/certificates/private-key.ts";
import { certificatesIn, pemBlocks, pemOf } from "../../../src/base/certificates/pem.ts";
import { createAuthority } from "../../../src/base/certificates/serving-certificates.ts";
import { readSubject, SubjectFault } from "../../../src/base/certificates/subject-name.ts";
import {
  KeyFault,
  readPublicKeys,
  readSigningKey,
} from "../../../src/authentication/service-accounts/keys.ts";
import { certificateRequest } from "../../support/certificate-request.ts";
import { attempt, textOf, type Target } from "../target.ts";

/** PEM texts: each block, written again, is the same block. */
export const pemTarget: Target = {
  name: "pem",
  files: ["src/base/certificates/pem.ts"],
  seeds: [
    pemOf("CERTIFICATE", Buffer.from("content")),
    `text\n-----BEGIN A-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: x\n\neA==\n-----END A-----\n${pemOf("B", Buffer.alloc(60))}`,
  ],
  dictionary: ["-----BEGIN ", "-----END ", "-----", "\n", "A: b\n", "eA==", "=", "\r\n"],
  run(bytes) {
    const text = textOf(bytes);
    certificatesIn(text);
    for (const { label, content } of pemBlocks(text)) {
      if (content === undefined) continue;
      const [again] = pemBlocks(pemOf(label, content));
      if (again?.label !== label || !again.content!.equals(content))
        throw new Error("a block written again differs");
    }
  },
};

/** The DER elements of certificate requests; the first byte selects the decoder. */
export const certificateRequestTarget: Target = {
  name: "certificate-request",
  files: [
    "src/base/certificates/alternative-names.ts",
    "src/base/certificates/certificate-request.ts",
    "src/base/certificates/der.ts",
    "src/base/certificates/subject-name.ts",
  ],
  seeds: [
    pemBlocks(certificateRequest("user"))[0]!.content!,
    Buffer.from("300e310c300a06035504030c036e6f64", "hex"),
    Buffer.from("310c300a06035504030c036e6f64", "hex"),
  ],
  dictionary: ["\x30\x82", "\x31\x0c", "\x06\x03\x55\x04\x03", "\x0c\x03", "\x1e\x02", "\x30\x80"],
  run(bytes) {
    const der = Buffer.from(bytes);
    attempt(() => readElements(der), RangeError);
    attempt(() => readSubject(der), SubjectFault);
    const pem = pemOf("CERTIFICATE REQUEST", der);
    const fault = certificateRequestFault(pem);
    if (fault === undefined) requestedCertificate(pem);
    certificatesFault(pemOf("CERTIFICATE", der));
  },
};

const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

/** Files with keys of service account tokens, and private keys of clients. */
export const keyTarget: Target = {
  name: "key",
  files: ["src/authentication/service-accounts/keys.ts", "src/base/certificates/private-key.ts"],
  seeds: [
    publicKey.export({ type: "spki", format: "pem" }),
    privateKey.export({ type: "pkcs8", format: "pem" }),
    createAuthority().certificate,
  ],
  dictionary: ["-----BEGIN PUBLIC KEY-----\n", "-----END PUBLIC KEY-----\n", "RSA ", "EC ", "\n"],
  run(bytes) {
    attempt(() => readPublicKeys(textOf(bytes)), KeyFault);
    attempt(() => readSigningKey(textOf(bytes)), KeyFault);
    privateKeyOf(textOf(bytes));
  },
};
