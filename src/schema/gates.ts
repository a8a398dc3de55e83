import { placesOf } from "./places.ts";
import type { Field, StructType, Type } from "./types.ts";
import { formOf } from "./unions.ts";

type JsonObject = Record<string, unknown>;

/**
 * Drops the fields whose feature gate is off, or sets them to the value that such a field has then, but for those that the
 * object already used before (spec: conventions 9.4).
 * Changes `value`.
 */
export function dropDisabledFields(
  type: StructType,
  value: JsonObject,
  live: JsonObject | undefined,
  enabled: (gate: string) => boolean,
): void {
  const off = gatesOff(type, enabled);
  if (off.size === 0) return;
  let drops = false;
  visitGated(type, value, off, () => (drops = true));
  if (!drops) return;
  const used = new Set<string>();
  if (live !== undefined) visitGated(type, live, off, (_holder, _name, { gate }) => used.add(gate!));
  const unused = new Set([...off].filter((gate) => !used.has(gate)));
  visitGated(type, value, unused, (holder, name, { gatedTo }) => {
    if (gatedTo === undefined) delete holder[name];
    else holder[name] = gatedTo;
  });
}

type Enabled = (gate: string) => boolean;

const offBy = new WeakMap<Enabled, WeakMap<Type, ReadonlySet<string>>>();

/** The gates at and below a type that are off; a server's gates don't change, so they are asked once a type. */
function gatesOff(type: Type, enabled: Enabled): ReadonlySet<string> {
  let ofServer = offBy.get(enabled);
  if (ofServer === undefined) offBy.set(enabled, (ofServer = new WeakMap()));
  let off = ofServer.get(type);
  if (off === undefined) {
    off = new Set([...gatesOf(type)].filter((gate) => !enabled(gate)));
    ofServer.set(type, off);
  }
  return off;
}

const known = new WeakMap<Type, ReadonlySet<string>>();

/** The gates of the fields at and below a type; searched once a type. */
function gatesOf(type: Type): ReadonlySet<string> {
  let found = known.get(type);
  if (found === undefined) {
    const gates = new Set<string>();
    collect(type, gates, new Set());
    known.set(type, (found = gates));
  }
  return found;
}

function collect(type: Type, gates: Set<string>, visited: Set<Type>): void {
  switch (type.shape) {
    case "scalar":
      return;
    case "list":
      return collect(type.element, gates, visited);
    case "map":
      return collect(type.value, gates, visited);
    case "union":
      for (const form of Object.values(type.forms)) collect(form.type, gates, visited);
      return;
    case "struct":
      if (visited.has(type)) return;
      visited.add(type);
      for (const field of Object.values(type.fields)) {
        if (field.facts.gate !== undefined) gates.add(field.facts.gate);
        collect(field.type, gates, visited);
      }
  }
}

type Visit = (holder: JsonObject, name: string, facts: Field["facts"]) => void;

/** Visits every field of a value that one of the gates guards, but for those with the value that such a field has then. */
function visitGated(type: Type, value: unknown, gates: ReadonlySet<string>, visit: Visit): void {
  if (value === undefined || value === null || gatesOf(type).size === 0) return;
  switch (type.shape) {
    case "scalar":
      return;
    case "list":
      for (const item of value as unknown[]) visitGated(type.element, item, gates, visit);
      return;
    case "map":
      for (const item of Object.values(value as JsonObject)) visitGated(type.value, item, gates, visit);
      return;
    case "union": {
      const form = formOf(type, value);
      if (form !== undefined) visitGated(form.type, value, gates, visit);
      return;
    }
    case "struct": {
      const holder = value as JsonObject;
      const { places, fields } = placesOf(type);
      for (const name in holder) {
        const field = fields[places.get(name) ?? -1];
        if (field === undefined || holder[name] === undefined) continue;
        const { gate, gatedTo } = field.facts;
        if (gate !== undefined && gates.has(gate)) {
          if (gatedTo === undefined || (holder[name] !== null && holder[name] !== gatedTo))
            visit(holder, name, field.facts);
        } else visitGated(field.type, holder[name], gates, visit);
      }
    }
  }
}
