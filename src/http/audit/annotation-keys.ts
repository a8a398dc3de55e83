import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Names of annotations, in the vocabulary's spelling. */
export interface AnnotationKeys {
  readonly decision: string;
  readonly reason: string;
  readonly deprecated: string;
  readonly removedRelease: string;
  readonly truncated: string;
}

/** See {@link AnnotationKeys}. */
export function annotationKeys({ groupSuffix }: Vocabulary): AnnotationKeys {
  return {
    decision: `authorization.${groupSuffix}/decision`,
    reason: `authorization.${groupSuffix}/reason`,
    deprecated: `${groupSuffix}/deprecated`,
    removedRelease: `${groupSuffix}/removed-release`,
    truncated: `audit.${groupSuffix}/truncated`,
  };
}
