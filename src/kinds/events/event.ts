import { isQualifiedFinalizer, notQualified } from "../checks/finalizers.ts";
import { dnsSubdomain } from "../checks/names.ts";
import { same, unchanged } from "../checks/values.ts";
import { Event as CoreEvent, EventSource } from "../core/event.ts";
import { eventColumns, isGiven, type EventFacts } from "../core/event-facts.ts";
import { checkEvent, checkNothingOld, checkSeries } from "../core/event-rules.ts";
import { ObjectReference } from "../core/references.ts";
import { kind, struct } from "./v1.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { type ApiObject, type ObjectFor, type ObjectMetaValue } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, microTime, string, time } from "../../schema/types.ts";

const EventSeries = struct("EventSeries", "Repetitions of an event.", {
  count: field(1, int32, "Number of occurrences up to `lastObservedTime`.").declaredRequired(),
  lastObservedTime: field(2, microTime, "Time of the last occurrence.").declaredRequired(),
});

/** Fields whose names differ between the versions. */
const coreNames = {
  regarding: "involvedObject",
  note: "message",
  reportingController: "reportingComponent",
  deprecatedSource: "source",
  deprecatedFirstTimestamp: "firstTimestamp",
  deprecatedLastTimestamp: "lastTimestamp",
  deprecatedCount: "count",
} as const;

export const Event = kind({
  name: "Event",
  resource: "events",
  singular: "event",
  shortNames: ["ev"],
  scope: "Namespaced",
  createOnUpdate: true,
  doc: "A report about something that happened to an object; it expires after a while.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the event.").emitEmpty(),
    eventTime: field(2, microTime, "Time of the first occurrence.").declaredRequired(),
    series: field(3, EventSeries, "Repetitions of the event; absent if it occurred once.").nullable(),
    reportingController: field(4, string, "Name of the controller that reported the event."),
    reportingInstance: field(5, string, "Instance of the reporting controller, such as a pod name."),
    action: field(6, string, "Action that was taken or that failed, in machine-readable form."),
    reason: field(7, string, "Reason for the action, in machine-readable form."),
    regarding: field(8, ObjectReference, "Object that the event is about.").emitEmpty(),
    related: field(9, ObjectReference, "Secondary object of the event.").nullable(),
    note: field(10, string, "Human-readable description, at most 1 kB."),
    type: field(11, string, "Type of the event: Normal or Warning."),
    deprecatedSource: field(12, EventSource, "Deprecated: component that reported the event.").emitEmpty(),
    deprecatedFirstTimestamp: field(13, time, "Deprecated: time of the first occurrence.").emitEmpty(),
    deprecatedLastTimestamp: field(14, time, "Deprecated: time of the last occurrence.").emitEmpty(),
    deprecatedCount: field(15, int32, "Deprecated: number of occurrences."),
  },
  selectable: {
    "regarding.kind": (event) => event.regarding?.kind ?? "",
    "regarding.namespace": (event) => event.regarding?.namespace ?? "",
    "regarding.name": (event) => event.regarding?.name ?? "",
    "regarding.uid": (event) => event.regarding?.uid ?? "",
    "regarding.apiVersion": (event) => event.regarding?.apiVersion ?? "",
    "regarding.resourceVersion": (event) => event.regarding?.resourceVersion ?? "",
    "regarding.fieldPath": (event) => event.regarding?.fieldPath ?? "",
    reason: (event) => event.reason ?? "",
    reportingController: (event) => event.reportingController ?? "",
    type: (event) => event.type ?? "",
  },
  // As in the reference, faults of both versions have the field names of core, except for the controller's name.
  validate: (event, report, context) => checkEvent(factsOf(event), "reportingController", report, context),
  validateCreate(event, report, context) {
    checkOwnMetadata(event.metadata ?? {}, report.at("metadata"), context);
    checkSeries(event.series, report);
    if (!isGiven(event.eventTime)) report.at("eventTime").required();
    if (event.type !== "Normal" && event.type !== "Warning") {
      report.at("type").invalid(event.type ?? "", "must be Normal or Warning");
    }
    checkNothingOld(factsOf(event), report);
  },
  validateUpdate(event, live, report) {
    if (!same(event.series, live.series)) checkSeries(event.series, report);
    for (const name of fixed) {
      const path = name === "reportingController" ? name : coreNames[name as keyof typeof coreNames];
      unchanged(event[name], live[name], report.at(path ?? name));
    }
  },
  conversion: {
    stored: () => CoreEvent,
    toStored: (event) => renamed(event, Object.entries(coreNames)),
    fromStored: (event) =>
      renamed(
        event,
        Object.entries(coreNames).map(([here, there]) => [there, here]),
      ),
    selectableNames: {
      ...Object.fromEntries(
        ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map((part) => [
          `regarding.${part}`,
          `involvedObject.${part}`,
        ]),
      ),
      reportingController: "reportingComponent",
    },
  },
  columns: eventColumns(factsOf),
});
export type Event = ObjectFor<typeof Event>;

/** Checks the metadata of events.k8s.io events, which is stricter than in core. */
function checkOwnMetadata(
  { name = "", generateName = "", finalizers = [] }: ObjectMetaValue,
  report: FieldReport,
  { vocabulary }: KindContext,
): void {
  if (name !== "") dnsSubdomain(name, report.at("name"));
  // A suffix is appended to it, so it may end with a dash.
  if (generateName !== "") dnsSubdomain(`${generateName}x`, report.at("generateName"));
  for (const [index, finalizer] of finalizers.entries()) {
    if (!isQualifiedFinalizer(finalizer, vocabulary))
      report.at("finalizers", index).invalid(finalizer, notQualified);
  }
}

/** Immutable members: all except the series. */
const fixed = [
  "regarding",
  "reason",
  "note",
  "deprecatedSource",
  "deprecatedFirstTimestamp",
  "deprecatedLastTimestamp",
  "deprecatedCount",
  "type",
  "eventTime",
  "action",
  "related",
  "reportingController",
  "reportingInstance",
] as const satisfies readonly (keyof Event)[];

function factsOf(object: ApiObject): EventFacts {
  const event = object as Event;
  return {
    ...event,
    namespace: event.metadata.namespace,
    object: event.regarding,
    message: event.note,
    source: event.deprecatedSource,
    controller: event.reportingController,
    instance: event.reportingInstance,
    first: event.deprecatedFirstTimestamp,
    last: event.deprecatedLastTimestamp,
    count: event.deprecatedCount,
  };
}

function renamed(event: ApiObject, names: readonly (readonly [from: string, to: string])[]): ApiObject {
  const result: ApiObject = { ...event };
  for (const [from] of names) delete result[from];
  for (const [from, to] of names) if (event[from] !== undefined) result[to] = event[from];
  return result;
}
