import type { TokenCacheWatcher } from "./token-cache.ts";

/** What authentication counts, since the server started. */
export class AuthenticationFigures implements TokenCacheWatcher {
  /** Questions to the caches of tokens. */
  readonly cache = { hit: 0, miss: 0 };
  /** Uses of service accounts' tokens. */
  readonly tokens = { valid: 0, stale: 0, legacy: 0 };

  /** See {@link TokenCacheWatcher}. */
  asked(status: "hit" | "miss"): void {
    this.cache[status]++;
  }
}
