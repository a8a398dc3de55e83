import type { HealthCheck } from "../../http/documents/health.ts";
import { ConfigurationError } from "../../schema/configuration.ts";
import type { KmsCipher } from "../../storage/encryption/kms/kms-cipher.ts";
import type { CallObserver, KmsClient } from "../../storage/encryption/kms/kms-client.ts";
import type { EncryptionObserver } from "../../storage/encryption/encryption-observer.ts";
import { EncryptionError } from "../../storage/encryption/value-cipher.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { closeAll, RetiredResources } from "../start/retired-resources.ts";
import type { ConfiguredKms } from "./encryption-configuration.ts";
import type { OpenKms } from "./providers.ts";

/** The key management services of the current configuration, and those of previous ones until they are closed. */
export class KmsServices {
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
