import type { Column } from "../../schema/columns.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { agedCell } from "../columns.ts";

/** A missing time, which is encoded as null. */
export type Absent = null | undefined;

/** The content of an event, independent of its version. */
export interface EventFacts {
  readonly namespace?: string | undefined;
  readonly object?:
    | {
        readonly kind?: string | undefined;
        readonly namespace?: string | undefined;
        readonly name?: string | undefined;
        readonly fieldPath?: string | undefined;
      }
    | undefined;
  readonly type?: string | undefined;
  readonly reason?: string | undefined;
  readonly action?: string | undefined;
  readonly message?: string | undefined;
  readonly source?:
    { readonly component?: string | undefined; readonly host?: string | undefined } | undefined;
  readonly controller?: string | undefined;
  readonly instance?: string | undefined;
  readonly first?: string | Absent;
  readonly last?: string | Absent;
  readonly eventTime?: string | Absent;
  readonly count?: number | undefined;
  readonly series?:
    { readonly count?: number | undefined; readonly lastObservedTime?: string | Absent } | undefined;
}

export function isGiven(time: string | Absent): time is string {
  return time !== undefined && time !== null && time !== "";
}

/** The columns of events, which are the same in each version. */
export function eventColumns<O extends ApiObject>(read: (object: O) => EventFacts): readonly Column<O>[] {
  const text = (
    name: string,
    doc: string,
    cell: (event: EventFacts) => string,
    priority: 0 | 1 = 0,
  ): Column<O> => ({
    name,
    type: "string",
    priority,
    doc,
    cell: (object) => cell(read(object)),
  });
  return [
    {
      name: "Last Seen",
      type: "string",
      doc: "Time since the last occurrence.",
      ...agedCell((object: O, since) => since(lastSeen(read(object)))),
    },
    text("Type", "Type of the event: Normal or Warning.", ({ type }) => type ?? ""),
    text("Reason", "Reason for the event, in machine-readable form.", ({ reason }) => reason ?? ""),
    text("Object", "Object that the event is about.", objectText),
    text(
      "Subobject",
      "Part of the object that the event is about.",
      ({ object }) => object?.fieldPath ?? "",
      1,
    ),
    text("Source", "Component that reported the event.", sourceText, 1),
    text("Message", "Human-readable description.", ({ message }) => (message ?? "").trim()),
    {
      name: "First Seen",
      type: "string",
      priority: 1,
      doc: "Time since the first occurrence.",
      ...agedCell((object: O, since) => since(firstSeen(read(object)))),
    },
    {
      name: "Count",
      type: "string",
      priority: 1,
      doc: "Number of occurrences.",
      cell: (object) => countOf(read(object)),
    },
    {
      name: "Name",
      type: "string",
      priority: 1,
      doc: "Name of the event.",
      cell: ({ metadata }) => metadata.name ?? "",
    },
  ];
}

function firstSeen({ first, eventTime }: EventFacts): string | Absent {
  return isGiven(first) ? first : eventTime;
}

function lastSeen(event: EventFacts): string | Absent {
  if (event.series !== undefined) return event.series.lastObservedTime;
  return isGiven(event.last) ? event.last : firstSeen(event);
}

function countOf({ series, count = 0 }: EventFacts): number {
  if (series !== undefined) return series.count ?? 0;
  return count === 0 ? 1 : count;
}

function objectText({ object }: EventFacts): string {
  const kind = (object?.kind ?? "").toLowerCase();
  const name = object?.name ?? "";
  return name === "" ? kind : `${kind}/${name}`;
}

function sourceText({ source, controller = "", instance = "" }: EventFacts): string {
  const component = source?.component || controller;
  const host = source?.host || instance;
  return host === "" ? component : `${component}, ${host}`;
}
