import type { Release } from "../base/releases.ts";
import type { UserInfo } from "../base/user-info.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";

/** Context of the functions in a kind declaration. */
export interface KindContext {
  readonly vocabulary: Vocabulary;
  /** Whether a feature gate is enabled (spec: conventions 9.4). */
  readonly enabled: (gate: string) => boolean;
  /** The API release that the server follows; the reference release by default. */
  readonly release?: Release | undefined;
  /** Whether privileged containers are forbidden. */
  readonly forbidsPrivileged?: boolean;
  /** The subresource of the write; empty for the main resource. */
  readonly subresource: string;
  /** The creator of the object; only set for `prepareCreate`. */
  readonly user?: UserInfo | undefined;
  /** The time of the write, in milliseconds since 1970. */
  readonly now?: number | undefined;
}

/** Formats the time since a timestamp as kubectl does: `45s`, `3m20s`, `2d4h`. */
export type Since = (timestamp: string | null | undefined) => string;
