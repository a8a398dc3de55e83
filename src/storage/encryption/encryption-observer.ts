import type { MaybePromise } from "../../base/turns/maybe-promise.ts";

/** Direction of a transformation, as in the labels of the reference's metrics. */
export type Direction = "from_storage" | "to_storage";

/** What is transformed, and how. */
export interface Transformation {
  /** Resource with its group, such as `deployments.apps`. */
  readonly resource: string;
  readonly direction: Direction;
  /** Label of the cipher; `identity` for reads of plain text, empty for writes of it, `unknown` if there is no cipher for the value. */
  readonly label: string;
}

/** Receives the operations of encryption, for metrics. */
export interface EncryptionObserver {
  /** Returns the time in milliseconds, for {@link transformed}. */
  now(): number;
  /**
   * A value was encrypted or decrypted.
   *
   * @param startMs result of {@link now} when it began.
   * @param error why it failed; undefined if it succeeded.
   */
  transformed(transformation: Transformation, startMs: number, error: unknown): void;
  /** A key management service was called; `status` is the name of the gRPC status. */
  called(service: string, method: string, seconds: number, status: string): void;
  /** The seed of a value isn't in memory. */
  missed(): void;
  /** Number of decrypted seeds of a service in memory. */
  cached(service: string, seeds: number): void;
  /** A value was encrypted or decrypted with a seed that the key of the service protects. */
  used(direction: Direction, service: string, keyId: string): void;
  /** The status of a service names its key. */
  named(service: string, keyId: string): void;
  /** The key id in the status of a service is invalid. */
  invalidKeyId(service: string, fault: KeyIdFault): void;
}

/** Fault of a key id, as in the labels of the reference's metrics. */
export type KeyIdFault = "empty" | "too_long";

/** Runs an encryption or decryption, and reports it. */
export function observed<T>(
  observer: EncryptionObserver | undefined,
  transformation: Transformation,
  work: () => MaybePromise<T>,
): MaybePromise<T> {
  if (observer === undefined) return work();
  const startMs = observer.now();
  const failed = (error: unknown): never => {
    observer.transformed(transformation, startMs, error);
    throw error;
  };
  let result: MaybePromise<T>;
  try {
    result = work();
  } catch (error) {
    return failed(error);
  }
  const succeeded = (value: T): T => {
    observer.transformed(transformation, startMs, undefined);
    return value;
  };
  return result instanceof Promise ? result.then(succeeded, failed) : succeeded(result);
}
