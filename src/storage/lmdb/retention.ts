import type { Environment } from "./databases.ts";
import { acquireEnvironment, defaultMapBytes, releaseEnvironment } from "./environment.ts";
import { encodeNumber } from "./layout.ts";
import { numberIn, soundStateIn } from "./stored-state.ts";

/** Key of the retention time in the database `meta`. */
const retentionKey = "retention";

/** Returns the recorded retention time in milliseconds; undefined if none is recorded. */
function retentionIn({ meta }: Pick<Environment, "meta">): number | undefined {
  const bytes = meta.getBinary(retentionKey);
  return bytes === undefined ? undefined : numberIn(bytes);
}

/** Records the retention time for maintenance commands, which open the store without a server's options. */
export async function recordRetention(environment: Environment, retentionMs: number): Promise<void> {
  if (retentionIn(environment) === retentionMs) return;
  const { root, meta, syncs } = environment;
  await syncs.track(() =>
    root.transaction(() => {
      syncs.enterSynced(soundStateIn(meta.getBinaryFast("state")));
      meta.putSync(retentionKey, encodeNumber(retentionMs));
    }),
  );
}

/**
 * Returns the retention time, in milliseconds, that the store was last opened with; undefined if none is recorded.
 *
 * @param dir folder of an existing store.
 * @throws {StoreError} it can't be opened.
 */
export async function retentionOf(dir: string): Promise<number | undefined> {
  const environment = acquireEnvironment(dir, defaultMapBytes);
  try {
    return retentionIn(environment);
  } finally {
    await releaseEnvironment(environment);
  }
}
