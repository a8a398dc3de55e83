import { expect, test } from "vitest";
import { since } from "../../src/base/release-rows.ts";
import { releases } from "../../src/base/releases.ts";
import { Scale } from "../../src/kinds/autoscaling/scale.ts";
import { builtInKinds } from "../../src/kinds/all.ts";
import { decode } from "../../src/schema/decode.ts";
import { kindInRelease } from "../../src/schema/kind-in-release.ts";
import { declarationOf, declarationsIn } from "../../src/schema/kind.ts";
import { removedIn } from "../../src/schema/added-fields.ts";
import { ObjectMeta } from "../../src/schema/object-meta.ts";
import { field, int32, list, string } from "../../src/schema/types.ts";

const { kind, struct } = declarationsIn({ base: "test", suffixed: false }, "v1");

const Part = struct(
  "Part",
  "A part.",
  { first: field(1, string, "First."), gone: field(2, string, "Gone.") },
  {
    later: () => ({
      gone: removedIn("1.28"),
      added: since("1.30", field(3, string, "Added.")),
      changing: [since("1.29", field(4, string, "A text.")), since("1.31", field(4, int32, "A number."))],
    }),
  },
);

const Thing = kind({
  name: "Thing",
  resource: "things",
  singular: "thing",
  scope: "Namespaced",
  doc: "A thing.",
  fields: { metadata: field(1, ObjectMeta, "Metadata."), parts: field(2, list(Part), "Parts.") },
  later: () => ({ extra: since("1.30", field(3, Part, "Extra.")) }),
  subresources: {
    scale: {
      shape: "view",
      verbs: ["get"],
      kind: () => Scale,
      read: () => ({}),
      write: () => undefined,
      fields: [],
    },
  },
});

const OtherThing = kind({
  name: "Thing",
  resource: "things",
  singular: "thing",
  scope: "Namespaced",
  doc: "A thing in another version.",
  fields: { metadata: field(1, ObjectMeta, "Metadata."), parts: field(2, list(Part), "Parts.") },
  conversion: { stored: () => Thing, toStored: (one) => one, fromStored: (one) => one },
});

const value = { parts: [{ first: "a", gone: "b", added: "c", changing: "d" }], extra: { added: "e" } };

test("a kind has the fields of the release, at every depth", () => {
  expect(decode(Thing.type, value).unknownFields).toEqual(["parts[0].added", "parts[0].changing", "extra"]);
  const unknown = (release: "1.27" | "1.28" | "1.29" | "1.30") =>
    decode(kindInRelease(Thing, release).type, value).unknownFields;
  expect(unknown("1.27")).toEqual(["parts[0].added", "parts[0].changing", "extra"]);
  expect(unknown("1.28")).toEqual(["parts[0].gone", "parts[0].added", "parts[0].changing", "extra"]);
  expect(unknown("1.29")).toEqual(["parts[0].gone", "parts[0].added", "extra"]);
  expect(unknown("1.30")).toEqual(["parts[0].gone"]);
});

test("a later declaration of a field replaces the earlier one", () => {
  const changing = { parts: [{ changing: 5 }] };
  expect(decode(kindInRelease(Thing, "1.31").type, changing).value).toMatchObject(changing);
  expect(() => decode(kindInRelease(Thing, "1.30").type, changing)).toThrow("changing");
});

test("the storage version and the subresources have the release of the kind", () => {
  const thing = kindInRelease(Thing, "1.30");
  expect(kindInRelease(OtherThing, "1.30").conversion!.stored()).toBe(thing);
  const scale = thing.subresources["scale"]!;
  expect(scale.shape === "view" && scale.kind()).toBe(kindInRelease(Scale, "1.30"));
});

test("declarationOf returns the declared constant of a copy", () => {
  expect(declarationOf(kindInRelease(Thing, "1.30"))).toBe(Thing);
  expect(declarationOf(Thing)).toBe(Thing);
});

test.each(releases)("the field numbers of every built-in struct are unique in release %s", (release) => {
  const visited = new Set<unknown>();
  const visit = (type: (typeof Thing)["type"] | Parameters<typeof decode>[0]): void => {
    if (visited.has(type)) return;
    visited.add(type);
    const numbers = Object.entries(type.fields).flatMap(([name, { facts }]) =>
      facts.number === undefined || facts.inside.length > 0 ? [] : [[facts.number, name] as const],
    );
    const names = new Map<number, string>();
    for (const [number, name] of numbers) {
      expect(names.get(number), `${type.name}.${name}`).toBeUndefined();
      names.set(number, name);
    }
    for (const one of Object.values(type.fields)) {
      let inner = one.type;
      while (inner.shape === "list" || inner.shape === "map") {
        inner = inner.shape === "list" ? inner.element : inner.value;
      }
      if (inner.shape === "struct") visit(inner);
    }
  };
  for (const one of builtInKinds) visit(kindInRelease(one, release).type);
  expect(visited.size).toBeGreaterThan(400);
});
