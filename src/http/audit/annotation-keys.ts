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
    decision: `authorization.${groupSuffix}/decision`,
    reason: `authorization.${groupSuffix}/reason`,
    view: `authorization.${groupSuffix}/view`,
    deprecated: `${groupSuffix}/deprecated`,
    removedRelease: `${groupSuffix}/removed-release`,
    truncated: `audit.${groupSuffix}/truncated`,
  };
}
