import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { KindContext } from "../../schema/context.ts";
import type { GroupVersion } from "../../schema/types.ts";
import { convertObject, type Converted } from "./convert.ts";
import type { Note } from "./notes.ts";

/** What became of a manifest. */
export interface ConvertedManifest {
  readonly object: JsonValue;
  readonly outcome: Converted["outcome"];
  readonly notes: readonly Note[];
}

/** Converts an object, or each object of a list (`List`, or `DeploymentList` and the like). The manifest isn't changed. */
export function convertManifest(
  given: JsonValue,
  wanted: GroupVersion | undefined,
  context: KindContext,
): ConvertedManifest {
  if (!isObject(given)) {
    const text = "cannot be converted: it is no object";
    return { object: given, outcome: "failed", notes: [{ path: "", text, level: "unresolved" }] };
  }
  const { items, kind } = given;
  if (!Array.isArray(items) || typeof kind !== "string" || !kind.endsWith("List")) {
    return convertObject(given, wanted, context);
  }
  return convertList(given, items, kind, wanted, context);
}

function convertList(
  list: JsonObject,
  items: readonly JsonValue[],
  kind: string,
  wanted: GroupVersion | undefined,
  context: KindContext,
): ConvertedManifest {
  const implied =
    kind === "List" ? {} : { apiVersion: list["apiVersion"]!, kind: kind.slice(0, -"List".length) };
  const results = items.map((item) =>
    convertManifest(isObject(item) ? { ...implied, ...item } : item, wanted, context),
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
  // A list of objects of several versions is one of anything.
  const head = kind === "List" ? {} : typed ? { apiVersion: version } : { apiVersion: "v1", kind: "List" };
  return { object: { ...list, ...head, items: results.map(({ object }) => object) }, outcome, notes };
}

function inItem(note: Note, index: number): Note {
  return { ...note, path: note.path === "" ? `items[${index}]` : `items[${index}].${note.path}` };
}
