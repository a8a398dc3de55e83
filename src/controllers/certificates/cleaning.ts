import { X509Certificate } from "node:crypto";
import { certificatesIn } from "../../base/certificates/pem.ts";
import { CertificateSigningRequest } from "../../kinds/certificates/certificate-signing-request.ts";
import { unlessRaced } from "../../resources/clients/races.ts";
import type { Controller } from "../controller.ts";
import {
  conditionOf,
  issuedCertificate,
  reconcileRequests,
  type RequestCondition,
  type RequestDependencies,
} from "./requests.ts";

const hourMs = 3_600_000;
/** Time for which an approved, denied or failed request is kept. */
const decidedMs = hourMs;
const pendingMs = 24 * hourMs;

/** Deletes old certificate requests, and those whose certificate has expired (spec: conventions 3.2). */
export const certificateCleaning: Controller<RequestDependencies> = {
  name: "csrcleaner",
  start(context) {
    const { client, clock } = context;
    return reconcileRequests(context, this.name, async (request) => {
      const leftMs = deletionTime(request) - clock.now();
      if (leftMs > 0) return leftMs;
      const { apiVersion, kind, metadata } = request;
      const { name = "", uid = "", resourceVersion = "" } = metadata;
      await unlessRaced(() => client.delete({ apiVersion, kind, name }, { uid, resourceVersion }));
      return undefined;
    });
  },
};

/**
 * Returns when a request must be deleted, in milliseconds since 1970: an hour after it was approved, denied or failed,
 * or a day after its creation without a decision; in any case when its certificate expires.
 */
function deletionTime(request: CertificateSigningRequest): number {
  // Failed is checked first, because it is added to an approved request.
  const decision =
    conditionOf(request, "Failed") ?? conditionOf(request, "Denied") ?? conditionOf(request, "Approved");
  const createdMs = timeOf(request.metadata.creationTimestamp);
  const deadline =
    decision === undefined ? createdMs + pendingMs : (decisionTime(decision) ?? createdMs) + decidedMs;
  return Math.min(deadline, expiryOf(request));
}

function decisionTime({ lastUpdateTime, lastTransitionTime }: RequestCondition): number | undefined {
  const time = lastUpdateTime ?? lastTransitionTime;
  return typeof time === "string" ? timeOf(time) : undefined;
}

function timeOf(text: string | null | undefined): number {
  return Date.parse(text ?? "");
}

/** Returns when the issued certificate expires; Infinity if there is none or it can't be parsed. */
function expiryOf(request: CertificateSigningRequest): number {
  const [first] = certificatesIn(issuedCertificate(request) ?? "");
  if (first === undefined) return Infinity;
  try {
    return Date.parse(new X509Certificate(first).validTo);
  } catch {
    // Another signer wrote it; the deadline of the request still applies.
    return Infinity;
  }
}
