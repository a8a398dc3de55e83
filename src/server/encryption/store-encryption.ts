import { ReloadCounters } from "../../base/reload-counters.ts";
import { ConfigurationError } from "../../schema/configuration.ts";
import { EncryptedStore } from "../../storage/encryption/encrypted-store.ts";
import type { Store } from "../../storage/store.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { OpenStore } from "../start/open-store.ts";
import { reloadedFile, useConfigurationFile } from "../start/reloaded-file.ts";
import { assertNothingEncrypted, markEncrypted } from "./encrypted-mark.ts";
import { readEncryptionConfiguration } from "./encryption-configuration.ts";
import { configuredCiphers, type KmsCipher } from "./providers.ts";

const flag = "--encryption-provider-config";

/** A store whose values are encrypted by the file of `--encryption-provider-config`. */
export interface StoreEncryption {
  readonly store: Store;
  /** Counts reloads of the file; undefined without `--encryption-provider-config-automatic-reload`. */
  readonly reloads: ReloadCounters | undefined;
  close(): Promise<void>;
}

/**
 * Encrypts the values of a store by the configuration file of the options. Without a file the store is used as it is; also a store in
 * memory, which writes nothing to a disk, but then the file is checked.
 *
 * @throws {OptionsError} the file can't be used; or there is none, and the store has encrypted values.
 */
export async function encryptedStore(
  options: ServerOptions,
  { store, memory }: Pick<OpenStore, "store" | "memory">,
): Promise<StoreEncryption> {
  const { encryption, vocabulary } = options;
  if (encryption === undefined) {
    if (memory === undefined) await assertNothingEncrypted(store);
    return unencrypted(store);
  }
  const { configFile: file, automaticReload } = encryption;
  if (memory !== undefined) {
    await useConfigurationFile(flag, file, (bytes) => readEncryptionConfiguration(bytes, vocabulary));
    return unencrypted(store);
  }
  const encrypted = new EncryptedStore(store, () => undefined);
  const use = async (bytes: Uint8Array): Promise<void> => {
    const entries = await readEncryptionConfiguration(bytes, vocabulary);
    const ciphersOf = await configuredCiphers(entries, refuseKms);
    await markEncrypted(store);
    encrypted.use(ciphersOf);
  };
  if (!automaticReload) {
    await useConfigurationFile(flag, file, use);
    return { store: encrypted, reloads: undefined, close: () => Promise.resolve() };
  }
  const reloads = new ReloadCounters();
  const watch = await reloadedFile(options, { flag, file, counters: reloads, use });
  return { store: encrypted, reloads, close: () => watch.close() };
}

function unencrypted(store: Store): StoreEncryption {
  return { store, reloads: undefined, close: () => Promise.resolve() };
}

const refuseKms: KmsCipher = ({ name }) => {
  throw new ConfigurationError(`the service ${name} can't be used: kms isn't supported yet`);
};
