import { eventColumns, type EventFacts } from "./event-facts.ts";
import { checkEvent } from "./event-rules.ts";
import { ObjectReference } from "./references.ts";
import { kind, struct } from "./v1.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, microTime, string, time } from "../../schema/types.ts";

export const EventSource = struct("EventSource", "The component that reported an event.", {
  component: field(1, string, "Name of the component that reports the event."),
  host: field(2, string, "Name of the node on which the component runs."),
});

const EventSeries = struct("EventSeries", "Repetitions of an event.", {
  count: field(1, int32, "Number of occurrences up to `lastObservedTime`."),
  lastObservedTime: field(2, microTime, "Time of the last occurrence.").emitEmpty(),
});

export const Event = kind({
  name: "Event",
  resource: "events",
  singular: "event",
  shortNames: ["ev"],
  scope: "Namespaced",
  nameForm: "pathSegment",
  anyFinalizer: true,
  defaultGarbageCollectionPolicy: "Unsupported",
  createOnUpdate: true,
  doc: "A report about something that happened to an object; it expires after a while.",
  effect: {
    acts: "deleted after `--event-ttl`",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the event.").declaredRequired(),
    involvedObject: field(2, ObjectReference, "Object that the event is about.").declaredRequired(),
    reason: field(3, string, "Reason for the event, in machine-readable form."),
    message: field(4, string, "Human-readable description."),
    source: field(5, EventSource, "Component that reported the event.").emitEmpty(),
    firstTimestamp: field(6, time, "Time of the first occurrence.").emitEmpty(),
    lastTimestamp: field(7, time, "Time of the last occurrence.").emitEmpty(),
    count: field(8, int32, "Number of occurrences."),
    type: field(9, string, "Type of the event: Normal or Warning."),
    eventTime: field(10, microTime, "Time of the first occurrence, to the microsecond.").emitEmpty(),
    series: field(11, EventSeries, "Repetitions of the event; absent if it occurred once.").nullable(),
    action: field(12, string, "Action that was taken or that failed, in machine-readable form."),
    related: field(13, ObjectReference, "Secondary object of the event.").nullable(),
    reportingComponent: field(14, string, "Name of the controller that reported the event.").emitEmpty(),
    reportingInstance: field(
      15,
      string,
      "Instance of the reporting controller, such as a pod name.",
    ).emitEmpty(),
  },
  selectable: {
    "involvedObject.kind": (event) => event.involvedObject.kind ?? "",
    "involvedObject.namespace": (event) => event.involvedObject.namespace ?? "",
    "involvedObject.name": (event) => event.involvedObject.name ?? "",
    "involvedObject.uid": (event) => event.involvedObject.uid ?? "",
    "involvedObject.apiVersion": (event) => event.involvedObject.apiVersion ?? "",
    "involvedObject.resourceVersion": (event) => event.involvedObject.resourceVersion ?? "",
    "involvedObject.fieldPath": (event) => event.involvedObject.fieldPath ?? "",
    reason: (event) => event.reason ?? "",
    reportingComponent: (event) => event.reportingComponent ?? "",
    source: (event) => event.source?.component || (event.reportingComponent ?? ""),
    type: (event) => event.type ?? "",
  },
  validate: (event, report, context) => checkEvent(factsOf(event), "reportingComponent", report, context),
  columns: eventColumns(factsOf),
});
export type Event = ObjectFor<typeof Event>;

function factsOf(object: ApiObject): EventFacts {
  const event = object as Event;
  return {
    ...event,
    namespace: event.metadata.namespace,
    object: event.involvedObject,
    controller: event.reportingComponent,
    instance: event.reportingInstance,
    first: event.firstTimestamp,
    last: event.lastTimestamp,
  };
}
