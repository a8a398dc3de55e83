import type { Logger } from "../../base/logger.ts";
import { checkPair, type Issuer } from "../../base/certificates.ts";
import type { RequestedCertificate } from "../../base/certificate-request.ts";
import { issuedCertificateFault, issueRequested } from "../../base/issued-certificate.ts";
import { CertificateSigningRequest } from "../../kinds/certificates/certificate-signing-request.ts";
import type { Controller } from "../controller.ts";
import type { SigningAuthorities } from "./authorities.ts";
import { builtInSigners, type BuiltInSigner } from "./built-in-signers.ts";
import {
  askedBy,
  conditionOf,
  issuedCertificate,
  reconcileRequests,
  requestFault,
  withCondition,
  writeStatus,
  type RequestDependencies,
} from "./requests.ts";

/** Dependencies of {@link certificateSigning}. */
export interface SigningDependencies extends RequestDependencies {
  readonly signing: SigningAuthorities;
  readonly log: Pick<Logger, "warn">;
}

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
export const certificateSigning: Controller<SigningDependencies> = {
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
  context: SigningDependencies,
  signer: BuiltInSigner,
  request: CertificateSigningRequest,
): Promise<number | undefined> {
  const { usages = [], expirationSeconds } = request.spec;
  const fault = requestFault(request);
  if (fault !== undefined) return fail(context, signer, request, fault);
  const asked = askedBy(request);
  const refusal = signer.refusal(asked, usages);
  if (refusal !== undefined) return fail(context, signer, request, refusal);
  const pair = await context.signing.authorityFor(signer.role);
  if (pair === undefined) return noAuthorityMs;
  const issuer = checkPair(pair, "the authority's certificate", "the authority's key");
  const { durationMs } = context.signing;
  const lifeMs = lifetimeMs(expirationSeconds, durationMs);
  const certificate = issue(asked, usages, issuer, { lifeMs, nowMs: context.clock.now() });
  const issuedFault = issuedCertificateFault(certificate, asked);
  if (issuedFault !== undefined) return fail(context, signer, request, issuedFault);
  await writeStatus(context, request, "status", { certificate: Buffer.from(certificate).toString("base64") });
  return undefined;
}

/** Gives a request the condition `Failed`; it isn't looked at again. */
async function fail(
  context: SigningDependencies,
  signer: BuiltInSigner,
  request: CertificateSigningRequest,
  reason: string,
): Promise<undefined> {
  const line = { controller: certificateSigning.name, key: request.metadata.name! };
  context.log.warn(line, `${signer.name} doesn't sign: ${reason}`);
  const status = withCondition(request, "Failed", "SignerValidationFailure", reason);
  await writeStatus(context, request, "status", status);
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
