import type { ReloadCounters } from "../../base/reload-counters.ts";
import { FileWatch } from "../../base/files/file-watch.ts";
import { stackOf } from "../../base/logger.ts";
import { ConfigurationError } from "../../schema/configuration.ts";
import { readOptionBytes } from "../options/option-files.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** A configuration file that is read again when it changes. */
export interface ReloadedFile {
  readonly flag: string;
  readonly file: string;
  readonly counters: ReloadCounters;
  /**
   * Uses the content of the file, at the start and after each change. An error leaves the previous configuration in use.
   *
   * @throws {ConfigurationError} the content is invalid.
   * @throws {OptionsError} a file that it names can't be used.
   */
  use(bytes: Uint8Array): Promise<void>;
}

/** Maximum size of a configuration file, as of a ConfigMap. */
const maxBytes = 1024 * 1024;

/**
 * Reads a configuration file and uses its content.
 *
 * @throws {OptionsError} the file can't be read or used; the message names flag, file and field.
 */
export async function useConfigurationFile<T>(
  flag: string,
  file: string,
  use: (bytes: Uint8Array) => Promise<T>,
): Promise<T> {
  const bytes = await readOptionBytes(flag, file, maxBytes);
  try {
    return await use(bytes);
  } catch (error) {
    if (error instanceof ConfigurationError) throw new OptionsError(`${flag} ${file}: ${error.message}`);
    throw error;
  }
}

/**
 * Reads a configuration file, and again when it changes. A later content that can't be used is logged and counted.
 *
 * @throws {OptionsError} the file can't be read or used; the message names flag, file and field.
 */
export async function reloadedFile(
  { clock, log }: Pick<ServerOptions, "clock" | "log">,
  reloaded: ReloadedFile,
): Promise<{ close(): Promise<void> }> {
  const { flag, file, counters } = reloaded;
  /** Content that is in use; undefined after an error. */
  let used: Uint8Array | undefined;
  /** Returns whether the content differs from that in use. */
  const use = () =>
    useConfigurationFile(flag, file, async (bytes) => {
      if (used !== undefined && Buffer.compare(used, bytes) === 0) return false;
      used = undefined;
      await reloaded.use(bytes);
      used = bytes;
      return true;
    });
  const changed = async (): Promise<void> => {
    // The file may have been replaced after the watch compared it, and have been used then.
    if (!(await use())) return;
    counters.add("success", clock.now());
    log.info({ file }, `${flag}: the changed file is in use`);
  };
  const failed = (error: unknown): void => {
    used = undefined;
    counters.add("failure", clock.now());
    const reason = error instanceof OptionsError ? error.message : stackOf(error);
    log.error(
      { error: reason },
      `${flag}: the changed file can't be used; keeping the previous configuration`,
    );
  };
  const watch = new FileWatch(() => [file], clock, changed, failed);
  // A change during the first use is found by the next poll.
  await watch.start();
  try {
    await use();
  } catch (error) {
    await watch.close();
    throw error;
  }
  return watch;
}
