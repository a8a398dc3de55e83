import { labelKey } from "../../vocabulary/names.ts";
import { isDeepStrictEqual } from "node:util";
import { certificateRequestFault, certificatesFault } from "../../base/certificates/certificate-request.ts";
import { pemOfBase64 } from "../../base/certificates/pem.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { signerName } from "./signer-name.ts";

/** A condition of a request. */
export interface Decision {
  readonly type: string;
  readonly status: string;
  lastUpdateTime?: string | null | undefined;
  lastTransitionTime?: string | null | undefined;
}

interface Spec {
  readonly request: string | null;
  readonly usages?: readonly string[] | undefined;
  readonly signerName: string;
  readonly expirationSeconds?: number | undefined;
}

interface Status {
  readonly conditions?: readonly Decision[] | undefined;
  readonly certificate?: string | undefined;
}

const minSeconds = 600;

/** Checks the spec of a new request. */
export function checkNewSpec(spec: Spec, report: FieldReport, context: KindContext): void {
  const fault = certificateRequestFault(pemOfBase64(spec.request ?? ""));
  if (fault !== undefined) report.at("request").invalid(spec.request, fault);
  checkUsages(spec.usages ?? [], report.at("usages"));
  const { signerName: signer } = spec;
  if (signer !== "") signerName(signer, report.at("signerName"));
  if ((spec.expirationSeconds ?? minSeconds) < minSeconds) {
    report
      .at("expirationSeconds")
      .invalid(
        spec.expirationSeconds,
        `may not specify a duration less than ${minSeconds} seconds (10 minutes)`,
      );
  }
  checkNoLegacySigner(signer, report.at("signerName"), context);
}

/** Rejects the signer of legacy requests, which v1 doesn't support. */
function checkNoLegacySigner(signer: string, report: FieldReport, { vocabulary }: KindContext): void {
  if (signer !== labelKey(vocabulary.domain, "legacy-unknown")) return;
  report.invalid(signer, "the legacy signerName is not allowed via this API version");
}

/** Allowed key usages. */
export const usageNames = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
] as const;
const knownUsages = new Set<string>(usageNames);

function checkUsages(usages: readonly string[], report: FieldReport): void {
  if (usages.length === 0) return report.required("usages must be provided");
  const seen = new Set<string>();
  for (const [index, usage] of usages.entries()) {
    if (report.full) return;
    if (!knownUsages.has(usage)) report.at(index).notSupported(usage, usageNames);
    if (seen.has(usage)) report.at(index).duplicate(usage);
    seen.add(usage);
  }
}

const decisions = ["Approved", "Denied", "Failed"];
const statuses = ["False", "True", "Unknown"];

/** Checks conditions and certificate of a status. */
export function checkStatus({ conditions = [], certificate }: Status, report: FieldReport): void {
  const seen = new Set<string>();
  for (const [index, { type, status }] of conditions.entries()) {
    if (report.full) return;
    const at = report.at("conditions", index);
    if (type === "") at.at("type").required();
    const allowed = decisions.includes(type) ? ["True"] : statuses;
    if (status === "") at.at("status").required();
    else if (!allowed.includes(status)) at.at("status").notSupported(status, allowed);
    if (seen.has(type)) at.at("type").duplicate(type);
    const other = type === "Approved" ? "Denied" : type === "Denied" ? "Approved" : undefined;
    if (other !== undefined && seen.has(other)) {
      at.at("type").invalid(type, "Approved and Denied conditions are mutually exclusive");
    }
    seen.add(type);
  }
  const fault = certificate === undefined ? undefined : certificatesFault(pemOfBase64(certificate));
  if (fault !== undefined) report.at("certificate").invalid("<certificate data>", fault);
}

/**
 * Rejects changes of a decision or failure, which are permanent. Decisions are written through `approval`; the
 * certificate, once, and a failure are written through `status`. Conditions of other types are allowed if the
 * vocabulary supports them.
 */
export function checkStatusChange(
  now: Status,
  before: Status,
  { subresource, vocabulary }: Pick<KindContext, "subresource" | "vocabulary">,
  report: FieldReport,
): void {
  const list = report.at("conditions");
  if (!vocabulary.behavior.otherRequestConditions) checkTypes(now, before, list);
  for (const type of decisions) {
    const current = (now.conditions ?? []).filter((one) => one.type === type);
    const old = (before.conditions ?? []).filter((one) => one.type === type);
    const mayChange = subresource === (type === "Failed" ? "status" : "approval");
    if (old.length > current.length) list.forbidden(`updates may not remove a condition of type "${type}"`);
    else if (mayChange) continue;
    else if (old.length < current.length) list.forbidden(`updates may not add a condition of type "${type}"`);
    else if (!isDeepStrictEqual(old, current)) {
      list.forbidden(`updates may not modify a condition of type "${type}"`);
    }
  }
  if (now.certificate === before.certificate) return;
  if (subresource !== "status") report.at("certificate").forbidden("updates may not set certificate content");
  else if (before.certificate !== undefined) {
    report.at("certificate").forbidden("updates may not modify existing certificate content");
  }
}

/** Conditions of other types remain if an older release stored them. */
function checkTypes(now: Status, before: Status, list: FieldReport): void {
  const allowed = new Set([...decisions, ...(before.conditions ?? []).map(({ type }) => type)]);
  for (const [index, { type }] of (now.conditions ?? []).entries()) {
    if (list.full) return;
    if (type !== "" && !allowed.has(type)) list.at(index, "type").notSupported(type, decisions);
  }
}

/** Sets the times of the last update and transition of conditions. Changes them. */
export function stampConditions(
  conditions: readonly Decision[],
  before: readonly Decision[],
  now: string,
): void {
  const old = new Map(before.map((one) => [`${one.type} ${one.status}`, one]));
  for (const condition of conditions) {
    condition.lastUpdateTime ??= now;
    condition.lastTransitionTime ??=
      old.get(`${condition.type} ${condition.status}`)?.lastTransitionTime ?? now;
  }
}

/** Returns the state of a request for its table. */
export function stateText({ conditions = [], certificate }: Status): string {
  const has = (type: string) => conditions.some((one) => one.type === type);
  const decision = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  return decision + (has("Failed") ? ",Failed" : "") + (certificate === undefined ? "" : ",Issued");
}
