import { StatusError } from "../../base/status-error.ts";
import { nextTurn } from "../../base/turns/yielding.ts";
import { isRaced } from "../../resources/clients/races.ts";
import { namesOf, type Resource } from "../../resources/registry/registry.ts";
import type { Entry } from "../../storage/store.ts";
import type { ControllerContext } from "../controller.ts";

/** Maximum number and bytes of the objects that are read at a time. */
const pageLimit = 256;
const pageBytes = 256 * 1024;
/** Number of objects that are written concurrently, so that they share the syncs of the store. */
const concurrentWrites = 16;

/** A failed write of an object. */
export class MigrationError extends Error {
  override name = "MigrationError";

  /**
   * @param remaining number of objects that aren't migrated yet.
   * @param total number of all objects.
   */
  constructor(
    override readonly cause: unknown,
    readonly remaining: number,
    readonly total: number,
  ) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }

  /** Whether a later attempt may succeed; other errors of the API end the migration. */
  get isTransient(): boolean {
    return !(this.cause instanceof StatusError) || transientReasons.has(this.cause.reason);
  }
}

const transientReasons: ReadonlySet<string> = new Set([
  "InternalError",
  "ServerTimeout",
  "ServiceUnavailable",
  "Timeout",
  "TooManyRequests",
]);

/**
 * Updates the objects of a resource without changes, which stores those again that aren't stored in the storage version. Objects that
 * others change or delete meanwhile are skipped, and so are those with a later revision: they were stored in it.
 *
 * @param upTo revision of the last objects that are updated.
 * @param isClosed whether the server is stopping; the rest is then left to the next attempt.
 * @returns whether all objects were updated.
 * @throws {MigrationError}
 */
export async function storeAgain(
  { client, store }: Pick<ControllerContext, "client" | "store">,
  resource: Resource,
  upTo: number,
  isClosed: () => boolean,
): Promise<boolean> {
  const { storePrefix: prefix, apiVersion, kind } = resource;
  const total = await store.count(prefix);
  let seen = 0;
  const update = async ({ key, revision }: Entry) => {
    const reference = { apiVersion, kind: kind.name, ...namesOf(key) };
    const patch = { apiVersion, kind: kind.name, metadata: { resourceVersion: String(revision) } };
    try {
      await client.patch(reference, patch);
    } catch (error) {
      if (!isRaced(error)) throw error;
    }
  };
  let after: string | undefined;
  for (;;) {
    const page = await store.range({ prefix, after, limit: pageLimit, maxBytes: pageBytes });
    for (let start = 0; start < page.entries.length; start += concurrentWrites) {
      if (isClosed()) return false;
      const entries = page.entries.slice(start, start + concurrentWrites);
      const results = await Promise.allSettled(
        entries.filter(({ revision }) => revision <= upTo).map((entry) => update(entry)),
      );
      const failed = results.filter((one) => one.status === "rejected");
      if (failed.length > 0) {
        const remaining = Math.max(failed.length, total - seen - entries.length + failed.length);
        throw new MigrationError(failed[0]!.reason, remaining, total);
      }
      seen += entries.length;
    }
    after = page.entries.at(-1)?.key;
    if (!page.more) return true;
    await nextTurn();
  }
}
