import { X509Certificate } from "node:crypto";
import { expect } from "vitest";
import * as der from "../../src/base/certificates/der.ts";
import { certificateRequest, newKeys } from "../support/certificate-request.ts";
import type { Answer, Api } from "../support/api.ts";

export const requestsPath = "/apis/certificates.platform.io/v1/certificatesigningrequests";

export const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** What a test asks a certificate for. */
export interface Asked {
  readonly name?: string;
  readonly commonName?: string;
  readonly organizations?: readonly string[];
  readonly uid?: string;
  readonly extensions?: readonly Buffer[];
  readonly keys?: ReturnType<typeof newKeys>;
  readonly signerName?: string;
  readonly usages?: readonly string[];
  readonly expirationSeconds?: number;
}

let made = 0;

/** A certificate request of a client of the API, but for what is asked otherwise. */
export function requestObject(asked: Asked = {}) {
  const { commonName = "alice", organizations = [], uid, extensions = [], keys = newKeys() } = asked;
  const texts = organizations.map((one) => der.utf8String(one));
  const request = base64(certificateRequest(commonName, keys, { organizations: texts, uid, extensions }));
  const { signerName = "platform.io/apiserver-client", usages = ["client auth"], expirationSeconds } = asked;
  const { name = `request-${++made}` } = asked;
  return {
    apiVersion: "certificates.platform.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: {
      request,
      signerName,
      usages: [...usages],
      ...(expirationSeconds === undefined ? {} : { expirationSeconds }),
    },
  };
}

/** A node agent's request, for its client certificate. */
export const nodeClient = {
  commonName: "system:node:n1",
  organizations: ["system:nodes"],
  signerName: "platform.io/apiserver-client-agent",
  usages: ["key encipherment", "digital signature", "client auth"],
};

/** A certificate as these tests look at it. */
export interface Seen {
  readonly certificate: X509Certificate;
  readonly pem: string;
  /** Identifiers of its extensions, and their values in hexadecimal. */
  readonly extensions: ReadonlyMap<string, string>;
  /** From the beginning to the end, in seconds. */
  readonly lifeSeconds: number;
}

export function seen(pem: string): Seen {
  const certificate = new X509Certificate(pem);
  const [body] = der.readElements(der.readElements(certificate.raw)[0]!.content);
  const wrapper = der.readElements(body!.content).find(({ tag }) => tag === 0xa3)!;
  const list = der.readElements(der.readElements(wrapper.content)[0]!.content);
  const extensions = new Map(
    list.map(({ content }) => {
      const parts = der.readElements(content);
      return [parts[0]!.whole.toString("hex"), parts.at(-1)!.content.toString("hex")];
    }),
  );
  const lifeSeconds = (Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)) / 1000;
  return { certificate, pem, extensions, lifeSeconds };
}

/** The hexadecimal key of an extension in {@link Seen.extensions}. */
export const extensionKey = (id: string): string => der.objectIdentifier(id).toString("hex");

/** Decides about a request through its approval subresource, unless a controller has decided the same before. */
export async function decide(api: Api, path: string, type: "Approved" | "Denied"): Promise<Answer> {
  const answer = await api.get(path);
  const { body } = answer;
  const conditions: { type: string }[] = body.status.conditions ?? [];
  if (conditions.some((one) => one.type === type)) return answer;
  const condition = { type, status: "True", reason: "Test", message: "by a test" };
  const status = { ...body.status, conditions: [...conditions, condition] };
  const written = await api.put(`${path}/approval`, { ...body, status });
  return written.status === 409 ? decide(api, path, type) : written;
}

/** What became of a request, as soon as a condition of it or its certificate shows it. */
export async function outcome(
  api: Api,
  path: string,
): Promise<{ issued?: Seen; failed?: { reason: string; message: string } }> {
  for (let attempt = 0; attempt < 400; attempt++) {
    const { status, body } = await api.get(path);
    if (status !== 200) return expect.unreachable(`${path}: ${status}`);
    const { certificate, conditions = [] } = body.status;
    if (certificate !== undefined) return { issued: seen(Buffer.from(certificate, "base64").toString()) };
    const failed = conditions.find((one: { type: string }) => one.type === "Failed");
    if (failed !== undefined) return { failed };
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return expect.unreachable(`nothing became of ${path}`);
}
