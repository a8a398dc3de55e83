import { expect, test } from "vitest";
import { gate, since, until } from "../../src/base/release-rows.ts";
import type { Release } from "../../src/base/releases.ts";
import { checkFields } from "../../src/schema/check.ts";
import type { KindContext } from "../../src/schema/context.ts";
import { fillFieldDefaults } from "../../src/schema/defaults.ts";
import { FieldReport } from "../../src/schema/faults.ts";
import { kindInRelease } from "../../src/schema/kind-in-release.ts";
import { declarationsIn, type ApiObject } from "../../src/schema/kind.ts";
import { ObjectMeta } from "../../src/schema/object-meta.ts";
import { field, string } from "../../src/schema/types.ts";
import { platform } from "../../src/vocabulary/platform.ts";

const { kind, struct } = declarationsIn({ base: "test", suffixed: false }, "v1");

const fault = (name: string) => (_value: unknown, report: FieldReport) => report.at(name).required();
const filling = (name: string) => (copy: object) => Object.assign(copy, { [name]: "filled" });

const Part = struct(
  "Part",
  "A part.",
  {
    text: field(1, string, "A text.")
      .check(since("1.29", fault("ofField")))
      .check(fault("always")),
  },
  {
    check: [until("1.29", fault("gone")), since("1.28", fault("added"))],
    fill: since("1.30", filling("text")),
  },
);

const column = (name: string) => ({ name, type: "string", doc: "A column.", cell: () => name }) as const;

const status = { initial: () => "new" } as const;

const Thing = kind({
  name: "Thing",
  resource: "things",
  singular: "thing",
  scope: "Namespaced",
  doc: "A thing.",
  fields: { metadata: field(1, ObjectMeta, "Metadata."), part: field(2, Part, "A part.") },
  selectable: { always: () => "", added: since("1.28", () => "") },
  generationOf: since("1.29", () => 1),
  columns: [column("A"), until("1.28", column("B")), since("1.28", column("C")), column("D")],
  validate: [fault("first"), since("1.28", gate("Name", fault("gated"))), until("1.29", fault("earlier"))],
  warnings: [
    () => ["always"],
    since(
      "1.28",
      gate("Name", () => ["gated"]),
    ),
    since("1.29", () => ["later"]),
  ],
  prepareUpdate: until("1.28", filling("earlier")),
  status: since("1.28", status),
  subresources: { added: since("1.29", { shape: "connect", verbs: ["get"], optionsKind: "Thing" }) },
});

const contextOf = (...gates: readonly string[]): KindContext => ({
  vocabulary: platform,
  enabled: (name) => gates.includes(name),
  subresource: "",
});
const of = (release: Release) => (release === "1.26" ? Thing : kindInRelease(Thing, release));
const object = (): ApiObject => ({ apiVersion: "test/v1", kind: "Thing", metadata: {}, part: { text: "a" } });

function faultsOf(release: Release, ...gates: readonly string[]): readonly string[] {
  const report = FieldReport.start();
  of(release).validate?.(object(), report, contextOf(...gates));
  return report.faults.map((one) => one.field ?? "");
}

test("rules of a kind are those of the release and the gates of the server, in order", () => {
  expect(faultsOf("1.26", "Name")).toEqual(["first", "earlier"]);
  expect(faultsOf("1.28")).toEqual(["first", "earlier"]);
  expect(faultsOf("1.28", "Name")).toEqual(["first", "gated", "earlier"]);
  expect(faultsOf("1.29", "Name")).toEqual(["first", "gated"]);
});

test("warnings of several rules are one list", () => {
  const warnings = (release: Release, ...gates: readonly string[]) =>
    of(release).warnings?.(object(), contextOf(...gates), undefined);
  expect(warnings("1.26")).toEqual(["always"]);
  expect(warnings("1.28")).toEqual(["always"]);
  expect(warnings("1.29", "Name")).toEqual(["always", "gated", "later"]);
});

test("columns, selectable fields, the generation and subresources are those of the release", () => {
  const columns = (release: Release) => of(release).columns?.map(({ name }) => name);
  expect([columns("1.26"), columns("1.28")]).toEqual([
    ["A", "B", "D"],
    ["A", "C", "D"],
  ]);
  const names = (release: Release) => [
    ...Object.keys(of(release).selectable),
    ...Object.keys(of(release).subresources),
  ];
  expect(names("1.26")).toEqual(["always"]);
  expect(names("1.28")).toEqual(["always", "added", "status"]);
  expect(names("1.29")).toEqual(["always", "added", "added", "status"]);
  expect([...of("1.28").laterSelectable!]).toEqual(["added"]);
  expect([of("1.28").generationOf, of("1.29").generationOf?.(object())]).toEqual([undefined, 1]);
});

test("a status that the release doesn't have changes neither creates nor updates", () => {
  const created = (release: Release) => {
    const copy = object();
    of(release).prepareCreate?.(copy, contextOf());
    of(release).prepareUpdate?.(copy, object(), contextOf());
    return copy;
  };
  expect(created("1.26")).toEqual({ ...object(), earlier: "filled" });
  expect(created("1.28")).toEqual({ ...object(), status: undefined });
});

test("rules of fields and structs are those of the release", () => {
  const faults = (release: Release) => {
    const report = FieldReport.start();
    checkFields(of(release).type, object(), report, contextOf());
    report.finishAtOnce();
    return report.faults.map((one) => one.field).toSorted();
  };
  expect(faults("1.26")).toEqual(["part.gone", "part.text.always"]);
  expect(faults("1.28")).toEqual(["part.added", "part.gone", "part.text.always"]);
  expect(faults("1.29")).toEqual(["part.added", "part.text.always", "part.text.ofField"]);
  const filled = (release: Release) => {
    const copy = object();
    fillFieldDefaults(of(release).type, copy, contextOf());
    return copy["part"];
  };
  expect([filled("1.29"), filled("1.30")]).toEqual([{ text: "a" }, { text: "filled" }]);
});
