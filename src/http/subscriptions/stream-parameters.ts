import { StatusError } from "../../base/status-error.ts";
import { parseResourceVersion, type ResourceVersion } from "../../resources/engine/resource-version.ts";
import type { Revision } from "../../storage/store.ts";
import { isTrue, type Query } from "../request/facts.ts";
import { integerParameter, invalidOptions, viewParameter } from "../request/parameters.ts";
import { FieldReport } from "../../schema/faults.ts";

/** The parameters of a subscription that concern all its resource types. */
export interface StreamParameters {
  /** Whether the current objects are sent first. */
  readonly sendsState: boolean;
  /** With the state: the revision that it has at least; without: the revision to resume after, undefined for the latest. */
  readonly revision: Revision | undefined;
  readonly allowBookmarks: boolean;
  readonly timeoutSeconds: number | undefined;
  /** Value of `includeObject`, for tables. */
  readonly includeObject: string | undefined;
  readonly view: "mine" | undefined;
}

/** Parameters that may be in the query. */
const names: ReadonlySet<string> = new Set([
  "watch",
  "resourceVersion",
  "sendInitialEvents",
  "timeoutSeconds",
  "allowWatchBookmarks",
  "includeObject",
  "view",
]);

/**
 * Parses the parameters of a subscription.
 *
 * @param lastEventId header of a browser that connects again; it takes precedence over the parameters.
 * @throws {StatusError} BadRequest
 */
export function streamParameters(query: Query, lastEventId: string | undefined): StreamParameters {
  for (const name of query.names()) {
    if (!names.has(name))
      throw new StatusError("BadRequest", `parameter ${name} is not supported by subscriptions`);
  }
  const timeoutSeconds = integerParameter(query, "timeoutSeconds");
  const report = FieldReport.start();
  if (timeoutSeconds !== undefined && timeoutSeconds < 0) {
    report.at("timeoutSeconds").invalid(timeoutSeconds, "must be 0 or more");
  }
  if (report.faults.length > 0) throw invalidOptions("ListOptions", report.faults);
  const bookmarks = query.get("allowWatchBookmarks");
  return {
    ...start(query, lastEventId),
    allowBookmarks: bookmarks === undefined || bookmarks === "" || isTrue(bookmarks),
    timeoutSeconds: timeoutSeconds === 0 ? undefined : timeoutSeconds,
    includeObject: query.get("includeObject"),
    view: viewParameter(query),
  };
}

function start(
  query: Query,
  lastEventId: string | undefined,
): Pick<StreamParameters, "sendsState" | "revision"> {
  const last = revisionOf(lastEventId, "header Last-Event-ID");
  if (last !== undefined) return { sendsState: false, revision: last };
  const revision = revisionOf(query.get("resourceVersion"), "parameter resourceVersion");
  const initial = query.get("sendInitialEvents") ?? "";
  return { sendsState: initial === "" ? revision === undefined : isTrue(initial), revision };
}

/** Returns the revision of a text; undefined if it is missing, empty or 0. */
function revisionOf(text: string | undefined, errorPrefix: string): Revision | undefined {
  let version: ResourceVersion;
  try {
    version = parseResourceVersion(text);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw new StatusError("BadRequest", `${errorPrefix}: ${JSON.stringify(text)} is not a resource version`);
  }
  return version === 0 ? undefined : version;
}
