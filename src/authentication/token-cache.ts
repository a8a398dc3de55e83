import { createHmac, randomBytes } from "node:crypto";
import type { Clock } from "../base/time/clock.ts";
import { RecentMap } from "../base/collections/recent-map.ts";
import type { StatusError } from "../base/status-error.ts";
import { isRefusal } from "./refusal.ts";

/** Limits of a {@link TokenCache}. */
export interface TokenCacheLimits {
  /** How long valid tokens are cached, in milliseconds; 0 disables it. */
  readonly validTtlMs: number;
  /** How long unknown and rejected tokens are cached, in milliseconds. */
  readonly invalidTtlMs: number;
  readonly maxEntries: number;
  /** Total size of the cached values in bytes, as measured by `sizeOf`. */
  readonly maxBytes: number;
}

/** Observes the lookups of a cache, for the metrics. */
export interface TokenCacheWatcher {
  /** Called for each lookup: the result was cached (`hit`) or must be determined (`miss`). */
  onLookup(status: "hit" | "miss"): void;
}

/** Size of a cache entry without its value. */
const entryBytes = 200;

const ascii = /^[\x20-\x7e]*$/;

interface CacheEntry<V> {
  readonly value: V | undefined;
  readonly refusal: StatusError | undefined;
  readonly expiresAtMs: number;
}

/**
 * Caches the results of a slow authentication method, for valid and for invalid tokens, with limits of time and size. Tokens
 * are not stored: the key of an entry is an HMAC of the token with a key of this process, so neither memory nor the time of a
 * lookup reveals a token. Concurrent lookups of a token share one call. The least recently used entry is evicted; valid and invalid
 * tokens have separate limits.
 *
 * Errors other than rejected credentials (an unavailable service, a bug) are not cached.
 */
export class TokenCache<V> {
  private readonly key = randomBytes(32);
  private readonly valid: RecentMap<CacheEntry<V>>;
  /** Separate, so that a flood of invalid tokens doesn't evict valid ones. */
  private readonly invalid: RecentMap<CacheEntry<V>>;
  private readonly pending = new Map<string, Promise<V | undefined>>();

  constructor(
    private readonly clock: Clock,
    private readonly limits: TokenCacheLimits,
    /** Estimates the size of a value in bytes. */
    private readonly sizeOf: (value: V) => number,
    private readonly watcher: TokenCacheWatcher | undefined = undefined,
  ) {
    const bounds = { entries: limits.maxEntries, cost: limits.maxBytes };
    this.valid = new RecentMap(bounds);
    this.invalid = new RecentMap(bounds);
  }

  /**
   * Returns the cached result for a token, or calls `authenticate`.
   *
   * @param scope other input on which the result depends, for example the requested audiences.
   * @param authenticate resolves to undefined for an unknown token, or throws a refusal. If it returns undefined instead of a
   *   promise, the token has another format; this isn't cached. `wasValid`: the token has an expired entry as valid token.
   * @throws {StatusError} Unauthorized, as `authenticate` threw it now or before; also any other error of `authenticate`.
   */
  get(
    token: string,
    scope: readonly string[],
    authenticate: (wasValid: boolean) => Promise<V | undefined> | undefined,
  ): V | undefined | Promise<V | undefined> {
    const digest = this.digest(token, scope);
    const validEntry = this.valid.get(digest);
    const cached = validEntry ?? this.invalid.get(digest);
    if (cached !== undefined && this.clock.monotonicNow() < cached.expiresAtMs) {
      this.watcher?.onLookup("hit");
      if (cached.refusal !== undefined) throw cached.refusal;
      return cached.value;
    }
    const pendingResult = this.pending.get(digest);
    const result = pendingResult ?? authenticate(validEntry !== undefined);
    if (result === undefined) return undefined;
    this.watcher?.onLookup("miss");
    if (pendingResult !== undefined) return pendingResult;
    const newResult = this.cacheResult(digest, result).finally(() => this.pending.delete(digest));
    this.pending.set(digest, newResult);
    return newResult;
  }

  /** Number and total size of the entries. */
  get size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.valid.size + this.invalid.size, bytes: this.valid.cost + this.invalid.cost };
  }

  private async cacheResult(digest: string, result: Promise<V | undefined>): Promise<V | undefined> {
    try {
      const value = await result;
      const invalid = value === undefined;
      const bytes = entryBytes + (invalid ? 0 : this.sizeOf(value));
      const expiresAtMs =
        this.clock.monotonicNow() + (invalid ? this.limits.invalidTtlMs : this.limits.validTtlMs);
      this.store(digest, { value, refusal: undefined, expiresAtMs: expiresAtMs }, bytes);
      return value;
    } catch (error) {
      if (isRefusal(error)) {
        const expiresAtMs = this.clock.monotonicNow() + this.limits.invalidTtlMs;
        const bytes = entryBytes + error.message.length * 2;
        this.store(digest, { value: undefined, refusal: error, expiresAtMs: expiresAtMs }, bytes);
      }
      throw error;
    }
  }

  private store(digest: string, entry: CacheEntry<V>, bytes: number): void {
    this.valid.delete(digest);
    this.invalid.delete(digest);
    // A very large value isn't cached, because it would evict all others.
    if (entry.expiresAtMs <= this.clock.monotonicNow() || bytes > this.limits.maxBytes / 8) return;
    const map = entry.value === undefined ? this.invalid : this.valid;
    map.set(digest, entry, bytes);
  }

  /** Returns the HMAC of token and scope. Each part is preceded by its length, so that different lists don't have the same input. */
  private digest(token: string, scope: readonly string[]): string {
    const digest = createHmac("sha256", this.key);
    // latin1 would map different non-ASCII strings to the same bytes.
    const encoding = ascii.test(token) ? "latin1" : "utf16le";
    digest.update(`${token.length}:${encoding}:${token}`, encoding);
    for (const part of scope) digest.update(`${part.length}:`).update(part, "utf16le");
    return digest.digest("base64");
  }
}
