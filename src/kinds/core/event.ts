import { eventColumns, type EventFacts } from "./event-facts.ts";
import { checkEvent } from "./event-rules.ts";
import { ObjectReference } from "./references.ts";
import { kind, struct } from "./v1.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, microTime, string, time } from "../../schema/types.ts";

export const EventSource = struct("EventSource", "Who reported an event.", {
  component: field(1, string, "Component that reported it."),
  host: field(2, string, "Node on which the component runs."),
});

const EventSeries = struct("EventSeries", "How often an event was seen again.", {
  count: field(1, int32, "How often up to the last time it was seen."),
  lastObservedTime: field(2, microTime, "When it was last seen.").emitEmpty(),
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
  doc: "Something that happened to an object, told for people; it is kept for a while only.",
  effect: {
    acts: "deleted after `--event-ttl`",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the event.").declaredRequired(),
    involvedObject: field(2, ObjectReference, "The object that it happened to.").declaredRequired(),
    reason: field(3, string, "Short machine-readable reason."),
    message: field(4, string, "What happened, for people."),
    source: field(5, EventSource, "Who reported it, in the older form.").emitEmpty(),
    firstTimestamp: field(6, time, "When it was first seen.").emitEmpty(),
    lastTimestamp: field(7, time, "When it was last seen.").emitEmpty(),
    count: field(8, int32, "How often it was seen."),
    type: field(9, string, "Normal or Warning."),
    eventTime: field(10, microTime, "When it was first observed.").emitEmpty(),
    series: field(11, EventSeries, "How often it was seen again; absent for a single event.").nullable(),
    action: field(12, string, "What was done or failed to the object."),
    related: field(13, ObjectReference, "A second object that has to do with it.").nullable(),
    reportingComponent: field(14, string, "Name of the controller that reported it.").emitEmpty(),
    reportingInstance: field(15, string, "Instance of that controller.").emitEmpty(),
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
