import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StoreError } from "../store.ts";

/** Encrypts and decrypts values with one key, or with keys that a service holds. */
export interface ValueCipher {
  /** Provider, version and name of the key, for example `aesgcm:v1:key1`; stored beside each value, in plain text. */
  readonly label: string;
  /**
   * Encrypts a value.
   *
   * @param context the key of the store; ciphers that authenticate decrypt only with the same one.
   * @throws {KeyServiceError} the key can't be used at present.
   */
  encrypt(plain: Buffer, context: string): MaybePromise<Buffer>;
  /**
   * Decrypts a value.
   *
   * @throws {KeyServiceError} the key can't be used at present.
   * @throws {EncryptionError} the value is damaged, has another context, or was encrypted with an unknown key.
   */
  decrypt(sealed: Buffer, context: string): MaybePromise<Buffer>;
  /** Whether a new value would be encrypted with another key of the service than this one; absent: never. */
  isOutdated?(sealed: Buffer): boolean;
}

/** Options of an {@link EncryptionError}. */
interface EncryptionErrorOptions extends ErrorOptions {
  /** Name of the gRPC status with which the call of a service failed. */
  readonly callStatus?: string | undefined;
}

/** A value can't be encrypted or decrypted. */
export class EncryptionError extends StoreError {
  override name = "EncryptionError";
  /** Name of the gRPC status with which the call of the service failed; undefined if no failed call is the reason. */
  readonly callStatus: string | undefined;

  constructor(message: string, { callStatus, ...options }: EncryptionErrorOptions = {}) {
    super(message, options);
    this.callStatus = callStatus;
  }
}

/** The service that holds a key can't be used at present; a later call may succeed. */
export class KeyServiceError extends EncryptionError {
  override name = "KeyServiceError";
}

/** A stored value can't be decrypted; the others can be read. */
export class EncryptedValueError extends EncryptionError {
  override name = "EncryptedValueError";

  constructor(
    readonly key: string,
    reason: string,
    cause?: EncryptionError,
  ) {
    super(`the stored value of ${key} can't be decrypted: ${reason}`, {
      cause,
      callStatus: cause?.callStatus,
    });
  }
}

/** The ciphers of a collection. */
export interface CollectionCiphers {
  /** Encrypts new values; undefined stores them in plain text (`identity`). */
  readonly writer: ValueCipher | undefined;
  /** Decrypt values by their label. */
  readonly readers: readonly ValueCipher[];
  /** Whether values in plain text may be read. */
  readonly readsPlain: boolean;
}

/** Returns the ciphers of a collection; undefined if its values are stored in plain text. */
export type CiphersOf = (group: string, resource: string) => CollectionCiphers | undefined;
