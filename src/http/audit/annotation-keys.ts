import { groupAnnotation } from "../../vocabulary/names.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Keys of audit annotations in the server's vocabulary. */
export interface AnnotationKeys {
  readonly decision: string;
  readonly reason: string;
  readonly view: string;
  readonly deprecated: string;
  readonly removedRelease: string;
  readonly truncated: string;
}

export function annotationKeys({ groupSuffix }: Vocabulary): AnnotationKeys {
  return {
    decision: groupAnnotation(groupSuffix, "decision", "authorization"),
    reason: groupAnnotation(groupSuffix, "reason", "authorization"),
    view: groupAnnotation(groupSuffix, "view", "authorization"),
    deprecated: groupAnnotation(groupSuffix, "deprecated"),
    removedRelease: groupAnnotation(groupSuffix, "removed-release"),
    truncated: groupAnnotation(groupSuffix, "truncated", "audit"),
  };
}
