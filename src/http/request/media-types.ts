import type { PatchKind } from "../../resources/writes/patch.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";

/** The media types of patches (spec: conventions 4.7). */
const patchTypes: ReadonlyMap<string, PatchKind> = new Map([
  ["application/json-patch+json", "json"],
  ["application/merge-patch+json", "merge"],
  ["application/strategic-merge-patch+json", "strategic"],
]);

/** The media type of an apply, whose body is JSON or YAML. */
const applyType = "application/apply-patch+yaml";
/** The media type of an apply with a body in CBOR. */
const cborApplyType = "application/apply-patch+cbor";

/**
 * Returns the media types that PATCH of a resource type accepts, that of an apply last. The schema of a custom kind doesn't describe how a
 * strategic merge patch merges lists, so custom kinds don't accept that type (spec: rulings).
 */
export function patchTypesOf(isCustom: boolean, { cborMediaType }: Vocabulary): readonly string[] {
  const patches = [...patchTypes.keys()].filter((type) => patchKind(type, isCustom));
  return [...patches, applyType, ...(cborMediaType === undefined ? [] : [cborApplyType])];
}

/** Returns the type of patch of a media type; undefined for an apply, and if PATCH of the resource type doesn't accept the media type. */
export function patchKind(type: string, isCustom: boolean): PatchKind | undefined {
  const kind = patchTypes.get(type);
  return kind === "strategic" && isCustom ? undefined : kind;
}

/** Returns the media type of a Content-Type header without parameters, in lower case. */
export function mediaType(header: string | undefined): string {
  return (header ?? "").split(";", 1)[0]!.trim().toLowerCase();
}

/** Returns the format of an apply's body; undefined if a PATCH isn't an apply. */
export function applyFormat(
  exchange: HttpExchange,
  { cborMediaType }: Vocabulary,
): "yaml" | "cbor" | undefined {
  const type = mediaType(exchange.header("content-type"));
  if (type === applyType) return "yaml";
  return type === cborApplyType && cborMediaType !== undefined ? "cbor" : undefined;
}
