import type { Logger } from "../../base/logger.ts";
import { checkPair, type Issuer } from "../../base/certificates/serving-certificates.ts";
import type { RequestedCertificate } from "../../base/certificates/certificate-request.ts";
import { issuedCertificateFault, issueRequested } from "../../base/certificates/issued-certificate.ts";
import { CertificateSigningRequest } from "../../kinds/certificates/certificate-signing-request.ts";
import type { Controller } from "../controller.ts";
import type { SigningAuthorities } from "./authorities.ts";
import { builtInSigners, type BuiltInSigner } from "./built-in-signers.ts";
import {
  parseRequest,
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

/** Certificates are valid from this time before the present, because clocks of other machines may be late. */
const backdateMs = 5 * 60_000;
/** Lifetimes shorter than this count from the present; longer ones from the start of the validity. */
const shortMs = 8 * 3_600_000;
const minLifeMs = 10 * 60_000;
/** Delay before a missing CA is checked again. */
const noAuthorityMs = 60_000;

/**
 * Signs approved requests to the built-in signers, by the rules of each signer (spec: conventions 2.6, 3.2). A request
 * that violates them gets the condition `Failed`, and is logged.
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

/**
 * Issues the certificate, or records why not.
 *
 * @returns after how many milliseconds to retry; undefined for never.
 */
async function sign(
  context: SigningDependencies,
  signer: BuiltInSigner,
  request: CertificateSigningRequest,
): Promise<number | undefined> {
  const { usages = [], expirationSeconds } = request.spec;
  const fault = requestFault(request);
  if (fault !== undefined) return fail(context, signer, request, fault);
  const requested = parseRequest(request);
  const refusal = signer.refusal(requested, usages);
  if (refusal !== undefined) return fail(context, signer, request, refusal);
  const pair = await context.signing.authorityFor(signer.role);
  if (pair === undefined) return noAuthorityMs;
  const issuer = checkPair(pair, "the authority's certificate", "the authority's key");
  const { durationMs } = context.signing;
  const lifeMs = lifetimeMs(expirationSeconds, durationMs);
  const certificate = issue(requested, usages, issuer, { lifeMs, nowMs: context.clock.now() });
  const issuedFault = issuedCertificateFault(certificate, requested);
  if (issuedFault !== undefined) return fail(context, signer, request, issuedFault);
  await writeStatus(context, request, "status", { certificate: Buffer.from(certificate).toString("base64") });
  return undefined;
}

/** Adds the condition `Failed` to a request, which then isn't signed any more. */
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

/** Returns the requested lifetime, but at least `minLifeMs` and at most the default. */
function lifetimeMs(expirationSeconds: number | undefined, durationMs: number): number {
  if (expirationSeconds === undefined) return durationMs;
  return Math.min(Math.max(expirationSeconds * 1000, minLifeMs), durationMs);
}

/** @throws {Error} the CA certificate has expired. */
function issue(
  requested: RequestedCertificate,
  usages: readonly string[],
  issuer: Issuer,
  { lifeMs, nowMs }: { readonly lifeMs: number; readonly nowMs: number },
): string {
  const issuerEnds = Date.parse(issuer.certificate.validTo);
  if (issuerEnds <= nowMs) throw new Error("the authority's certificate has expired");
  const ends = nowMs + lifeMs - (lifeMs < shortMs ? 0 : backdateMs);
  const validity = { notBefore: nowMs - backdateMs, notAfter: Math.min(ends, issuerEnds) };
  return issueRequested(requested, { usages, ...validity }, issuer);
}
