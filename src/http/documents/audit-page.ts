import type { OtherProcesses } from "../../base/other-processes.ts";
import { StatusError } from "../../base/status-error.ts";
import { headersFor } from "../answers/respond.ts";
import {
  maxEvents,
  recentEventsPath,
  recentEventsTopic,
  type RecentEvent,
  type RecentEvents,
} from "../audit/recent-events.ts";
import type { Query } from "../request/facts.ts";
import { integerParameter } from "../request/parameters.ts";
import type { AddedPaths } from "../request/path-table.ts";

/** Number of events that are returned by default. */
const defaultLimit = 100;

/**
 * Adds the path of the recent audit events: an EventList of the newest ones, oldest first. The parameter `limit` is their maximum number.
 *
 * @param version API version of the list.
 * @param others the other processes of the server; the list has the events of all.
 */
export function addAuditPage(
  paths: AddedPaths,
  version: string,
  recent: RecentEvents,
  others: OtherProcesses | undefined,
): void {
  others?.share(recentEventsTopic, () => recent.newest(maxEvents));
  paths.add(recentEventsPath, async ({ exchange, facts }) => {
    const limit = limitOf(facts.query);
    const further = others === undefined ? [] : await others.collect(recentEventsTopic);
    const newest = newestOf([await recent.newest(limit), ...further], limit);
    const items = newest.map(({ text }) => text).join(",");
    const list = `{"kind":"EventList","apiVersion":"${version}","metadata":{},"items":[${items}]}\n`;
    exchange.send(200, headersFor("application/json"), Buffer.from(list));
  });
}

/** @throws {StatusError} BadRequest for another value than 1 to {@link maxEvents}. */
function limitOf(query: Query): number {
  const limit = integerParameter(query, "limit") ?? defaultLimit;
  if (limit < 1 || limit > maxEvents) {
    throw new StatusError("BadRequest", `parameter limit: ${limit} is not between 1 and ${maxEvents}`);
  }
  return limit;
}

function newestOf(lists: readonly (readonly RecentEvent[])[], limit: number): readonly RecentEvent[] {
  if (lists.length === 1) return lists[0]!.slice(-limit);
  const events = lists.flatMap((list) => list.slice(-limit));
  return events.toSorted((one, other) => one.micros - other.micros).slice(-limit);
}
