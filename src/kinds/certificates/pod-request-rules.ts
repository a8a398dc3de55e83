import { isInDomain } from "../../vocabulary/names.ts";
import { isDeepStrictEqual } from "node:util";
import { dnsSubdomainFaults, qualifiedNameFaults } from "../../base/names.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { conditionList } from "../checks/conditions.ts";
import type { Condition } from "../meta/condition.ts";
import { checkBareKey, checkStubRequest, keyOf } from "./pod-key-rules.ts";
import type { PodRequest, PodRequestSpec, PodRequestStatus } from "./pod-request-types.ts";
import { signerName } from "./signer-name.ts";
import type { KeyObject, X509Certificate } from "node:crypto";
import { certificateOf } from "../../base/certificates/parsed-certificate.ts";
import { pemBlocks } from "../../base/certificates/pem.ts";

const maxUidBytes = 128;
const minSeconds = 3600;
const maxSeconds = 91 * 86_400;
const maxOwnSignerSeconds = 86_400;
const maxAnnotationBytes = 256 * 1024;

/** Checks the spec of a new request. */
export function checkNewRequest(
  spec: PodRequestSpec,
  report: FieldReport,
  { vocabulary }: KindContext,
): void {
  signerName(spec.signerName, report.at("signerName"));
  checkAnnotations(spec.unverifiedUserAnnotations ?? {}, report.at("unverifiedUserAnnotations"));
  for (const name of ["podName", "serviceAccountName", "nodeName"] as const) {
    for (const message of dnsSubdomainFaults(spec[name])) report.at(name).invalid(spec[name], message);
  }
  for (const name of ["podUID", "serviceAccountUID", "nodeUID"] as const) {
    if (spec[name] === "") report.at(name).invalid("", "must not be empty");
    if (Buffer.byteLength(spec[name]) > maxUidBytes) report.at(name).tooLong(maxUidBytes);
  }
  const { maxExpirationSeconds: seconds } = spec;
  const secondsReport = report.at("maxExpirationSeconds");
  if (seconds === undefined) return secondsReport.required("must be set");
  const { domain } = vocabulary;
  const [host = ""] = spec.signerName.split("/", 1);
  const max = isInDomain(domain, host) ? maxOwnSignerSeconds : maxSeconds;
  if (seconds < minSeconds || seconds > max) {
    secondsReport.invalid(seconds, `must be in the range [${minSeconds}, ${max}]`);
  }
  checkKey(spec, report);
}

function checkKey(spec: PodRequestSpec, report: FieldReport): void {
  const [stub, key, proof] = [spec.stubPKCS10Request, spec.pkixPublicKey, spec.proofOfPossession].map(
    (text) => Buffer.from(text ?? "", "base64"),
  ) as [Buffer, Buffer, Buffer];
  if (stub.length > 0 && key.length === 0 && proof.length === 0) {
    checkStubRequest(stub, report.at("stubPKCS10Request"));
  } else if (stub.length === 0 && key.length > 0 && proof.length > 0) {
    checkBareKey(key, proof, spec.podUID, report);
  } else {
    report.invalid(
      "<omitted>",
      "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set",
    );
  }
}

function checkAnnotations(annotations: Readonly<Record<string, string>>, report: FieldReport): void {
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) {
    if (report.full) return;
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
    if (!key.includes("/")) {
      report.invalid(key, "a name must be a domain-prefixed path, such as 'example.com/my-prop'");
    } else for (const message of qualifiedNameFaults(key.toLowerCase())) report.invalid(key, message);
  }
  if (size > maxAnnotationBytes) report.tooLong(maxAnnotationBytes);
}

const states = ["Issued", "Denied", "Failed"];

/** Returns the state of a request for its table. */
export function requestState(conditions: readonly { readonly type: string }[]): string {
  return conditions.findLast(({ type }) => states.includes(type))?.type ?? "Pending";
}

/** Checks a new status: a request is issued, denied or failed once, and then doesn't change. */
export function checkRequestStatus(
  request: PodRequest,
  live: PodRequest,
  report: FieldReport,
  context: KindContext,
): void {
  const { status = {} } = request;
  const before = live.status ?? {};
  const at = report.at("status");
  const count = report.faults.length;
  checkConditions(status.conditions ?? [], at.at("conditions"), context);
  if (report.faults.length > count) return;
  const { conditions, ...others } = status;
  if (isDecided(before))
    return same(status, before, "immutable after PodCertificateRequest is issued, denied, or failed", at);
  const state = requestState(conditions ?? []);
  if (state === "Denied" || state === "Failed") {
    const message =
      "non-condition status fields must be empty when denying or failing the PodCertificateRequest";
    return same(others, {}, message, at);
  }
  if (state === "Issued") return checkIssued(live.spec, status, at, context.now ?? 0);
  same(status, before, 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"', at);
}

function isDecided({ conditions = [] }: PodRequestStatus): boolean {
  return requestState(conditions) !== "Pending";
}

function same(now: object, before: object, message: string, report: FieldReport): void {
  if (!isDeepStrictEqual(now, before)) report.invalid(now, message);
}

function checkConditions(conditions: readonly Condition[], report: FieldReport, context: KindContext): void {
  let decisions = 0;
  for (const [index, { type, status }] of conditions.entries()) {
    if (report.full) return;
    const at = report.at(index);
    if (!states.includes(type)) {
      at.at("type").notSupported(type, states);
      continue;
    }
    decisions++;
    if (decisions > 1) {
      at.at("type").invalid(
        type,
        'There may be at most one condition with type "Issued", "Denied", or "Failed"',
      );
    }
    if (status !== "True") at.at("status").notSupported(status, ["True"]);
  }
  conditionList(conditions, report, context);
}

const maxChainBytes = 100 * 1024;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const maxSkewMs = 5 * minuteMs;
const refreshMarginMs = 10 * minuteMs;

/** Checks the certificates of an issued request. */
function checkIssued(spec: PodRequestSpec, status: PodRequestStatus, report: FieldReport, now: number): void {
  const { certificateChain: chain = "" } = status;
  const chainReport = report.at("certificateChain");
  if (Buffer.byteLength(chain) > maxChainBytes) return chainReport.tooLong(maxChainBytes);
  const blocks = pemBlocks(chain);
  if (blocks.length === 0) {
    return chainReport.invalid(chain, "issued certificate chain must contain at least one certificate");
  }
  if (blocks.some(({ label }) => label !== "CERTIFICATE")) {
    return chainReport.invalid(
      chain,
      "issued certificate chain must consist entirely of CERTIFICATE PEM blocks",
    );
  }
  const [leaf, ...authorities] = blocks.map(({ content }) => certificateOf(content));
  if (leaf === undefined) {
    return chainReport.invalid(chain, "leaf certificate does not parse as valid X.509");
  }
  const key = keyOf(spec);
  if (key === undefined || publicKeyOf(leaf)?.equals(key) !== true) {
    return chainReport.invalid(chain, "leaf certificate was not issued to the requested public key");
  }
  const count = report.faults.length;
  checkTimes(leaf, spec, status, report, now);
  if (report.faults.length === count && authorities.includes(undefined)) {
    chainReport.invalid(chain, "intermediate certificate does not parse as valid X.509");
  }
}

function publicKeyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    return certificate.publicKey;
  } catch {
    // A certificate can be well formed with a key that isn't.
    return undefined;
  }
}

function checkTimes(
  leaf: X509Certificate,
  { maxExpirationSeconds = 0 }: PodRequestSpec,
  status: PodRequestStatus,
  report: FieldReport,
  now: number,
): void {
  const { notBefore, notAfter, beginRefreshAt } = status;
  const consistent = "must be present and consistent with the issued certificate";
  if (notBefore === undefined) report.at("notBefore").required(consistent);
  if (notAfter === undefined) report.at("notAfter").required(consistent);
  if (beginRefreshAt === undefined) {
    report
      .at("beginRefreshAt")
      .required("must be present and in the range [notbefore+10min, notafter-10min]");
  }
  if (notBefore === undefined || notAfter === undefined || beginRefreshAt === undefined) return;
  const [begin, end, refresh] = [notBefore, notAfter, beginRefreshAt].map(Date.parse) as [
    number,
    number,
    number,
  ];
  const fault = (name: string, value: unknown, message: string) => report.at(name).invalid(value, message);
  if (begin !== Date.parse(leaf.validFrom)) {
    return fault("notBefore", notBefore, "must be set to the NotBefore time encoded in the leaf certificate");
  }
  if (Math.abs(begin - now) > maxSkewMs) {
    return fault("notBefore", notBefore, "must be set to within 5 minutes of the server's current time");
  }
  if (end !== Date.parse(leaf.validTo)) {
    return fault("notAfter", notAfter, "must be set to the NotAfter time encoded in the leaf certificate");
  }
  if (end - begin < hourMs) {
    return fault(
      "certificateChain",
      `${(end - begin) / 1000}s`,
      "leaf certificate lifetime must be >= 1 hour",
    );
  }
  if (end - begin > maxExpirationSeconds * 1000) {
    const message = `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${maxExpirationSeconds})`;
    return fault("certificateChain", `${(end - begin) / 1000}s`, message);
  }
  if (refresh < begin + refreshMarginMs) {
    return fault("beginRefreshAt", beginRefreshAt, "must be at least 10 minutes after status.notBefore");
  }
  if (refresh > end - refreshMarginMs) {
    fault("beginRefreshAt", beginRefreshAt, "must be at least 10 minutes before status.notAfter");
  }
}
