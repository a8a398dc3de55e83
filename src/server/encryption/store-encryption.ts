import { stackOf } from "../../base/logger.ts";
import { detach } from "../../base/turns/maybe-promise.ts";
import { ReloadCounters } from "../../base/reload-counters.ts";
import type { HealthCheck } from "../../http/documents/health.ts";
import { encryptionObserver } from "../../http/metrics/encryption-metrics.ts";
import type { MetricSet } from "../../http/metrics/metric-set.ts";
import { EncryptedStore } from "../../storage/encryption/encrypted-store.ts";
import { EncryptedValues } from "../../storage/encryption/encrypted-values.ts";
import type { CiphersOf } from "../../storage/encryption/value-cipher.ts";
import type { SharedValues } from "../../storage/shared-values.ts";
import { StoreError, type Store } from "../../storage/store.ts";
import { featureGates } from "../features/enabled-features.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { OpenStore } from "../start/open-store.ts";
import { reloadedFile, useConfigurationFile } from "../start/reloaded-file.ts";
import { assertNothingEncrypted, markEncrypted } from "./encrypted-mark.ts";
import { readEncryptionConfiguration } from "./encryption-configuration.ts";
import { KmsServices } from "./kms-services.ts";
import { configuredCiphers } from "./providers.ts";

const flag = "--encryption-provider-config";

/** A store whose values are encrypted by the file of `--encryption-provider-config`. */
export interface StoreEncryption {
  readonly store: Store;
  /** The values that the servers of the store share, encrypted as secrets; undefined if they share none. */
  readonly shared: SharedValues | undefined;
  /** Counts reloads of the file; undefined without `--encryption-provider-config-automatic-reload`. */
  readonly reloads: ReloadCounters | undefined;
  /** Health checks of the key management services. */
  readonly checks: readonly HealthCheck[];
  close(): Promise<void>;
}

/**
 * Encrypts the values of a store by the configuration file of the options. Without a file the store is used as it is; also a store in
 * memory, which writes nothing to a disk, but then the file is checked.
 *
 * @param metrics shows the operations of encryption.
 * @throws {OptionsError} the file can't be used; or there is none, and the store has encrypted values.
 */
export async function encryptedStore(
  options: ServerOptions,
  { store, shared, memory }: Pick<OpenStore, "store" | "shared" | "memory">,
  metrics: MetricSet,
): Promise<StoreEncryption> {
  const { encryption, vocabulary, release } = options;
  if (encryption === undefined) {
    if (memory === undefined) await assertNothingEncrypted(store, shared);
    return unencrypted(store, shared);
  }
  const { configFile: file, automaticReload } = encryption;
  const { enabled } = featureGates(options);
  // A store in memory writes nothing to a disk.
  if (memory !== undefined) {
    await useConfigurationFile(flag, file, (bytes) =>
      readEncryptionConfiguration(bytes, vocabulary, release, enabled),
    );
    return unencrypted(store, shared);
  }
  const [domain = ""] = vocabulary.groupSuffix.split(".");
  const observer = encryptionObserver(metrics, { clock: options.clock, providerPrefix: domain });
  const encrypted = new EncryptedStore(store, () => undefined, observer);
  let ciphersOf: CiphersOf = () => undefined;
  const keys = shared && new EncryptedValues(shared);
  const refreshKeys = async (): Promise<void> => {
    try {
      await keys?.refresh();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      const message =
        "the keys of the servers in the store can't be encrypted with the current key; a restart tries again";
      options.log.warn({ error: error.message }, message);
    }
  };
  const services = new KmsServices(options, observer, () => {
    // Entries in memory don't say that their key is outdated now.
    encrypted.use(ciphersOf);
    detach(refreshKeys(), (error) => options.log.error({ error: stackOf(error) }, "shared keys"));
  });
  const use = async (bytes: Uint8Array): Promise<void> => {
    const entries = await readEncryptionConfiguration(bytes, vocabulary, release, enabled);
    await services.replace(async (open) => {
      const configured = await configuredCiphers(entries, open);
      await markEncrypted(store);
      ciphersOf = configured.ofCollection;
      encrypted.use(ciphersOf);
      keys?.use(configured.ofKeys);
    });
    await refreshKeys();
  };
  try {
    if (!automaticReload) {
      await useConfigurationFile(flag, file, use);
      const checks = services.isEmpty ? [] : [services.check()];
      return { store: encrypted, shared: keys, reloads: undefined, checks, close: () => services.close() };
    }
    const reloads = new ReloadCounters();
    const watch = await reloadedFile(options, { flag, file, counters: reloads, use });
    const close = async (): Promise<void> => {
      await watch.close();
      await services.close();
    };
    return { store: encrypted, shared: keys, reloads, checks: [services.check()], close };
  } catch (error) {
    await services.close();
    throw error;
  }
}

function unencrypted(store: Store, shared: SharedValues | undefined): StoreEncryption {
  return { store, shared, reloads: undefined, checks: [], close: () => Promise.resolve() };
}
