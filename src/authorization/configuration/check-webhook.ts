import path from "node:path";
import { parseDuration } from "../../base/time/duration.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { WebhookFields } from "./form.ts";
import { checkConditions, type RequestMatcher } from "./match-conditions.ts";

/** A webhook of a configuration; durations in milliseconds. */
export interface ConfiguredWebhook {
  /** Absolute path of the client configuration; undefined: the API server of the cluster in which this server is a pod. */
  readonly configFile: string | undefined;
  /** Version of the SubjectAccessReviews. */
  readonly version: "v1" | "v1beta1";
  /** 0: allowing decisions aren't cached. */
  readonly authorizedMs: number;
  /** 0: other decisions aren't cached. */
  readonly unauthorizedMs: number;
  readonly timeoutMs: number;
  /** The verdict if the webhook or a condition fails. */
  readonly failureVerdict: "noOpinion" | "deny";
  /** Undefined: the webhook is called for each request. */
  readonly matcher: RequestMatcher | undefined;
}

const versions = ["v1", "v1beta1"] as const;
const policies = { NoOpinion: "noOpinion", Deny: "deny" } as const;
const inCluster = "InClusterConfig";
const maxTimeoutMs = 30_000;
const minuteMs = 60_000;

/** Checks a webhook. The value is of no use if the report has faults. */
export function checkWebhook(fields: WebhookFields, report: FieldReport): ConfiguredWebhook {
  const {
    subjectAccessReviewVersion: version = "",
    matchConditionSubjectAccessReviewVersion: conditionVersion = "",
    failurePolicy = "",
    matchConditions = [],
  } = fields;
  const timeoutMs = durationOf(fields.timeout, 0, report.at("timeout"));
  if (timeoutMs > maxTimeoutMs) report.at("timeout").invalid(fields.timeout, "must be > 0s and <= 30s");
  const authorizedMs = durationOf(fields.authorizedTTL, 5 * minuteMs, report.at("authorizedTTL"));
  const unauthorizedMs = durationOf(fields.unauthorizedTTL, minuteMs / 2, report.at("unauthorizedTTL"));
  checkChoice(version, versions, report.at("subjectAccessReviewVersion"));
  const conditionPlace = report.at("matchConditionSubjectAccessReviewVersion");
  if (conditionVersion !== "") checkChoice(conditionVersion, ["v1"], conditionPlace);
  else if (matchConditions.length > 0) conditionPlace.required("required if match conditions are specified");
  checkChoice(failurePolicy, Object.keys(policies), report.at("failurePolicy"));
  return {
    configFile: checkConnection(fields.connectionInfo, report.at("connectionInfo")),
    version: version as ConfiguredWebhook["version"],
    authorizedMs: fields.cacheAuthorizedRequests === false ? 0 : authorizedMs,
    unauthorizedMs: fields.cacheUnauthorizedRequests === false ? 0 : unauthorizedMs,
    timeoutMs,
    failureVerdict: policies[failurePolicy as keyof typeof policies],
    matcher: checkConditions(matchConditions, report.at("matchConditions")),
  };
}

function checkChoice(value: string, allowed: readonly string[], report: FieldReport): void {
  if (value === "") report.required();
  else if (!allowed.includes(value)) report.notSupported(value, allowed);
}

/** Returns a positive duration in milliseconds. @param byDefault of a missing or zero duration; 0: it is required. */
function durationOf(text = "", byDefault: number, report: FieldReport): number {
  const nanos = text === "" ? 0n : parseDuration(text);
  if (nanos === undefined) report.invalid(text, "must be a duration such as 30s or 5m");
  else if (nanos < 0n) report.invalid(text, "must be > 0s");
  else if (nanos > 0n) return Number(nanos) / 1e6;
  else if (byDefault === 0) report.required();
  return byDefault;
}

/** Returns the path of the client configuration; undefined for that of the cluster. */
function checkConnection(
  { type = "", kubeConfigFile }: NonNullable<WebhookFields["connectionInfo"]> = {},
  report: FieldReport,
): string | undefined {
  const fileReport = report.at("kubeConfigFile");
  if (type === inCluster) {
    if (typeof kubeConfigFile === "string")
      fileReport.invalid(kubeConfigFile, "can only be set when type=KubeConfigFile");
    return undefined;
  }
  const file = kubeConfigFile ?? "";
  checkChoice(type, [inCluster, "KubeConfigFile"], report.at("type"));
  if (file === "") fileReport.required();
  else if (!path.isAbsolute(file)) fileReport.invalid(file, "must be an absolute path");
  return file;
}
