import type { FieldReport } from "../../schema/faults.ts";
import type { Word } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { deprecatedBehaviors } from "../deprecated-behaviors.ts";

/** The ways in which volumes can be mounted, with their short forms, in the order in which people see them. */
const shortModes: ReadonlyMap<string, string> = new Map([
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
]);

/** The ways in which volumes can be mounted. */
export const accessModes: readonly Word[] = [...shortModes.keys()];

/** At least one way of mounting; that of a single pod stands alone. Unknown ones are told by the field's closed set. */
export function checkAccessModes(modes: readonly string[] | undefined, place: FieldReport): void {
  if (modes === undefined || modes.length === 0) return place.required("at least 1 access mode is required");
  const others = modes.some((mode) => mode !== "ReadWriteOncePod" && shortModes.has(mode));
  if (others && modes.includes("ReadWriteOncePod")) {
    place.forbidden("may not use ReadWriteOncePod with other access modes");
  }
}

/** Ways of mounting as `RWO,RWX`. */
export function modesText(modes: readonly string[] | undefined): string {
  const given = new Set(modes);
  return [...shortModes].flatMap(([mode, short]) => (given.has(mode) ? [short] : [])).join(",");
}

/** The annotation by which the class of a volume or claim was named before there was a field. */
export function classAnnotation({ domain }: Vocabulary): string {
  return `volume.beta.${domain}/storage-class`;
}

/** What the writer of a volume or claim that names its class in the old place should know. */
export function classWarnings(
  annotations: Readonly<Record<string, string>> | undefined,
  vocabulary: Vocabulary,
): string[] {
  const key = classAnnotation(vocabulary);
  if (annotations?.[key] === undefined) return [];
  const { deprecated, instead } = deprecatedBehaviors.classOfVolume;
  return [`metadata.annotations[${key}]: deprecated since v${deprecated}; use "${instead}" instead`];
}

/** The class of a volume or claim, wherever it is named. */
export function classOf(
  annotations: Readonly<Record<string, string>> | undefined,
  inSpec: string | undefined,
  vocabulary: Vocabulary,
): string {
  return annotations?.[classAnnotation(vocabulary)] ?? inSpec ?? "";
}
