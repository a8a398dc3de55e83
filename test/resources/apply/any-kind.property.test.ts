import fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/time/clock.ts";
import { compareTyped } from "../../../src/fields/apply/compare.ts";
import { fieldSetText, readFieldSet } from "../../../src/fields/apply/field-set.ts";
import {
  ApplyConflict,
  applyFields,
  updateFields,
  type Owners,
} from "../../../src/fields/apply/ownership.ts";
import { PartsFault } from "../../../src/fields/apply/parts.ts";
import { shapeOfStruct } from "../../../src/fields/apply/shape.ts";
import { builtInKinds } from "../../../src/kinds/all.ts";
import { kindContext, type Target } from "../../../src/resources/engine/engine.ts";
import { fromStored } from "../../../src/resources/engine/conversion.ts";
import { ignoredFields, versionsOf } from "../../../src/resources/ownership/field-ownership.ts";
import { readObject, readPart } from "../../../src/resources/input/input.ts";
import type { Resource } from "../../../src/resources/registry/registry.ts";
import { decode } from "../../../src/schema/decode.ts";
import type { ApiObject } from "../../../src/schema/kind.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import { engineOver } from "../engine.ts";
import { arbitraryStruct } from "../../support/arbitrary-value.ts";

const store = createMemoryStore({ clock: systemClock });
const engine = engineOver(store, builtInKinds);
const { registry } = engine;
afterAll(async () => {
  engine.pages.close();
  await store.close();
});

/** An object as it is stored, and who owns what of it. */
interface State {
  readonly object: ApiObject | undefined;
  readonly owners: Owners;
}
interface Write {
  readonly version: string;
  readonly kind: string;
  readonly manager: string;
  readonly value: Record<string, unknown>;
  readonly how: "apply" | "force" | "update";
}

/** What a write makes of a state; undefined where it is refused. */
function take(
  { object: live, owners }: State,
  { version: apiVersion, kind, manager, value, how }: Write,
): State | undefined {
  const version = registry.findKind(apiVersion, kind)!;
  const target: Target = { resource: version, namespace: "", name: "it", subresource: "" };
  const context = kindContext(engine, target);
  const shown = live === undefined ? {} : fromStored(version, structuredClone(live), context);
  const versions = versionsOf({
    engine,
    target: { ...target, resource: target.resource.stored },
    conversions: undefined,
  });
  const write = { version: version.apiVersion, ignored: ignoredFields(target) };
  if (how === "update") {
    const { object } = readObject(engine, target, value, [], "Ignore");
    const written = fromStored(version, structuredClone(object), context);
    return {
      object,
      ...updateFields(shown, written, owners, versions, { ...write, manager: `${manager}*` }),
    };
  }
  const { part } = readPart(target, value, [], "Ignore");
  try {
    const force = how === "force";
    const outcome = applyFields(shown, part, owners, versions, { ...write, manager, force });
    const { object } = readObject(engine, target, outcome.object, [], "Ignore");
    return { object, owners: outcome.owners };
  } catch (error) {
    if (error instanceof ApplyConflict || error instanceof PartsFault) return undefined;
    throw error;
  }
}

/** Whether what was applied stands as it was applied. */
function lasts({ object }: State, { version, kind, value }: Write): boolean {
  const resource = registry.findKind(version, kind)!;
  const target: Target = { resource, namespace: "", name: "it", subresource: "" };
  const shown = fromStored(resource, structuredClone(object!), kindContext(engine, target));
  const applied = decode(resource.kind.type, value).value;
  const { modified, removed } = compareTyped(applied, shown, shapeOfStruct(resource.kind.type));
  return modified.isEmpty && removed.isEmpty;
}

const versionsOfStored = new Map<string, Resource[]>();
for (const { resources } of registry.groupVersions) {
  for (const one of resources) {
    const found = versionsOfStored.get(one.storePrefix) ?? [];
    versionsOfStored.set(one.storePrefix, [...found, one]);
  }
}

/** Owners as texts, so that they can be compared. */
const shownOwners = (owners: Owners): object =>
  Object.fromEntries(
    [...owners].map(([id, { version, set }]) => [id, [version, [...set.paths()].map(String)]]),
  );

describe("apply to any object of any kind", () => {
  it.each([...versionsOfStored])(
    "%s: an apply that succeeded changes nothing when it comes again",
    (_prefix, versions) => {
      const writes = fc.constantFrom(...versions).chain((version) =>
        fc.record<Write>({
          version: fc.constant(version.apiVersion),
          kind: fc.constant(version.kind.name),
          manager: fc.constantFrom("a", "b"),
          value: arbitraryStruct(version.kind.type).map(({ metadata: _metadata, ...value }) => ({
            ...value,
            metadata: { name: "it" },
          })),
          how: fc.constantFrom("apply", "force", "update"),
        }),
      );
      fc.assert(
        fc.property(fc.array(writes, { maxLength: 3 }), writes, (before, last) => {
          const start: State = { object: undefined, owners: new Map() };
          const state = before.reduce((known, write) => take(known, write) ?? known, start);
          const once = take(state, last);
          // What the kind's own rules make something else of is wrong anyway.
          if (once === undefined || !lasts(once, last)) return;
          const twice = take(once, last.how === "force" ? { ...last, how: "apply" } : last);
          expect(twice).toBeDefined();
          expect(
            isDeepStrictEqual(twice!.object, once.object) ? "" : JSON.stringify([once.object, twice!.object]),
          ).toBe("");
          expect(shownOwners(twice!.owners)).toEqual(shownOwners(once.owners));
          // And what is written of the owners is read again as it was.
          for (const { set } of once.owners.values())
            expect(readFieldSet(fieldSetText(set)).equals(set)).toBe(true);
        }),
        { numRuns: 40 },
      );
    },
  );
});
