import { checkPair, type Issuer } from "../../base/certificates.ts";
import type { RequestedCertificate } from "../../base/certificate-request.ts";
import { issueRequested } from "../../base/issued-certificate.ts";
import { CertificateSigningRequest } from "../../kinds/certificates/certificate-signing-request.ts";
import type { Controller, ControllerContext } from "../controller.ts";
import { builtInSigners, type BuiltInSigner } from "./built-in-signers.ts";
import {
  askedBy,
  conditionOf,
  issuedCertificate,
  reconcileRequests,
  withCondition,
  writeStatus,
} from "./requests.ts";

/** Certificates begin in the past by so much, for machines whose clocks are late. */
const backdateMs = 5 * 60_000;
/** Shorter lifetimes count from now; longer ones from the time at which the certificate begins. */
const shortMs = 8 * 3_600_000;
const minLifeMs = 10 * 60_000;
/** Whether there is an authority now is looked at again after this time. */
const noAuthorityMs = 60_000;

/**
 * Signs the approved requests to the built-in signers, by the rules of each (spec: conventions 2.6, 3.2). A request that breaks
 * them gets the condition `Failed`, and a line in the log.
 */
export const certificateSigning: Controller = {
  name: "csrsigning",
  start(context) {
    const signers = builtInSigners(context.registry.vocabulary);
    return reconcileRequests(context, this.name, async (request) => {
      const signer = signers.get(request.spec.signerName);
      if (signer === undefined || !isToBeSigned(request)) return undefined;
      return sign(context, signer, request);
    });
  },
};

function isToBeSigned(request: CertificateSigningRequest): boolean {
  const has = (type: "Approved" | "Denied" | "Failed") => conditionOf(request, type) !== undefined;
  return has("Approved") && !has("Denied") && !has("Failed") && issuedCertificate(request) === undefined;
}

/** Issues the certificate, or says why not; gives after which time to try again. */
async function sign(
  context: ControllerContext,
  signer: BuiltInSigner,
  request: CertificateSigningRequest,
): Promise<number | undefined> {
  const { spec, metadata } = request;
  const asked = askedBy(request);
  const usages = spec.usages ?? [];
  const refusal = signer.refusal(asked, usages);
  if (refusal !== undefined) {
    context.noted(certificateSigning.name, metadata.name!, `${signer.name} doesn't sign: ${refusal}`);
    await writeStatus(
      context,
      request,
      "status",
      withCondition(request, "Failed", "SignerValidationFailure", refusal),
    );
    return undefined;
  }
  const pair = await context.signing.authorityFor(signer.role);
  if (pair === undefined) return noAuthorityMs;
  const issuer = checkPair(pair, "the authority's certificate", "the authority's key");
  const { durationMs } = context.signing;
  const lifeMs = lifetimeMs(spec.expirationSeconds, durationMs);
  const certificate = issue(asked, usages, issuer, { lifeMs, nowMs: context.clock.now() });
  await writeStatus(context, request, "status", { certificate: Buffer.from(certificate).toString("base64") });
  return undefined;
}

/** The smaller of what the request asks for and the default. */
function lifetimeMs(expirationSeconds: number | undefined, durationMs: number): number {
  if (expirationSeconds === undefined) return durationMs;
  return Math.min(Math.max(expirationSeconds * 1000, minLifeMs), durationMs);
}

/** @throws {Error} the authority has expired. */
function issue(
  asked: RequestedCertificate,
  usages: readonly string[],
  issuer: Issuer,
  { lifeMs, nowMs }: { readonly lifeMs: number; readonly nowMs: number },
): string {
  const issuerEnds = Date.parse(issuer.certificate.validTo);
  if (issuerEnds <= nowMs) throw new Error("the authority's certificate has expired");
  const ends = nowMs + lifeMs - (lifeMs < shortMs ? 0 : backdateMs);
  const validity = { notBefore: nowMs - backdateMs, notAfter: Math.min(ends, issuerEnds) };
  return issueRequested(asked, { usages, ...validity }, issuer);
}
