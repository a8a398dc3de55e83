import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../../base/time/clock.ts";
import { StatusError } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Entry, Store } from "../../storage/store.ts";

/** Store prefix of codes; no resource type has it. */
const codePrefix = "/core/console-logins/codes/";
/** How long a code is valid by default. */
const defaultLifeMs = 60_000;
/** Maximum number of unused codes of all users. */
const maxCodes = 32;
/** Length of a code: 256 random bits in base64url. */
const codeLength = 43;

interface StoredCode {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  /** Milliseconds since 1970. */
  readonly expires: number;
}

/**
 * One-time codes for the login to the console. The store has the digest of each code, so every process of the server can redeem it, and
 * the deletion of its entry succeeds once. A code is found by its digest, so the time of the search says nothing about other codes.
 */
export class LoginCodes {
  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates a code for a user.
   *
   * @throws {StatusError} TooManyRequests if too many codes are unused.
   * @throws {StoreError}
   */
  async create(
    { name, uid, groups }: Pick<UserInfo, "name" | "uid" | "groups">,
    lifeMs = defaultLifeMs,
  ): Promise<{ readonly code: string; readonly lifeSeconds: number }> {
    await this.removeExpired();
    const code = randomBytes(32).toString("base64url");
    const stored: StoredCode = { name, uid, groups, expires: this.clock.now() + lifeMs };
    const head = `${JSON.stringify(stored).slice(0, -1)},"revision":"`;
    const draft = {
      header: Buffer.from("{}"),
      body: Buffer.from(`${head}"}`),
      revisionAt: Buffer.byteLength(head),
    };
    await this.store.commit({ kind: "create", key: keyOf(code), draft });
    return { code, lifeSeconds: lifeMs / 1000 };
  }

  /**
   * Deletes a code and returns its user; undefined if it doesn't exist, is expired or was redeemed.
   *
   * @throws {StoreError}
   */
  async redeem(code: string): Promise<UserInfo | undefined> {
    if (code.length !== codeLength) return undefined;
    const entry = await this.store.get(keyOf(code));
    if (entry === undefined || !(await this.remove(entry))) return undefined;
    const { name, uid, groups, expires } = contentOf(entry);
    return this.clock.now() < expires ? { name, uid, groups, extra: {} } : undefined;
  }

  private async removeExpired(): Promise<void> {
    const { entries, more } = await this.store.range({ prefix: codePrefix, limit: maxCodes });
    const now = this.clock.now();
    let unused = 0;
    for (const entry of entries) {
      if (contentOf(entry).expires <= now) await this.remove(entry);
      else unused++;
    }
    if (unused >= maxCodes || more) {
      throw new StatusError(
        "TooManyRequests",
        `there are ${maxCodes} unused codes; each expires after some minutes`,
      );
    }
  }

  private async remove({ key, revision }: Entry): Promise<boolean> {
    return (await this.store.commit({ kind: "delete", key, expected: revision })).ok;
  }
}

function keyOf(code: string): string {
  return codePrefix + createHash("sha256").update(code).digest("hex");
}

function contentOf({ body }: Entry): StoredCode {
  return JSON.parse(Buffer.from(body).toString("utf8")) as StoredCode;
}
