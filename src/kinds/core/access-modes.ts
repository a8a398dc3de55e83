import { labelKey } from "../../vocabulary/names.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { VocabularyString } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { deprecatedBehaviors } from "../deprecated-behaviors.ts";

/** Access modes with their short forms, in the order of display. */
const shortModes: ReadonlyMap<string, string> = new Map([
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
]);

/** Access modes. */
export const accessModes: readonly VocabularyString[] = [...shortModes.keys()];

/**
 * Requires at least one access mode; ReadWriteOncePod must be the only one. Unknown modes are reported by the field's
 * own rule.
 */
export function checkAccessModes(modes: readonly string[] | undefined, report: FieldReport): void {
  if (modes === undefined || modes.length === 0) return report.required("at least 1 access mode is required");
  const others = modes.some((mode) => mode !== "ReadWriteOncePod" && shortModes.has(mode));
  if (others && modes.includes("ReadWriteOncePod")) {
    report.forbidden("may not use ReadWriteOncePod with other access modes");
  }
}

/** Returns access modes as `RWO,RWX`. */
export function modesText(modes: readonly string[] | undefined): string {
  const requested = new Set(modes);
  return [...shortModes].flatMap(([mode, short]) => (requested.has(mode) ? [short] : [])).join(",");
}

/** Annotation that named the class of a volume or claim before the field existed. */
export function classAnnotation({ domain }: Vocabulary): string {
  return labelKey(domain, "storage-class", "volume.beta");
}

/** Returns warnings for a volume or claim that names its class in the annotation. */
export function classWarnings(
  annotations: Readonly<Record<string, string>> | undefined,
  vocabulary: Vocabulary,
): string[] {
  const key = classAnnotation(vocabulary);
  if (annotations?.[key] === undefined) return [];
  const { deprecated, instead } = deprecatedBehaviors.classOfVolume;
  return [`metadata.annotations[${key}]: deprecated since v${deprecated}; use "${instead}" instead`];
}

/** Returns the class of a volume or claim, from the annotation or the field. */
export function classOf(
  annotations: Readonly<Record<string, string>> | undefined,
  inSpec: string | undefined,
  vocabulary: Vocabulary,
): string {
  return annotations?.[classAnnotation(vocabulary)] ?? inSpec ?? "";
}
