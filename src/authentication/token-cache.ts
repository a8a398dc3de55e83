import { createHmac, randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { RecentMap } from "../base/recent-map.ts";
import type { StatusError } from "../base/status-error.ts";
import { isRefusal } from "./refusal.ts";

/** How much a {@link TokenCache} keeps, and for how long. */
export interface TokenCacheLimits {
  /** What was found is kept for so long, in milliseconds; 0 keeps nothing. */
  readonly foundMs: number;
  /** How long the result is cached that a token is unknown or refused, in milliseconds. */
  readonly missedMs: number;
  readonly maxEntries: number;
  /** Bytes that all kept values may take together, as `sizeOf` counts them. */
  readonly maxBytes: number;
}

/** Observes the lookups of a cache, for the metrics. */
export interface TokenCacheWatcher {
  /** The answer was kept (`hit`), or is being looked for (`miss`). */
  asked(status: "hit" | "miss"): void;
}

/** What a kept entry takes beside its value. */
const entryBytes = 200;

const ascii = /^[\x20-\x7e]*$/;

interface Kept<V> {
  readonly value: V | undefined;
  readonly refusal: StatusError | undefined;
  readonly untilMs: number;
}

/**
 * Remembers what an expensive method found out about tokens, for seconds and within bounds, both good and bad. Tokens
 * are not kept: an entry stands under a digest of the token with a key of this process, so neither memory nor the time
 * of a look-up says anything about a token. Of equal tokens at the same time one is looked into, and the others share
 * the answer. What was asked for longest ago makes room for what comes, the good for the good and the bad for the bad.
 *
 * Errors that are no refusal (a service that can't be reached, a defect) are never kept.
 */
export class TokenCache<V> {
  private readonly key = randomBytes(32);
  private readonly found: RecentMap<Kept<V>>;
  /** Apart from what was found, so that a flood of bad tokens never pushes out good ones. */
  private readonly missed: RecentMap<Kept<V>>;
  private readonly underWay = new Map<string, Promise<V | undefined>>();

  constructor(
    private readonly clock: Clock,
    private readonly limits: TokenCacheLimits,
    /** Bytes that a value takes, roughly. */
    private readonly sizeOf: (value: V) => number,
    private readonly watcher: TokenCacheWatcher | undefined = undefined,
  ) {
    const bounds = { entries: limits.maxEntries, cost: limits.maxBytes };
    this.found = new RecentMap(bounds);
    this.missed = new RecentMap(bounds);
  }

  /**
   * What is known of a token, or what `find` finds out.
   *
   * @param scope what else the answer depends on, for example the audiences that are asked for.
   * @param find answers undefined when the token is nobody's, or throws a refusal; undefined at once, without a promise,
   *   means that it isn't of the method's sort, which isn't worth remembering. It is told whether the token was good when
   *   it was last looked into.
   * @throws {StatusError} Unauthorized, as `find` threw it, now or before; whatever else `find` throws.
   */
  get(
    token: string,
    scope: readonly string[],
    find: (wasGood: boolean) => Promise<V | undefined> | undefined,
  ): V | undefined | Promise<V | undefined> {
    const digest = this.digest(token, scope);
    const good = this.found.get(digest);
    const known = good ?? this.missed.get(digest);
    if (known !== undefined && this.clock.monotonicNow() < known.untilMs) {
      this.watcher?.asked("hit");
      if (known.refusal !== undefined) throw known.refusal;
      return known.value;
    }
    const running = this.underWay.get(digest);
    const answer = running ?? find(good !== undefined);
    if (answer === undefined) return undefined;
    this.watcher?.asked("miss");
    if (running !== undefined) return running;
    const started = this.keepAnswer(digest, answer).finally(() => this.underWay.delete(digest));
    this.underWay.set(digest, started);
    return started;
  }

  /** How many answers are kept, and the bytes they take. */
  get size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.found.size + this.missed.size, bytes: this.found.cost + this.missed.cost };
  }

  private async keepAnswer(digest: string, answer: Promise<V | undefined>): Promise<V | undefined> {
    try {
      const value = await answer;
      const missed = value === undefined;
      const bytes = entryBytes + (missed ? 0 : this.sizeOf(value));
      const untilMs = this.clock.monotonicNow() + (missed ? this.limits.missedMs : this.limits.foundMs);
      this.keep(digest, { value, refusal: undefined, untilMs }, bytes);
      return value;
    } catch (error) {
      if (isRefusal(error)) {
        const untilMs = this.clock.monotonicNow() + this.limits.missedMs;
        const bytes = entryBytes + error.message.length * 2;
        this.keep(digest, { value: undefined, refusal: error, untilMs }, bytes);
      }
      throw error;
    }
  }

  private keep(digest: string, entry: Kept<V>, bytes: number): void {
    this.found.delete(digest);
    this.missed.delete(digest);
    // What alone would push out everything else is looked up each time.
    if (entry.untilMs <= this.clock.monotonicNow() || bytes > this.limits.maxBytes / 8) return;
    const map = entry.value === undefined ? this.missed : this.found;
    map.set(digest, entry, bytes);
  }

  /** Under a key that nobody knows; each part with its length, so that no two lists of parts read the same. */
  private digest(token: string, scope: readonly string[]): string {
    const digest = createHmac("sha256", this.key);
    // What isn't ASCII must not become the same bytes as another text.
    const encoding = ascii.test(token) ? "latin1" : "utf16le";
    digest.update(`${token.length}:${encoding}:${token}`, encoding);
    for (const part of scope) digest.update(`${part.length}:`).update(part, "utf16le");
    return digest.digest("base64");
  }
}
