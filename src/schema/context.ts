import type { Vocabulary } from "../vocabulary/vocabulary.ts";

/** What a declaration's functions may know beyond the object. */
export interface KindContext {
  readonly vocabulary: Vocabulary;
  /** Whether a feature gate is on (spec: conventions 9.4). */
  readonly enabled: (gate: string) => boolean;
  /** The subresource that is written; empty for the object itself. */
  readonly subresource: string;
}
