import { describe, expect, it } from "vitest";
import { Event as CoreEvent } from "../../src/kinds/core/event.ts";
import { Event } from "../../src/kinds/events/event.ts";
import type { ApiObject } from "../../src/schema/kind.ts";
import { decode } from "../../src/schema/decode.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { cellsOf, judgeNew, judgeUpdate, readAs } from "./support.ts";

const context = { vocabulary: platform, enabled: () => false, subresource: "" };
const metadata = { name: "e", namespace: "ns" };
const about = { kind: "Pod", namespace: "ns", name: "p" };
const at = "2024-01-01T00:00:00.500000Z";

/** An event with the fields of core v1 only, without `eventTime`. */
const old = { metadata, involvedObject: about, reason: "Started" };
/** Events with `eventTime`: the common fields, with the field names of core v1, and with those of events v1. */
const style = { metadata, eventTime: at, action: "Start", reason: "Started", reportingInstance: "agent-1" };
const inCore = { ...style, involvedObject: about, reportingComponent: "example.com/agent" };
const fresh = { ...style, regarding: about, reportingController: "example.com/agent", type: "Normal" };

describe("Event of core v1", () => {
  it("events with and without eventTime are valid", () => {
    expect(judgeNew(CoreEvent, old).faults).toEqual([]);
    expect(judgeNew(CoreEvent, inCore).faults).toEqual([]);
  });

  it("gets no default values, and its required fields are written when they are empty", () => {
    expect(readAs(CoreEvent, { metadata })).toMatchObject({
      involvedObject: {},
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
      eventTime: null,
      reportingComponent: "",
      reportingInstance: "",
    });
  });

  it.each<[string, object, string[]]>([
    [
      "rejects an involvedObject in another namespace",
      { ...old, involvedObject: { namespace: "other" } },
      ["involvedObject.namespace"],
    ],
    [
      "rejects an involvedObject without a namespace, for a namespaced event",
      { ...old, involvedObject: {} },
      ["involvedObject.namespace"],
    ],
    [
      "accepts a cluster-scoped involvedObject and an event in the namespace default",
      { ...old, metadata: { name: "e", namespace: "default" }, involvedObject: { kind: "Node", name: "n" } },
      [],
    ],
    [
      "rejects eventTime and an involvedObject without a namespace",
      { ...inCore, involvedObject: {} },
      ["involvedObject.namespace"],
    ],
    [
      "accepts eventTime, a cluster-scoped involvedObject and an event in the system namespace",
      { ...inCore, metadata: { name: "e", namespace: "platform-system" }, involvedObject: {} },
      [],
    ],
    [
      "accepts eventTime and an involvedObject in another namespace",
      { ...inCore, involvedObject: { namespace: "other" } },
      [],
    ],
    [
      "rejects eventTime without reportingComponent",
      { ...inCore, reportingComponent: "" },
      Array(3).fill("reportingComponent"),
    ],
  ])("%s", (_name, value, places) => {
    expect(judgeNew(CoreEvent, value).faults.map((fault) => fault.split(":")[0])).toEqual(places);
  });

  it("limits the length of fields only when eventTime is set", () => {
    const long = "x".repeat(129);
    const value = {
      ...inCore,
      action: long,
      reason: long,
      reportingInstance: long,
      message: "x".repeat(1025),
    };
    expect(judgeNew(CoreEvent, value).faults).toEqual([
      "reportingInstance: FieldValueInvalid",
      "action: FieldValueInvalid",
      "reason: FieldValueInvalid",
      "message: FieldValueInvalid",
    ]);
    expect(judgeNew(CoreEvent, { ...inCore, reportingComponent: "a b" }).faults).toEqual([
      "reportingComponent: FieldValueInvalid",
    ]);
    expect(judgeNew(CoreEvent, { ...old, message: "x".repeat(1025) }).faults).toEqual([]);
  });

  it("supports field selectors on involvedObject, reason, reportingComponent, source and type", () => {
    const object = readAs(CoreEvent, {
      metadata,
      involvedObject: {
        kind: "Pod",
        namespace: "ns",
        name: "p",
        uid: "u",
        apiVersion: "v1",
        resourceVersion: "7",
        fieldPath: "spec.x",
      },
      reason: "r",
      type: "Warning",
      reportingComponent: "c",
    });
    const read = Object.fromEntries(
      Object.entries(CoreEvent.selectable).map(([name, value]) => [name, value(object)]),
    );
    expect(read).toEqual({
      "involvedObject.kind": "Pod",
      "involvedObject.namespace": "ns",
      "involvedObject.name": "p",
      "involvedObject.uid": "u",
      "involvedObject.apiVersion": "v1",
      "involvedObject.resourceVersion": "7",
      "involvedObject.fieldPath": "spec.x",
      reason: "r",
      reportingComponent: "c",
      source: "c",
      type: "Warning",
    });
    expect(CoreEvent.selectable["source"]!(readAs(CoreEvent, { source: { component: "s" } }))).toBe("s");
  });
});

describe("Event of events v1", () => {
  it.each<[string, object, string[]]>([
    ["accepts a valid event", {}, []],
    ["C-2.11-01 rejects an unknown type", { type: "Odd" }, ["type: FieldValueInvalid"]],
    ["C-2.11-01 rejects an empty type", { type: "" }, ["type: FieldValueInvalid"]],
    ["C-2.11-01 accepts type Warning", { type: "Warning" }, []],
    ["C-2.11-03 rejects an empty action", { action: "" }, ["action: FieldValueRequired"]],
    ["C-2.11-04 rejects an empty reason", { reason: "" }, ["reason: FieldValueRequired"]],
    [
      "C-2.11-05 rejects an empty reportingController",
      { reportingController: "" },
      [
        "reportingController: FieldValueRequired",
        // As in the reference, the empty name is also reported as malformed, twice.
        "reportingController: FieldValueInvalid",
        "reportingController: FieldValueInvalid",
      ],
    ],
    [
      "C-2.11-06 rejects an empty reportingInstance",
      { reportingInstance: "" },
      ["reportingInstance: FieldValueRequired"],
    ],
    ["C-2.11-07 rejects a missing eventTime", { eventTime: null }, ["eventTime: FieldValueRequired"]],
    ["C-2.11-07 accepts a series", { series: { count: 2, lastObservedTime: at } }, []],
    [
      "C-2.11-07 rejects a series with count 1 and no lastObservedTime",
      { series: { count: 1 } },
      ["series.count: FieldValueInvalid", "series.lastObservedTime: FieldValueRequired"],
    ],
    [
      "C-2.11-09 rejects deprecatedFirstTimestamp",
      { deprecatedFirstTimestamp: at },
      ["firstTimestamp: FieldValueInvalid"],
    ],
    [
      "C-2.11-09 rejects deprecatedLastTimestamp",
      { deprecatedLastTimestamp: at },
      ["lastTimestamp: FieldValueInvalid"],
    ],
    ["C-2.11-09 rejects deprecatedCount", { deprecatedCount: 1 }, ["count: FieldValueInvalid"]],
    [
      "C-2.11-09 rejects deprecatedSource.component",
      { deprecatedSource: { component: "a" } },
      ["source: FieldValueInvalid"],
    ],
    [
      "C-2.11-09 rejects deprecatedSource.host",
      { deprecatedSource: { host: "a" } },
      ["source: FieldValueInvalid"],
    ],
    ["rejects a note above 1024 characters", { note: "x".repeat(1025) }, ["message: FieldValueInvalid"]],
    [
      "rejects a namespaced event whose regarding has no namespace",
      { regarding: {} },
      ["involvedObject.namespace: FieldValueInvalid"],
    ],
  ])("%s", (_name, change, faults) => {
    expect(judgeNew(Event, { ...fresh, ...change }).faults).toEqual(faults);
  });

  it("all fields except series are immutable", () => {
    const series = { count: 2, lastObservedTime: at };
    expect(judgeUpdate(Event, fresh, { ...fresh, series }).faults).toEqual([]);
    expect(
      judgeUpdate(Event, fresh, { ...fresh, series: { count: 1, lastObservedTime: at } }).faults,
    ).toEqual(["series.count: FieldValueInvalid"]);
    const other = {
      ...fresh,
      regarding: { ...about, name: "q" },
      reason: "b",
      note: "b",
      deprecatedSource: { host: "b" },
      deprecatedFirstTimestamp: at,
      deprecatedLastTimestamp: at,
      deprecatedCount: 5,
      type: "Warning",
      eventTime: "2025-01-01T00:00:00Z",
      action: "b",
      related: about,
      reportingController: "example.com/b",
      reportingInstance: "b",
    };
    expect(judgeUpdate(Event, fresh, other).faults).toEqual(
      [
        "involvedObject",
        "reason",
        "message",
        "source",
        "firstTimestamp",
        "lastTimestamp",
        "count",
        "type",
        "eventTime",
        "action",
        "related",
        "reportingController",
        "reportingInstance",
      ].map((place) => `${place}: FieldValueInvalid`),
    );
  });

  it("C-2.11-02 C-2.11-08 is stored as a core Event and converted back without loss", () => {
    const { toStored, fromStored, selectableNames, stored } = Event.conversion!;
    const given = readAs(Event, {
      ...fresh,
      note: "n",
      deprecatedSource: { component: "c", host: "h" },
      deprecatedFirstTimestamp: at,
      deprecatedLastTimestamp: at,
      deprecatedCount: 3,
      related: about,
      series: { count: 2, lastObservedTime: at },
    });
    expect(stored()).toBe(CoreEvent);
    const kept = toStored(structuredClone(given), context);
    const core = decode(CoreEvent.type, kept);
    expect(core.unknownFields).toEqual([]);
    expect(core.value).toMatchObject({
      involvedObject: about,
      message: "n",
      source: { component: "c", host: "h" },
      firstTimestamp: "2024-01-01T00:00:00Z",
      lastTimestamp: "2024-01-01T00:00:00Z",
      count: 3,
      reportingComponent: "example.com/agent",
      related: about,
      series: { count: 2, lastObservedTime: at },
      eventTime: at,
      type: "Normal",
    });
    const back = decode(Event.type, fromStored(core.value as ApiObject, context));
    expect(back.unknownFields).toEqual([]);
    expect(back.value).toEqual(given);
    expect(selectableNames).toMatchObject({
      "regarding.fieldPath": "involvedObject.fieldPath",
      reportingController: "reportingComponent",
    });
    for (const name of Object.keys(Event.selectable)) {
      const storedName = selectableNames?.[name] ?? name;
      expect(CoreEvent.selectable[storedName]!(core.value as ApiObject), name).toBe(
        Event.selectable[name]!(given),
      );
    }
  });
});

describe("Event: table cells", () => {
  const now = "2024-01-01T01:00:00Z";
  const shown = {
    Reason: "Started",
    Object: "pod/p",
    Subobject: "",
    Name: "e",
  };
  it("of an event without eventTime", () => {
    const value = {
      ...old,
      type: "Warning",
      message: " text\n",
      source: { component: "agent", host: "n1" },
      firstTimestamp: "2024-01-01T00:00:00Z",
      lastTimestamp: "2024-01-01T00:59:00Z",
      count: 4,
      involvedObject: { ...about, fieldPath: "spec.x" },
    };
    expect(cellsOf(CoreEvent, value, now)).toEqual({
      ...shown,
      Subobject: "spec.x",
      "Last Seen": "60s",
      Type: "Warning",
      Source: "agent, n1",
      Message: "text",
      "First Seen": "60m",
      Count: 4,
    });
  });

  it("of an event with eventTime, in core v1 and events v1", () => {
    const expected = {
      ...shown,
      "Last Seen": "59m",
      Type: "Normal",
      Source: "example.com/agent, agent-1",
      Message: "",
      "First Seen": "59m",
      Count: 1,
    };
    expect(cellsOf(Event, fresh, now)).toEqual(expected);
    expect(cellsOf(CoreEvent, { ...inCore, type: "Normal" }, now)).toEqual(expected);
    const series = { count: 7, lastObservedTime: "2024-01-01T00:59:50Z" };
    expect(cellsOf(Event, { ...fresh, series, deprecatedCount: 9 }, now)).toMatchObject({
      "Last Seen": "10s",
      "First Seen": "59m",
      Count: 7,
    });
  });

  it("of an empty event", () => {
    expect(cellsOf(CoreEvent, {})).toMatchObject({
      "Last Seen": "<unknown>",
      "First Seen": "<unknown>",
      Object: "",
      Source: "",
    });
  });
});
