import type { Change, ColumnDefinition, TableRow } from "../model/table.ts";
import { ApiError, getJson, messageOf } from "./client.ts";
import { pause, watch, type WatchEvent } from "./streams.ts";

interface Table {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  /** Absent in all events of a watch but the first. */
  readonly columnDefinitions?: readonly ColumnDefinition[];
  readonly rows?: readonly TableRow[];
}

/** What a table shows. */
export interface TableQuery {
  readonly path: string;
  readonly labels: string;
  readonly fields: string;
  /** Group of the kind Table: `meta.k8s.io` or `meta.platform.io`. */
  readonly metaGroup: string;
  /** Whether the user may watch. */
  readonly watches: boolean;
}

export type TableState =
  | { readonly kind: "loading" }
  /**
   * @property isView whether the list has only the objects that the user may get.
   * @property isPolled whether it is read again instead of watched.
   */
  | { readonly kind: "live"; readonly isView: boolean; readonly isPolled: boolean }
  | { readonly kind: "failed"; readonly message: string; readonly status: number };

/** Receives the rows of a live table. */
export interface TableSink {
  columns(columns: readonly ColumnDefinition[]): void;
  beginList(): void;
  rows(rows: readonly TableRow[]): void;
  endList(): void;
  changes(changes: readonly Change[]): void;
  state(state: TableState): void;
}

const chunkSize = 500;
/** Interval of lists that can't be watched. */
const pollIntervalMs = 5000;
const [firstRetryMs, lastRetryMs] = [500, 15_000];

/** Lists a collection in chunks and follows it, until the signal is aborted. Failures are retried. */
export async function followTable(query: TableQuery, sink: TableSink, signal: AbortSignal): Promise<void> {
  let retryMs = firstRetryMs;
  let isView = false;
  let isPolled = !query.watches;
  sink.state({ kind: "loading" });
  while (!signal.aborted) {
    try {
      const revision = await list(query, isView, sink, signal);
      sink.state({ kind: "live", isView, isPolled });
      retryMs = firstRetryMs;
      if (isPolled) await pause(pollIntervalMs, signal);
      else await follow(query, isView, revision, sink, signal);
    } catch (error) {
      if (signal.aborted) return;
      const status = error instanceof ApiError ? error.status : 0;
      if (status === 410) continue;
      // A server without watches of views, or an authorizer that can't enumerate.
      if (status === 400 && isView && !isPolled) {
        isPolled = true;
        continue;
      }
      if (status === 403 && !isView) {
        isView = true;
        continue;
      }
      sink.state({ kind: "failed", message: messageOf(error), status });
      if (status === 401) return;
      await pause(retryMs, signal);
      retryMs = Math.min(retryMs * 2, lastRetryMs);
    }
  }
}

function parametersOf({ labels, fields }: TableQuery, more: Readonly<Record<string, string>>): string {
  const all = { labelSelector: labels, fieldSelector: fields, ...more };
  return new URLSearchParams(Object.entries(all).filter(([, value]) => value !== "")).toString();
}

function acceptOf({ metaGroup }: TableQuery): string {
  return `application/json;as=Table;v=v1;g=${metaGroup}`;
}

/** Lists all chunks and returns their revision. */
async function list(
  query: TableQuery,
  isView: boolean,
  sink: TableSink,
  signal: AbortSignal,
): Promise<string> {
  let next = "";
  let revision = "";
  sink.beginList();
  do {
    const parameters = { limit: String(chunkSize), continue: next, view: isView ? "mine" : "" };
    const path = `${query.path}?${parametersOf(query, parameters)}`;
    const table: Table = await getJson<Table>(path, { accept: acceptOf(query), signal });
    if (table.columnDefinitions !== undefined) sink.columns(table.columnDefinitions);
    sink.rows(table.rows ?? []);
    revision = table.metadata.resourceVersion ?? "";
    next = table.metadata.continue ?? "";
  } while (next !== "");
  sink.endList();
  return revision;
}

/** Watches from a revision, and again from the last one when the server ends the watch. */
async function follow(
  query: TableQuery,
  isView: boolean,
  from: string,
  sink: TableSink,
  signal: AbortSignal,
): Promise<void> {
  let revision = from;
  const received = (events: readonly WatchEvent<Table>[]) => {
    const changes: Change[] = [];
    for (const { type, object } of events) {
      for (const row of object.rows ?? []) {
        const { resourceVersion = "" } = row.object.metadata;
        // An object that a grant shows has its own version, which may be older than the watch.
        if (Number(resourceVersion) > Number(revision)) revision = resourceVersion;
        if (type !== "BOOKMARK") changes.push({ kind: type === "DELETED" ? "delete" : "set", row });
      }
    }
    if (changes.length > 0) sink.changes(changes);
  };
  while (!signal.aborted) {
    const view = isView ? "mine" : "";
    const parameters = { watch: "1", view, resourceVersion: revision, allowWatchBookmarks: "true" };
    const startMs = performance.now();
    await watch<Table>(`${query.path}?${parametersOf(query, parameters)}`, acceptOf(query), signal, received);
    if (performance.now() - startMs < 1000) await pause(firstRetryMs, signal);
  }
}
