import { parseDuration } from "../../base/time/duration.ts";
import { applies, since } from "../../base/release-rows.ts";
import { fieldEquals } from "../../base/selectors/field-selector.ts";
import { StatusError, optionsGroup, type Cause } from "../../base/status-error.ts";
import { FieldReport } from "../../schema/faults.ts";
import type { FieldValidation } from "../../resources/input/input.ts";
import { checkManagerName, managerOfAgent } from "../../resources/ownership/field-ownership.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import {
  checkMatch,
  checkWatchMatch,
  listRead,
  parseResourceVersion,
  type ResourceVersion,
} from "../../resources/engine/resource-version.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import { SearchSelection } from "../../resources/objects/search.ts";
import { sortableFields, sortOrder, type SortOrder } from "../../resources/objects/sort-order.ts";
import type { SortedListOptions } from "../../resources/reads/sorted-list.ts";
import { parseSelection, type Selection } from "../../resources/objects/selection.ts";
import { ShardSelection, parseShards } from "../../resources/objects/shards.ts";
import { isTrue, type Query, type ResourceFacts } from "./facts.ts";

/** Returns the error for query parameters that violate a rule (spec: conventions 4.3). @param kind such as `ListOptions`. */
export function invalidOptions(kind: string, causes: readonly Cause[]): StatusError {
  const parts = causes.map((cause) => `${cause.field}: ${cause.message}`);
  const text = parts.length === 1 ? parts[0] : `[${parts.join(", ")}]`;
  return new StatusError("Invalid", `${kind} is invalid: ${text}`, { group: optionsGroup, kind, causes });
}

/** @throws {StatusError} BadRequest for a value that isn't a 64-bit integer. */
export function integerParameter(query: Query, name: string): number | undefined {
  const text = query.get(name);
  if (text === undefined) return undefined;
  if (!/^[+-]?\d{1,19}$/.test(text) || BigInt.asIntN(64, BigInt(text)) !== BigInt(text)) {
    throw new StatusError("BadRequest", `parameter ${name}: ${JSON.stringify(text)} is not an integer`);
  }
  // Larger values are reduced to the largest exact number, which no count of objects or seconds reaches.
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(text)));
}

/**
 * Rejects the parameter `export`, which release 1.26 no longer supports.
 *
 * @throws {StatusError} BadRequest if it is true.
 */
export function refuseExport(query: Query): void {
  if (isTrue(query.get("export")))
    throw new StatusError("BadRequest", "the parameter export is no longer supported");
}

/**
 * Parses the parameter `timeout`, a duration such as `5s`; returns milliseconds, or undefined if it is missing or not above 0.
 *
 * @throws {StatusError} BadRequest for a text that isn't a duration.
 */
export function timeoutParameter(query: Query): number | undefined {
  const text = query.get("timeout") ?? "";
  if (text === "") return undefined;
  const nanos = parseDuration(text);
  if (nanos === undefined) {
    throw new StatusError("BadRequest", `parameter timeout: ${JSON.stringify(text)} is not a length of time`);
  }
  return nanos > 0n ? Number(nanos) / 1e6 : undefined;
}

/**
 * Returns the parameter `view`: `mine` limits a list or watch to the objects that the user may get; undefined if it is missing or empty.
 *
 * @throws {StatusError} BadRequest for another value.
 */
export function viewParameter(query: Query): "mine" | undefined {
  const text = textOf(query, "view");
  if (text === undefined || text === "mine") return text;
  throw new StatusError(
    "BadRequest",
    `parameter view: ${JSON.stringify(text)} is not supported; the only allowed value is "mine"`,
  );
}

/**
 * Rejects the parameters of lists in a request that would affect or send more objects without them.
 *
 * @param request for the message.
 * @throws {StatusError} BadRequest if there is one.
 */
export function refuseListParameters(
  query: Query,
  request: "watch" | "paths with /watch/" | "deletecollection",
): void {
  const isView = viewParameter(query) !== undefined;
  if (isView && request !== "watch")
    throw new StatusError(
      "BadRequest",
      `parameter view: "mine" is supported by list and by list with watch=true, not by ${request}`,
    );
  for (const name of ["search", "sort"]) {
    const text = textOf(query, name);
    if (text === undefined) continue;
    throw new StatusError(
      "BadRequest",
      `parameter ${name}: ${JSON.stringify(text)} is supported by list only, not by ${request}`,
    );
  }
}

/** Maximum number of characters of a search; labels are shorter. */
const maxSearchLength = 512;

/**
 * Returns the parameter `search`, a text in names or labels; undefined if it is missing or empty.
 *
 * @throws {StatusError} BadRequest for a text that is too long.
 */
function searchParameter(query: Query): string | undefined {
  const text = textOf(query, "search");
  if (text === undefined || text.length <= maxSearchLength) return text;
  throw new StatusError(
    "BadRequest",
    `parameter search: has ${text.length} characters; at most ${maxSearchLength} are allowed`,
  );
}

/**
 * Returns the order of the parameter `sort`; undefined if it is missing or empty.
 *
 * @throws {StatusError} BadRequest for a field by which the resource type can't be sorted.
 */
function sortParameter(resource: Resource, query: Query): SortOrder | undefined {
  const text = textOf(query, "sort");
  if (text === undefined) return undefined;
  const order = sortOrder(resource, text);
  if (order !== undefined) return order;
  const fields = sortableFields(resource).join(", ");
  throw new StatusError(
    "BadRequest",
    `parameter sort: ${JSON.stringify(text)} is not supported; allowed are ${fields}, ` +
      'with "-" in front for descending order',
  );
}

export interface ListParameters {
  readonly list: SortedListOptions;
  readonly timeoutSeconds: number | undefined;
}

/** What parameters depend on: the feature gates, and the release that the server follows. */
export type ParameterRules = Pick<Engine, "featureEnabled"> & {
  readonly registry: Pick<Engine["registry"], "release">;
};

/** Parameters of list and deletecollection. */
export function listParameters(resource: Resource, query: Query, rules: ParameterRules): ListParameters {
  const limit = integerParameter(query, "limit") ?? 0;
  const timeoutSeconds = integerParameter(query, "timeoutSeconds");
  const report = FieldReport.start();
  if (limit < 0) report.at("limit").invalid(limit, "must be 0 or more");
  if (timeoutSeconds !== undefined && timeoutSeconds < 0) {
    report.at("timeoutSeconds").invalid(timeoutSeconds, "must be 0 or more");
  }
  if (query.get("sendInitialEvents") !== undefined) {
    report.at("sendInitialEvents").forbidden("sendInitialEvents is forbidden for list");
  }
  const match = textOf(query, "resourceVersionMatch");
  const token = textOf(query, "continue");
  checkMatch({ resourceVersion: textOf(query, "resourceVersion"), match, token }, report);
  if (report.faults.length > 0) throw invalidOptions("ListOptions", report.faults);
  const resourceVersion = parseResourceVersion(query.get("resourceVersion"));
  const read = listRead({ resourceVersion, match, limit, token });
  const search = searchParameter(query);
  const selected = inShards(selectionOf(resource, query), query, rules);
  const selection = search === undefined ? selected : new SearchSelection(selected, search);
  return { list: { read, limit, selection, sort: sortParameter(resource, query) }, timeoutSeconds };
}

export interface WatchParameters {
  readonly selection: Selection;
  readonly resourceVersion: ResourceVersion;
  readonly allowBookmarks: boolean;
  readonly sendInitialEvents: boolean;
  readonly timeoutSeconds: number | undefined;
}

/** Whether `resourceVersionMatch` of a watch has rules of its own, in place of those of lists. */
const checksMatchOfWatch = applies(since("1.27"));

/**
 * Parameters of watch.
 *
 * @param name name of the object in the path; empty for a collection.
 */
export function watchParameters(
  resource: Resource,
  { query, name }: Pick<ResourceFacts, "name" | "query">,
  rules: ParameterRules,
): WatchParameters {
  refuseListParameters(query, "watch");
  const hasOwnRules = checksMatchOfWatch(rules.registry);
  const report = FieldReport.start();
  const match = textOf(query, "resourceVersionMatch");
  const token = textOf(query, "continue");
  const initial = query.get("sendInitialEvents");
  const sendInitialEvents = initial !== undefined && isTrue(initial);
  if (initial !== undefined) {
    if (!rules.featureEnabled("WatchList")) {
      report
        .at("sendInitialEvents")
        .forbidden("sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled");
    }
    if (match !== "NotOlderThan") {
      report
        .at("resourceVersionMatch")
        .forbidden('sendInitialEvents requires setting resourceVersionMatch to "NotOlderThan"');
    }
  } else if (match !== undefined) {
    report.at("resourceVersionMatch").forbidden("resourceVersionMatch is forbidden for watch");
    if (!hasOwnRules) checkMatch({ resourceVersion: textOf(query, "resourceVersion"), match, token }, report);
  }
  if (hasOwnRules) checkWatchMatch({ match, token }, report);
  // The limit has no effect on a watch, but it must be a number, as in the reference.
  integerParameter(query, "limit");
  const timeoutSeconds = integerParameter(query, "timeoutSeconds");
  if (timeoutSeconds !== undefined && timeoutSeconds < 0) {
    report.at("timeoutSeconds").invalid(timeoutSeconds, "must be 0 or more");
  }
  if (token !== undefined) report.at("continue").forbidden("continue is forbidden for watch");
  if (report.faults.length > 0) throw invalidOptions("ListOptions", report.faults);
  const selection = name === "" ? selectionOf(resource, query) : selectionOfOne(resource, query, name);
  return {
    selection: inShards(selection, query, rules),
    resourceVersion: parseResourceVersion(query.get("resourceVersion")),
    allowBookmarks: isTrue(query.get("allowWatchBookmarks")),
    sendInitialEvents,
    timeoutSeconds: timeoutSeconds === 0 ? undefined : timeoutSeconds,
  };
}

function selectionOf(resource: Resource, query: Query): Selection {
  return parseSelection(resource, query.get("labelSelector") ?? "", query.get("fieldSelector") ?? "");
}

/** Limits a selection to the shards of the parameter `shardSelector`, which is ignored while its feature gate is off, as in the reference. */
export function inShards(
  selection: Selection,
  query: Query,
  { featureEnabled }: Pick<ParameterRules, "featureEnabled">,
): Selection {
  const text = textOf(query, "shardSelector");
  if (text === undefined || !featureEnabled("ShardedListAndWatch")) return selection;
  return new ShardSelection(selection, parseShards(text));
}

/**
 * Returns the selection of a watch whose path names an object.
 *
 * @throws {StatusError} BadRequest for a field selector that doesn't select this name.
 */
function selectionOfOne(resource: Resource, query: Query, name: string): Selection {
  const labels = query.get("labelSelector") ?? "";
  const fields = query.get("fieldSelector") ?? "";
  if (fields === "") return parseSelection(resource, labels, fieldEquals("metadata.name", name));
  const selection = parseSelection(resource, labels, fields);
  if (selection.name === name) return selection;
  throw new StatusError("BadRequest", "the fieldSelector isn't for the name that the path asks for");
}

function textOf(query: Query, name: string): string | undefined {
  const text = query.get(name);
  return text === "" ? undefined : text;
}

export interface WriteParameters {
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  readonly fieldManager: string;
}

/** Parameters of create, update, patch and delete. @param optionsKind kind of the options in errors, such as `CreateOptions`. */
export function writeParameters(query: Query, optionsKind: string, userAgent: string): WriteParameters {
  if (query.empty) return { dryRun: false, fieldValidation: "Warn", fieldManager: managerOfAgent(userAgent) };
  const report = FieldReport.start();
  const dryRun = isDryRun(query.all("dryRun"), report);
  const validation = query.get("fieldValidation") ?? "";
  if (validation !== "" && !isFieldValidation(validation)) {
    report.at("fieldValidation").notSupported(validation, ["", "Ignore", "Strict", "Warn"]);
  }
  const manager = query.get("fieldManager") ?? "";
  checkManagerName(manager, report.at("fieldManager"));
  if (report.faults.length > 0) throw invalidOptions(optionsKind, report.faults);
  return {
    dryRun,
    fieldValidation: isFieldValidation(validation) ? validation : "Warn",
    fieldManager: manager !== "" ? manager : managerOfAgent(userAgent),
  };
}

/** Parameters of a patch that isn't an apply; it must not have `force`. */
export function patchParameters(query: Query, userAgent: string): WriteParameters {
  const report = FieldReport.start();
  if (query.get("force") !== undefined)
    report.at("force").forbidden("may not be specified for non-apply patch");
  if (report.faults.length > 0) throw invalidOptions("PatchOptions", report.faults);
  return writeParameters(query, "PatchOptions", userAgent);
}

/** Parameters of an apply, which requires `fieldManager`. */
export function applyParameters(
  query: Query,
  userAgent: string,
): WriteParameters & { readonly force: boolean; readonly verb: "apply" } {
  const report = FieldReport.start();
  if ((query.get("fieldManager") ?? "") === "")
    report.at("fieldManager").required("is required for apply patch");
  if (report.faults.length > 0) throw invalidOptions("PatchOptions", report.faults);
  return {
    ...writeParameters(query, "PatchOptions", userAgent),
    force: isTrue(query.get("force")),
    verb: "apply",
  };
}

/** Whether the values of `dryRun` request a dry run; values other than `All` are reported. */
export function isDryRun(values: readonly string[], report: FieldReport): boolean {
  const nonEmpty = values.filter((one) => one !== "");
  for (const value of nonEmpty) if (value !== "All") report.at("dryRun").notSupported(value, ["All"]);
  return nonEmpty.length > 0;
}

function isFieldValidation(text: string): text is FieldValidation {
  return text === "Ignore" || text === "Warn" || text === "Strict";
}
