import { useServer } from "../support/use-server.ts";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll } from "vitest";
import { signCertificate } from "../../src/base/certificates/x509.ts";
import { ok } from "../api/support.ts";
import { newKeys } from "../support/certificate-request.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { decide, outcome, requestObject, requestsPath } from "./certificate-support.ts";

export const minute = 60_000;
export const hour = 60 * minute;
export const certificates = "certificates.platform.io";
const users = ["maker", "approver", "signer", "n1", "bootstrap"];
const rows = users.map((name) => `${name},${name === "n1" ? "system:node:n1" : name},${name},"team"`);
export const certificatePem = (): string => {
  const { publicKey, privateKey } = newKeys();
  const facts = {
    commonName: "a",
    use: "client",
    notBefore: Date.now(),
    notAfter: Date.now() + hour,
  } as const;
  return signCertificate(facts, publicKey, privateKey);
};

/** Starts a server with a token for each user, whose warnings are collected in `lines`. */
export function useCertificateServer() {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());
  const lines: string[] = [];
  const log = {
    info: () => undefined,
    error: () => undefined,
    warn: (facts: object, message: string) => lines.push(`${JSON.stringify(facts)} ${message}`),
  };
  const tokens = path.join(folder.path, "tokens");
  writeFileSync(tokens, rows.join("\n"));
  const server = useServer({ tokenAuthFile: tokens, log });
  /** Makes a request; where it is. */
  async function make(asked: Parameters<typeof requestObject>[0] = {}, as = server.admin): Promise<string> {
    const object = requestObject(asked);
    await ok(as.post(requestsPath, object));
    return `${requestsPath}/${object.metadata.name}`;
  }

  /** Waits until the controllers have seen everything that was written before. */
  const seenByControllers = async () => {
    const at = await make();
    await ok(decide(server.admin, at, "Approved"));
    await outcome(server.admin, at);
  };
  return { folder, lines, tokens, server, make, seenByControllers };
}
