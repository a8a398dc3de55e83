import type { UserInfo } from "../base/user-info.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";

/** What a declaration's functions may know beyond the object. */
export interface KindContext {
  readonly vocabulary: Vocabulary;
  /** Whether a feature gate is on (spec: conventions 9.4). */
  readonly enabled: (gate: string) => boolean;
  /** Set where containers may not have all rights on their host. */
  readonly forbidsPrivileged?: boolean;
  /** The subresource that is written; empty for the object itself. */
  readonly subresource: string;
  /** Who creates the object; known to `prepareCreate` only. */
  readonly user?: UserInfo | undefined;
  /** The time of the write, in milliseconds since 1970. */
  readonly now?: number | undefined;
}

/** Tells how long ago a time was, in the field's short form: `45s`, `3m20s`, `2d4h`. */
export type Since = (timestamp: string | null | undefined) => string;
