import { objectAs } from "../../../schema/api-object.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { andThen, type MaybePromise } from "../../../base/turns/maybe-promise.ts";
import type { ServiceAccount } from "../../../kinds/core/service-account.ts";
import type { StagedEntries } from "../../../resources/objects/staged-entries.ts";
import type { ObjectReader } from "../../object-reader.ts";

/** The account of pods that don't name one. */
export const defaultAccount = "default";

/** Pauses between attempts to read a missing default account, in milliseconds. */
const waitsMs = [10, 20, 40, 80, 160, 320, 640] as const;

/** Reads the current state of service accounts. */
export class AccountReader {
  constructor(
    private readonly objects: ObjectReader,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns an account; undefined if it doesn't exist. Waits up to 1.3 seconds for a missing default account, as a controller
   * creates it after the namespace.
   *
   * @param staged what the transaction of the request has written before.
   */
  find(namespace: string, name: string, staged?: StagedEntries): MaybePromise<ServiceAccount | undefined> {
    return andThen(this.read(namespace, name, staged), (account) =>
      account !== undefined || name !== defaultAccount ? account : this.waitFor(namespace),
    );
  }

  private read(
    namespace: string,
    name: string,
    staged?: StagedEntries,
  ): MaybePromise<ServiceAccount | undefined> {
    return andThen(this.objects.core("serviceaccounts", namespace, name, staged), (account) =>
      objectAs<ServiceAccount>(account),
    );
  }

  private async waitFor(namespace: string): Promise<ServiceAccount | undefined> {
    for (const delayMs of waitsMs) {
      await new Promise<void>((resolve) => this.clock.setTimer(resolve, delayMs));
      const account = await this.read(namespace, defaultAccount);
      if (account !== undefined) return account;
    }
    return undefined;
  }
}
