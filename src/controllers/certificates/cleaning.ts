import { X509Certificate } from "node:crypto";
import { certificatesIn } from "../../base/pem.ts";
import { CertificateSigningRequest } from "../../kinds/certificates/certificate-signing-request.ts";
import { unlessRaced } from "../../resources/races.ts";
import type { Controller } from "../controller.ts";
import {
  conditionOf,
  issuedCertificate,
  reconcileRequests,
  type RequestCondition,
  type RequestDependencies,
} from "./requests.ts";

const hourMs = 3_600_000;
/** How long a request stays that was approved, denied or failed. */
const decidedMs = hourMs;
const pendingMs = 24 * hourMs;

/** Deletes certificate requests that have had their time, or whose certificate has expired (spec: conventions 3.2). */
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
 * When a request is to be deleted, in milliseconds since 1970: an hour after it was approved, denied or failed, a day after it
 * was made while nobody decided, and in any case when its certificate expires.
 */
function deletionTime(request: CertificateSigningRequest): number {
  // A failure comes last: it changes the state of an approved request.
  const decided =
    conditionOf(request, "Failed") ?? conditionOf(request, "Denied") ?? conditionOf(request, "Approved");
  const made = timeOf(request.metadata.creationTimestamp);
  const deadline = decided === undefined ? made + pendingMs : (decisionTime(decided) ?? made) + decidedMs;
  return Math.min(deadline, expiryOf(request));
}

function decisionTime({ lastUpdateTime, lastTransitionTime }: RequestCondition): number | undefined {
  const time = lastUpdateTime ?? lastTransitionTime;
  return typeof time === "string" ? timeOf(time) : undefined;
}

function timeOf(text: string | null | undefined): number {
  return Date.parse(text ?? "");
}

/** When the issued certificate expires; never where there is none, or none that can be read. */
function expiryOf(request: CertificateSigningRequest): number {
  const [first] = certificatesIn(issuedCertificate(request) ?? "");
  if (first === undefined) return Infinity;
  try {
    return Date.parse(new X509Certificate(first).validTo);
  } catch {
    // What another signer wrote there; its deadline still holds.
    return Infinity;
  }
}
