import { ReloadCounters } from "../base/reload-counters.ts";
import type { TokenCacheWatcher } from "./token-cache.ts";

/** Counters of authentication since the start of the server. */
export class AuthenticationCounters implements TokenCacheWatcher {
  /** Lookups in the token caches. */
  readonly cache = { hit: 0, miss: 0 };
  /** Authentications by service account tokens. */
  readonly tokens = { valid: 0, stale: 0, legacy: 0 };

  /** Receives the remaining lifetime in seconds of each client certificate that authenticates. */
  certificateExpires: (seconds: number) => void = () => undefined;

  /** Reloads of the file of `--authentication-config`. */
  readonly reloads = new ReloadCounters();

  /** See {@link TokenCacheWatcher}. */
  onLookup(status: "hit" | "miss"): void {
    this.cache[status]++;
  }
}
