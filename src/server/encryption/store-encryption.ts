import { stackOf } from "../../base/logger.ts";
import { detach } from "../../base/turns/maybe-promise.ts";
import { ReloadCounters } from "../../base/reload-counters.ts";
import type { HealthCheck } from "../../http/documents/health.ts";
import { encryptionObserver } from "../../http/metrics/encryption-metrics.ts";
import type { MetricSet } from "../../http/metrics/metric-set.ts";
import { EncryptedStore } from "../../storage/encryption/encrypted-store.ts";
import { EncryptedValues } from "../../storage/encryption/encrypted-values.ts";
import { type CiphersOf, EncryptionError } from "../../storage/encryption/value-cipher.ts";
import type { SharedValues } from "../../storage/shared-values.ts";
import { StoreError, type Store } from "../../storage/store.ts";
import { featureGates } from "../features/enabled-features.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { OpenStore } from "../start/open-store.ts";
import { reloadedFile, useConfigurationFile } from "../start/reloaded-file.ts";
import { assertNothingEncrypted, markEncrypted } from "./encrypted-mark.ts";
import { readEncryptionConfiguration, type ConfiguredKms } from "./encryption-configuration.ts";
import { configuredCiphers, type OpenKms } from "./providers.ts";
import { ConfigurationError } from "../../schema/configuration.ts";
import type { KmsCipher } from "../../storage/encryption/kms/kms-cipher.ts";
import type { CallObserver, KmsClient } from "../../storage/encryption/kms/kms-client.ts";
import type { EncryptionObserver } from "../../storage/encryption/encryption-observer.ts";
import { closeAll, RetiredResources } from "../start/retired-resources.ts";

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

/** The key management services of the current configuration, and those of previous ones until they are closed. */
class KmsServices {
  private current: readonly KmsCipher[] = [];
  private readonly retired: RetiredResources;

  /** @param rotated called when new values have another key of a service than before. */
  constructor(
    private readonly options: Pick<ServerOptions, "clock" | "log">,
    private readonly observer: EncryptionObserver,
    private readonly rotated: () => void,
  ) {
    this.retired = new RetiredResources(options);
  }

  /**
   * Opens the services of a configuration; the previous ones are closed later.
   *
   * @param configure creates the ciphers of the configuration; if it fails, the previous services stay.
   * @throws {ConfigurationError} a service can't be used.
   */
  async replace<T>(configure: (open: OpenKms) => Promise<T>): Promise<T> {
    const opened: KmsCipher[] = [];
    let configured: T;
    try {
      configured = await configure((kms) => this.open(kms, opened));
    } catch (error) {
      await closeAll(opened);
      throw error;
    }
    this.retired.add(this.current);
    this.current = opened;
    return configured;
  }

  /** Whether the configuration has no service. */
  get isEmpty(): boolean {
    return this.current.length === 0;
  }

  /** Returns the check of the services of the configuration in use (spec: conventions 4.11). */
  check(): HealthCheck {
    const check = async (): Promise<string | undefined> => {
      const problems = await Promise.all(this.current.map((one) => one.problem()));
      // Health endpoints are public, so only the log has the details.
      return problems.every((one) => one === undefined) ? undefined : "reason withheld";
    };
    return { name: "kms-providers", check };
  }

  async close(): Promise<void> {
    await this.retired.close();
    await closeAll(this.current);
  }

  private async open(kms: ConfiguredKms, opened: KmsCipher[]): Promise<KmsCipher> {
    const { name, socket } = kms;
    const { KmsCipher } = await import("../../storage/encryption/kms/kms-cipher.ts");
    const { observer, rotated } = this;
    const client = await clientOf(kms, (...call) => observer.called(name, ...call));
    const { clock, log } = this.options;
    const cipher = new KmsCipher({ clock, log, name, client, observer, rotated });
    opened.push(cipher);
    try {
      await cipher.start();
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error;
      const message = `the key management service ${name} at ${socket} can't be used: ${error.message}`;
      throw new ConfigurationError(message, { cause: error });
    }
    return cipher;
  }
}

async function clientOf(kms: ConfiguredKms, observer: CallObserver): Promise<KmsClient> {
  if (kms.protocol === "v1")
    return (await import("../../storage/encryption/kms/kms-v1-client.ts")).kmsV1Client(kms, observer);
  return (await import("../../storage/encryption/kms/kms-client.ts")).kmsClient(kms, observer);
}
