import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { KindContext } from "../../schema/context.ts";
import type { GroupVersion } from "../../schema/types.ts";
import { convertObject, type Converted } from "./convert.ts";
import type { Note } from "./notes.ts";

/** The result of converting a manifest. */
export interface ConvertedManifest {
  readonly object: JsonValue;
  readonly outcome: Converted["outcome"];
  readonly notes: readonly Note[];
}

/** Converts an object, or each object of a list (`List`, `DeploymentList` and the like). The input isn't modified. */
export function convertManifest(
  manifest: JsonValue,
  target: GroupVersion | undefined,
  context: KindContext,
): ConvertedManifest {
  if (!isObject(manifest)) {
    const text = "cannot be converted: must be an object";
    return { object: manifest, outcome: "failed", notes: [{ path: "", text, level: "unresolved" }] };
  }
  const { items, kind } = manifest;
  if (!Array.isArray(items) || typeof kind !== "string" || !kind.endsWith("List")) {
    return convertObject(manifest, target, context);
  }
  return convertList(manifest, items, kind, target, context);
}

function convertList(
  list: JsonObject,
  items: readonly JsonValue[],
  kind: string,
  target: GroupVersion | undefined,
  context: KindContext,
): ConvertedManifest {
  const implied =
    kind === "List" ? {} : { apiVersion: list["apiVersion"]!, kind: kind.slice(0, -"List".length) };
  const results = items.map((item) =>
    convertManifest(isObject(item) ? { ...implied, ...item } : item, target, context),
  );
  const notes = results.flatMap((result, index) => result.notes.map((one) => inItem(one, index)));
  const outcomes = results.map(({ outcome }) => outcome);
  const outcome = outcomes.find((one) => one === "failed") ?? outcomes.find((one) => one === "converted");
  if (outcome === undefined) return { object: list, outcome: "unchanged", notes };
  const versions = new Set(
    results.map(({ object }) => (isObject(object) ? object["apiVersion"] : undefined)),
  );
  const [version] = versions;
  const typed = kind !== "List" && versions.size === 1 && version !== undefined;
  // A list with several versions becomes a `List`.
  const head = kind === "List" ? {} : typed ? { apiVersion: version } : { apiVersion: "v1", kind: "List" };
  return { object: { ...list, ...head, items: results.map(({ object }) => object) }, outcome, notes };
}

function inItem(note: Note, index: number): Note {
  return { ...note, path: note.path === "" ? `items[${index}]` : `items[${index}].${note.path}` };
}
