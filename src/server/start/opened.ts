import type { SigningKeys } from "../../authentication/service-accounts/own-signing-keys.ts";
import type { ServingCertificates } from "../../base/certificates/serving-certificates.ts";
import type { MemoryImage } from "../../storage/memory/memory-image.ts";

/** A stack of resources that are closed in reverse order when the server stops or its start fails. */
export class Opened {
  private readonly closings: (() => unknown)[] = [];

  /** Registers how a resource is closed, and returns the resource. */
  add<T>(opened: T, close: (opened: T) => unknown): T {
    this.closings.push(() => close(opened));
    return opened;
  }

  /** Closes everything even if some fail; then throws the first failure. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.closings.splice(0).toReversed()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** The content of a snapshot. */
interface SnapshotContent {
  readonly image: MemoryImage;
  /** The snapshots of the server that took it. */
  readonly owner: object;
}

/** The snapshots of a server, its forks, and their forks, by the object that the program has. */
export class SnapshotFamily extends WeakMap<object, SnapshotContent> {}

/** The state with which a fork of a server starts. */
export interface Inherited {
  /** The objects of the origin. */
  readonly image: MemoryImage;
  /** Keys of the image that the fork deletes before it starts, because they describe the origin itself. */
  readonly deletedKeys: readonly string[];
  readonly family: SnapshotFamily;
  /** Undefined with an operator's certificate, or without a socket. */
  readonly certificates: ServingCertificates | undefined;
  /** Undefined if the options name the key. */
  readonly signingKeys: SigningKeys | undefined;
}
