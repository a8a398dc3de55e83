import type { PatchKind } from "../../resources/patch.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";

/** The media types of patches (spec: conventions 4.7). */
export const patchTypes: Readonly<Record<string, PatchKind>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
};

/** The media type of an apply, whose body is JSON or YAML. */
export const applyType = "application/apply-patch+yaml";

/** The media type of a header without its parameters, in lower case. */
export function mediaType(header: string | undefined): string {
  return (header ?? "").split(";", 1)[0]!.trim().toLowerCase();
}

/** Whether a PATCH is an apply. */
export function isApply(exchange: HttpExchange): boolean {
  return mediaType(exchange.header("content-type")) === applyType;
}
