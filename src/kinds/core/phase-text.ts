import type { ObjectMetaValue } from "../../schema/kind.ts";

/** Returns the phase of a volume or claim, or `Terminating`. */
export function phaseText(
  metadata: ObjectMetaValue,
  status: { readonly phase?: string | undefined } | undefined,
): string {
  return metadata.deletionTimestamp === undefined ? (status?.phase ?? "") : "Terminating";
}
