import { apiGroup } from "../../vocabulary/names.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import {
  ExpiredListError,
  optionsGroup,
  RelayedStatusError,
  type StatusError,
  type StatusDetails,
} from "../../base/status-error.ts";

/** Returns the Status of a failure (spec: rulings, Status body as the reference). */
export function failureStatus(error: StatusError, vocabulary: Vocabulary): object {
  if (error instanceof RelayedStatusError) return relayedStatus(error);
  const { reason, code, message, details } = error;
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: error instanceof ExpiredListError ? { continue: error.continueToken } : {},
    status: "Failure",
    message,
    reason,
    ...(details === undefined && !withDetails.has(reason)
      ? {}
      : { details: shown(inVocabulary(details ?? {}, vocabulary)) }),
    code,
  };
}

/** Reasons whose Status always has details, as in the reference. */
const withDetails: ReadonlySet<string> = new Set(["MethodNotAllowed", "NotFound"]);

/** Returns details with the full group name in the vocabulary. */
function inVocabulary(details: StatusDetails, { groupSuffix }: Vocabulary): StatusDetails {
  return details.group === optionsGroup
    ? { ...details, group: apiGroup(groupSuffix, optionsGroup) }
    : details;
}

function relayedStatus({ message, relayed: { code, reason, details } }: RelayedStatusError): object {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    ...(reason === "" ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
}

/** Removes empty causes and fields. */
function shown(details: StatusDetails): object {
  const { causes, ...rest } = details;
  const present = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== "" && value !== 0));
  if (causes === undefined) return present;
  const plain = causes.map(({ reason, message, field }) => ({
    ...(reason === "" ? {} : { reason }),
    message,
    ...(field === "" ? {} : { field }),
  }));
  return { ...present, causes: plain };
}

/** Returns the Status of an action on an object. */
export function doneStatus(code: number): object {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code };
}

/** Returns the Status of an operation without an object; `metadata` is that of a list, if there was one. */
export function successStatus(details: StatusDetails, metadata: object = {}): object {
  return { kind: "Status", apiVersion: "v1", metadata, status: "Success", details: shown(details) };
}
