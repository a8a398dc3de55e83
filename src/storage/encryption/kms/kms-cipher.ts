import { randomBytes } from "node:crypto";
import type { Clock, Timer } from "../../../base/time/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import { andThen, detach, type MaybePromise } from "../../../base/turns/maybe-promise.ts";
import { RecentMap } from "../../../base/collections/recent-map.ts";
import type { EncryptionObserver } from "../encryption-observer.ts";
import { aesGcm } from "../local-ciphers.ts";
import { EncryptionError, KeyServiceError, type ValueCipher } from "../value-cipher.ts";
import type { KmsClient } from "./kms-client.ts";
import { checkKeyId, decodeSeed, encodeSeed, keyIdFault, type ServiceStatus } from "./messages.ts";

const seedBytes = 32;
/** Time after which a healthy or failing service is asked for its status again. */
const healthyPollMs = 60_000;
const failingPollMs = 10_000;
/** Age of a status that a health check uses. */
const healthyAgeMs = 20_000;
const failingAgeMs = 3000;
/** How long values are encrypted with a seed after the last successful status. */
const seedLifetimeMs = 180_000;
/** Longest text of a service in messages. */
const maxTextLength = 300;

/** Decrypted seeds that are kept, by their encrypted form; the cost is its size in bytes. */
const cacheLimits = { entries: 1000, cost: 8 * 1024 * 1024 };

/** A decrypted seed. */
interface Seed {
  readonly keyId: string;
  /** The form that is stored with each value. */
  readonly encrypted: Buffer;
  /** Encrypts and decrypts with keys that are derived from the seed. */
  readonly cipher: ValueCipher;
}

/** The dependencies of a {@link KmsCipher}. */
export interface KmsCipherOptions {
  /** Name of the service in the configuration. */
  readonly name: string;
  readonly client: KmsClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: EncryptionObserver | undefined;
  /** Called when new values have another key of the service than before. */
  readonly rotated: () => void;
}

/**
 * Encrypts values with keys that are derived from a random seed, which a key management service encrypts. The service is needed at the
 * start, when its key changes, and for each seed of earlier starts or other servers.
 */
export class KmsCipher implements ValueCipher {
  readonly label: string;
  private readonly seeds = new RecentMap<Seed>(cacheLimits);
  private readonly pending = new Map<string, Promise<Seed>>();
  private current: Seed | undefined;
  private validUntil = Number.NEGATIVE_INFINITY;
  private version: string | undefined;
  private polledAt = Number.NEGATIVE_INFINITY;
  private failure: EncryptionError | undefined;
  private polling: Promise<void> | undefined;
  private timer: Timer | undefined;
  private closed = false;

  constructor(private readonly options: KmsCipherOptions) {
    this.label = `kms:${options.client.protocol}:${options.name}`;
  }

  /**
   * Creates the first seed, and polls the service from now on.
   *
   * @throws {EncryptionError} the service can't be used.
   */
  async start(): Promise<void> {
    await this.poll();
    if (this.failure !== undefined) throw this.failure;
  }

  encrypt(plain: Buffer, context: string): MaybePromise<Buffer> {
    const { name, clock, observer } = this.options;
    const { current } = this;
    if (current === undefined || clock.monotonicNow() > this.validUntil) {
      throw new KeyServiceError(`the key management service ${name} can't be used at present`, {
        cause: this.failure,
      });
    }
    return andThen(current.cipher.encrypt(plain, context), (ciphertext) => {
      observer?.used("to_storage", name, current.keyId);
      return encodeSealedValue({ seed: current.encrypted, ciphertext });
    });
  }

  decrypt(sealed: Buffer, context: string): MaybePromise<Buffer> {
    const { seed, ciphertext } = decodeSealedValue(sealed);
    return andThen(this.seedOf(seed), ({ keyId, cipher }) => {
      const { name, observer } = this.options;
      observer?.used("from_storage", name, keyId);
      return cipher.decrypt(ciphertext, context);
    });
  }

  isOutdated(sealed: Buffer): boolean {
    const { seed } = decodeSealedValue(sealed);
    const { current } = this;
    if (current === undefined || seed.equals(current.encrypted)) return false;
    const cached = this.seeds.get(seed.toString("latin1"));
    return (cached ?? decodeSeed(seed)).keyId !== current.keyId;
  }

  /** Returns why the service can't be used; undefined if it can. Asks the service if its last status is too old. */
  async problem(): Promise<EncryptionError | undefined> {
    const maxAgeMs = this.failure === undefined ? healthyAgeMs : failingAgeMs;
    if (this.options.clock.monotonicNow() - this.polledAt >= maxAgeMs) await this.poll();
    return this.failure;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    // Ends the calls.
    this.options.client.close();
    await this.polling;
  }

  private seedOf(encrypted: Buffer): MaybePromise<Seed> {
    if (this.current?.encrypted.equals(encrypted) === true) return this.current;
    const key = encrypted.toString("latin1");
    const cached = this.seeds.get(key) ?? this.pending.get(key);
    if (cached !== undefined) return cached;
    this.options.observer?.missed();
    // Value and seed are in one buffer, which the store may use again.
    const decrypting = this.decryptSeed(Buffer.from(encrypted), key).finally(() => this.pending.delete(key));
    this.pending.set(key, decrypting);
    return decrypting;
  }

  private async decryptSeed(encrypted: Buffer, key: string): Promise<Seed> {
    const { name, client } = this.options;
    try {
      const parts = decodeSeed(encrypted);
      // A service that restarts is waited for; one that was down before isn't.
      const secret = await client.decrypt(parts, { waitForReady: this.failure === undefined });
      if (secret.length !== seedBytes) {
        throw new EncryptionError(`the decrypted seed has ${secret.length} bytes instead of ${seedBytes}`);
      }
      const seed = { keyId: parts.keyId, encrypted, cipher: aesGcm(this.label, secret) };
      this.keep(seed, key);
      return seed;
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error;
      const isTemporary = error instanceof KeyServiceError;
      if (isTemporary) this.pollAfterFailure();
      const Failure = isTemporary ? KeyServiceError : EncryptionError;
      const { message, callStatus } = error;
      throw new Failure(`the key management service ${name}: ${message}`, { cause: error, callStatus });
    }
  }

  private keep(seed: Seed, key: string): void {
    this.seeds.set(key, seed, seed.encrypted.length);
    this.reportSeeds();
  }

  /** Reports the number of seeds in memory, with the current one. */
  private reportSeeds(): void {
    const { name, observer } = this.options;
    observer?.cached(name, this.seeds.size + (this.current === undefined ? 0 : 1));
  }

  private pollAfterFailure(): void {
    const { clock, log } = this.options;
    if (this.closed || clock.monotonicNow() - this.polledAt < failingAgeMs) return;
    detach(this.poll(), (error) => log.error({ error: String(error) }, "polling failed"));
  }

  /** Asks for the status; concurrent callers share the call. It doesn't reject; the outcome is {@link failure}. */
  private poll(): Promise<void> {
    this.polling ??= this.pollOnce().finally(() => (this.polling = undefined));
    return this.polling;
  }

  private async pollOnce(): Promise<void> {
    const { name, clock, log } = this.options;
    const before = this.failure;
    const isFirst = this.polledAt === Number.NEGATIVE_INFINITY;
    try {
      await this.useStatus();
      this.failure = undefined;
      if (before !== undefined) log.info({ service: name }, "the key management service can be used again");
    } catch (error) {
      this.failure =
        error instanceof EncryptionError ? error : new EncryptionError(String(error), { cause: error });
      if (before?.message !== this.failure.message && !isFirst && !this.closed) {
        log.error({ service: name, error: this.failure.message }, "the key management service can't be used");
      }
    }
    this.polledAt = clock.monotonicNow();
    this.schedule();
  }

  private schedule(): void {
    this.timer?.cancel();
    if (this.closed) return;
    const delayMs = this.failure === undefined ? healthyPollMs : failingPollMs;
    const failed = (error: unknown): void =>
      this.options.log.error({ error: String(error) }, "polling failed");
    this.timer = this.options.clock.setTimer(() => detach(this.poll(), failed), delayMs);
  }

  private async useStatus(): Promise<void> {
    const { client, clock } = this.options;
    const validUntil = clock.monotonicNow() + seedLifetimeMs;
    const { keyId } = this.checkStatus(await client.status());
    if (this.current?.keyId === keyId) {
      this.validUntil = validUntil;
      return;
    }
    const secret = randomBytes(seedBytes);
    const parts = await client.encrypt(secret);
    if (parts.keyId !== keyId) {
      throw new EncryptionError("the service encrypted with another key than that of its status");
    }
    const encrypted = encodeSeed(parts);
    const previous = this.current;
    this.current = { keyId, encrypted, cipher: aesGcm(this.label, secret) };
    this.validUntil = validUntil;
    if (previous !== undefined) this.keep(previous, previous.encrypted.toString("latin1"));
    else this.reportSeeds();
    if (previous !== undefined) this.options.rotated();
  }

  private checkStatus(status: ServiceStatus): ServiceStatus {
    const { version, healthz, keyId } = status;
    if (healthz !== "ok")
      throw new EncryptionError(`the status of the service is ${quoted(healthz)}, not "ok"`);
    const { versions } = this.options.client;
    if (!versions.includes(version)) {
      throw new EncryptionError(
        `the service has version ${quoted(version)}; the supported versions are ${versions.join(" and ")}`,
      );
    }
    this.version ??= version;
    if (version !== this.version) {
      throw new EncryptionError(`the service changed its version from ${this.version} to ${version}`);
    }
    const { name, observer } = this.options;
    const fault = keyIdFault(keyId);
    if (fault === undefined) observer?.named(name, keyId);
    else observer?.invalidKeyId(name, fault);
    checkKeyId(keyId);
    return status;
  }
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, maxTextLength));
}

/** Form of an encrypted value: version, length of the encrypted seed (4 bytes), encrypted seed, ciphertext. */
const formVersion = 1;
const headBytes = 5;

/** Maximum size of an encrypted seed; its annotations can be many short ones. */
const maxSeedBytes = 256 * 1024;

/** The parts of an encrypted value. */
interface SealedValue {
  /** The encrypted seed, as `encodeSeed` returns it. */
  readonly seed: Buffer;
  /** The value, encrypted with a key that is derived from the seed. */
  readonly ciphertext: Buffer;
}

/** Returns the stored form of an encrypted value. */
export function encodeSealedValue({ seed, ciphertext }: SealedValue): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(formVersion);
  head.writeUInt32LE(seed.length, 1);
  return Buffer.concat([head, seed, ciphertext]);
}

/** @throws {EncryptionError} the bytes are cut off, or have a version that this server doesn't know. */
export function decodeSealedValue(bytes: Buffer): SealedValue {
  if (bytes.length < headBytes) throw new EncryptionError("the encrypted value is cut off");
  const version = bytes.readUInt8();
  if (version !== formVersion)
    throw new EncryptionError(`the encrypted value has the unknown form ${version}`);
  const length = bytes.readUInt32LE(1);
  const end = headBytes + length;
  if (length > maxSeedBytes || end > bytes.length)
    throw new EncryptionError("the encrypted value is cut off");
  return { seed: bytes.subarray(headBytes, end), ciphertext: bytes.subarray(end) };
}
