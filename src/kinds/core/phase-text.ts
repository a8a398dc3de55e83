import type { ObjectMetaValue } from "../../schema/kind.ts";

/** The phase of a volume or claim, or that it is on its way out. */
export function phaseText(
  metadata: ObjectMetaValue,
  status: { readonly phase?: string | undefined } | undefined,
): string {
  return metadata.deletionTimestamp === undefined ? (status?.phase ?? "") : "Terminating";
}
