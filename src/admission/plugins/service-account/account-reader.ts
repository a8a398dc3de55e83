import type { Clock } from "../../../base/clock.ts";
import { andThen, type MaybePromise } from "../../../base/maybe-promise.ts";
import type { ServiceAccount } from "../../../kinds/core/service-account.ts";
import type { ObjectReader } from "../../object-reader.ts";

/** The account of pods that name none. */
export const defaultAccount = "default";

/** Milliseconds after which the default account of a namespace is looked for again while it is missing. */
const waitsMs = [10, 20, 40, 80, 160, 320, 640] as const;

/** Reads service accounts as they are stored now. */
export class AccountReader {
  constructor(
    private readonly objects: ObjectReader,
    private readonly clock: Clock,
  ) {}

  /**
   * An account; undefined when there is none. A controller makes the default account of a new namespace, so a missing one is
   * waited for, 1.3 seconds at most.
   */
  find(namespace: string, name: string): MaybePromise<ServiceAccount | undefined> {
    return andThen(this.read(namespace, name), (account) =>
      account !== undefined || name !== defaultAccount ? account : this.waitFor(namespace),
    );
  }

  private read(namespace: string, name: string): MaybePromise<ServiceAccount | undefined> {
    return andThen(
      this.objects.core("serviceaccounts", namespace, name),
      (account) => account as unknown as ServiceAccount | undefined,
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
