import type { Waiting } from "../../flow/priority-level.ts";
import type { FlowControl, FlowUse } from "../../flow/flow-control.ts";
import type { RefusalReason } from "../../flow/schema-flows.ts";
import type { FlowRequest } from "../../flow/request.ts";
import { isTrue } from "../request/facts.ts";
import { sendText } from "../answers/respond.ts";
import type { AddedPaths } from "../request/path-table.ts";

const base = "/debug/api_priority_and_fairness";

type Cell = string | number | boolean;

/** Adds the debug pages of priority and fairness: tables as text, one row per line, cells separated by commas. */
export function addFlowDebugPages(paths: AddedPaths, control: FlowControl): void {
  paths.add(`${base}/dump_priority_levels`, ({ exchange }) =>
    sendText(exchange, 200, table(levels(control))),
  );
  paths.add(`${base}/dump_queues`, ({ exchange }) => sendText(exchange, 200, table(queues(control))));
  paths.add(`${base}/dump_requests`, ({ exchange, facts }) => {
    const details = isTrue(facts.query.get("includeRequestDetails"));
    sendText(exchange, 200, table(requests(control, details)));
  });
}

function levels(control: FlowControl): Cell[][] {
  const rows = [...control.levels.values()].map((level): Cell[] => {
    const uses = [...control.counters].filter((use) => use.level === level);
    return [
      level.name,
      level.queuesInUse,
      level.executing === 0 && level.waiting === 0,
      control.isLeaving(level),
      level.waiting,
      level.executing,
      uses.reduce((sum, { dispatched }) => sum + dispatched, 0),
      refused(uses, "queue-full") + refused(uses, "concurrency-limit"),
      refused(uses, "time-out"),
      refused(uses, "cancelled"),
    ];
  });
  const heads = [
    "PriorityLevelName",
    "ActiveQueues",
    "IsIdle",
    "IsQuiescing",
    "WaitingRequests",
    "ExecutingRequests",
    "DispatchedRequests",
    "RejectedRequests",
    "TimedoutRequests",
    "CancelledRequests",
  ];
  return [heads, ...rows];
}

function sum(waiting: Iterable<Waiting>, of: (one: Waiting) => number): number {
  return [...waiting].reduce((total, one) => total + of(one), 0);
}

function refused(uses: readonly FlowUse[], reason: RefusalReason): number {
  return uses.reduce((sum, use) => sum + (use.refused.get(reason) ?? 0), 0);
}

function queues(control: FlowControl): Cell[][] {
  const rows = [...control.levels.values()].flatMap((level) =>
    [...level.queues.values()]
      .toSorted((a, b) => a.index - b.index)
      .map((queue): Cell[] => [
        level.name,
        queue.index,
        queue.waiting.size,
        queue.executing,
        queue.executingSeats,
        `${(queue.nextStart / 1000).toFixed(8)}ss`,
        queue.waitingSeats,
        sum(queue.waiting, ({ width }) => Math.max(width.seats, width.finalSeats)),
        `${(sum(queue.waiting, ({ workMs }) => workMs) / 1000).toFixed(8)}ss`,
      ]),
  );
  const heads = [
    "PriorityLevelName",
    "Index",
    "PendingRequests",
    "ExecutingRequests",
    "SeatsInUse",
    "NextDispatchR",
    "InitialSeatsSum",
    "MaxSeatsSum",
    "TotalWorkSum",
  ];
  return [heads, ...rows];
}

function requests(control: FlowControl, details: boolean): Cell[][] {
  const rows: Cell[][] = [];
  for (const level of control.levels.values()) {
    for (const queue of level.queues.values()) {
      for (const [place, { use, width, sinceMs, request, user }] of [...queue.waiting].entries()) {
        const arrived = new Date(sinceMs).toISOString();
        const { seats, finalSeats, finalMs } = width;
        const row: Cell[] = [level.name, use.schemaName, queue.index, place, arrived];
        row.push(seats, finalSeats, finalMs === 0 ? "0s" : `${finalMs}ms`);
        rows.push(details ? [...row, user.name, ...detailsOf(request)] : row);
      }
    }
  }
  const heads = [
    "PriorityLevelName",
    "FlowSchemaName",
    "QueueIndex",
    "RequestIndexInQueue",
    "ArriveTime",
    "InitialSeats",
    "FinalSeats",
    "AdditionalLatency",
  ];
  const further = ["UserName", "Verb", "APIPath", "Namespace", "Resource", "SubResource"];
  return [details ? [...heads, ...further] : heads, ...rows];
}

function detailsOf(request: FlowRequest): Cell[] {
  if (request.kind === "path") return [request.verb, request.path, "", "", ""];
  const { verb, path, namespace, resource, subresource } = request;
  return [verb, path, namespace, resource, subresource];
}

/** Aligns the cells of each column. Commas and control characters become `?`, so that client text can't start a cell or line. */
function table(rows: readonly (readonly Cell[])[]): string {
  const texts = rows.map((row) => row.map((cell) => `${String(cell).replaceAll(/[\p{C},]/gu, "?")},`));
  const widths = texts[0]!.map((_, column) => Math.max(...texts.map((row) => row[column]!.length)));
  const lines = texts.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join(" "));
  return `${lines.map((line) => line.trimEnd().slice(0, -1)).join("\n")}\n`;
}
