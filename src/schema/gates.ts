import { fieldPositionsOf } from "./field-positions.ts";
import type { Field, StructType, Type } from "./types.ts";
import { formOf } from "./unions.ts";

type JsonObject = Record<string, unknown>;

/**
 * Removes fields whose feature gate is off, or sets them to their `gatedTo` value, unless the live object already uses a field of
 * the gate (spec: conventions 9.4). Modifies `value`.
 */
export function dropDisabledFields(
  type: StructType,
  value: JsonObject,
  live: JsonObject | undefined,
  enabled: (gate: string) => boolean,
): void {
  const off = disabledGates(type, enabled);
  if (off.size === 0) return;
  let changes = false;
  visitGated(type, value, off, () => (changes = true));
  if (!changes) return;
  const used = new Set<string>();
  if (live !== undefined) visitGated(type, live, off, (_holder, _name, { gate }) => used.add(gate!));
  const unused = new Set([...off].filter((gate) => !used.has(gate)));
  visitGated(type, value, unused, (object, name, { gatedTo }) => {
    if (gatedTo === undefined) delete object[name];
    else object[name] = gatedTo;
  });
}

type Enabled = (gate: string) => boolean;

const disabledGatesByServer = new WeakMap<Enabled, WeakMap<Type, ReadonlySet<string>>>();

/** Returns the disabled gates of a type and the types inside. Cached per type, because gates don't change while the server runs. */
function disabledGates(type: Type, enabled: Enabled): ReadonlySet<string> {
  let byType = disabledGatesByServer.get(enabled);
  if (byType === undefined) disabledGatesByServer.set(enabled, (byType = new WeakMap()));
  let off = byType.get(type);
  if (off === undefined) {
    off = new Set([...gatesOf(type)].filter((gate) => !enabled(gate)));
    byType.set(type, off);
  }
  return off;
}

const gatesByType = new WeakMap<Type, ReadonlySet<string>>();

/** Returns the gates of the fields of a type and the types inside. Cached per type. */
function gatesOf(type: Type): ReadonlySet<string> {
  let gates = gatesByType.get(type);
  if (gates === undefined) {
    const collected = new Set<string>();
    collect(type, collected, new Set());
    gatesByType.set(type, (gates = collected));
  }
  return gates;
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

type Visit = (object: JsonObject, name: string, facts: Field["facts"]) => void;

/** Calls `visit` for every field of a value that has one of the gates, except fields that already have their `gatedTo` value. */
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
      const object = value as JsonObject;
      const { positions, fields } = fieldPositionsOf(type);
      for (const name in object) {
        const field = fields[positions.get(name) ?? -1];
        if (field === undefined || object[name] === undefined) continue;
        const { gate, gatedTo } = field.facts;
        if (gate !== undefined && gates.has(gate)) {
          if (gatedTo === undefined || (object[name] !== null && object[name] !== gatedTo))
            visit(object, name, field.facts);
        } else visitGated(field.type, object[name], gates, visit);
      }
    }
  }
}
