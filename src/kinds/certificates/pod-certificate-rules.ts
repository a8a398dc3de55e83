import type { KeyObject, X509Certificate } from "node:crypto";
import { certificateOf } from "../../base/certificates/parsed-certificate.ts";
import { pemBlocks } from "../../base/certificates/pem.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { keyOf } from "./pod-key-rules.ts";
import type { PodRequestSpec, PodRequestStatus } from "./pod-request-types.ts";

const maxChainBytes = 100 * 1024;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const maxSkewMs = 5 * minuteMs;
const refreshMarginMs = 10 * minuteMs;

/** Checks the certificates of an issued request. */
export function checkIssued(
  spec: PodRequestSpec,
  status: PodRequestStatus,
  report: FieldReport,
  now: number,
): void {
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
