import type { PatchKind } from "../../resources/writes/patch.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";

/** The media types of patches (spec: conventions 4.7). */
const patchTypes: ReadonlyMap<string, PatchKind> = new Map([
  ["application/json-patch+json", "json"],
  ["application/merge-patch+json", "merge"],
  ["application/strategic-merge-patch+json", "strategic"],
]);

/** The media type of an apply, whose body is JSON or YAML. */
const applyType = "application/apply-patch+yaml";

/**
 * The media types that PATCH of a resource type consumes, the type of apply last. A custom kind's schema doesn't describe how a
 * strategic merge patch merges its lists, so custom kinds don't consume it (spec: rulings).
 */
export function patchTypesOf(isCustom: boolean): readonly string[] {
  return [...patchTypes.keys(), applyType].filter((type) => type === applyType || patchKind(type, isCustom));
}

/** The kind of patch that a media type names; undefined where PATCH of the resource type doesn't consume it, and for an apply. */
export function patchKind(type: string, isCustom: boolean): PatchKind | undefined {
  const kind = patchTypes.get(type);
  return kind === "strategic" && isCustom ? undefined : kind;
}

/** The media type of a header without its parameters, in lower case. */
export function mediaType(header: string | undefined): string {
  return (header ?? "").split(";", 1)[0]!.trim().toLowerCase();
}

/** Whether a PATCH is an apply. */
export function isApply(exchange: HttpExchange): boolean {
  return mediaType(exchange.header("content-type")) === applyType;
}
