import {
  bootstrapSecretPrefix,
  parseBootstrapToken,
  type BootstrapToken,
} from "../../authentication/bootstrap-token-secret.ts";
import { Secret } from "../../kinds/core/secret.ts";
import { Follower } from "../../resources/followers/follower.ts";
import { namesOf, prefixOf } from "../../resources/registry/registry.ts";
import { decodeEntry } from "../../resources/objects/stored.ts";
import type { Entry } from "../../storage/store.ts";
import type { ControllerContext, QueueDependencies } from "../controller.ts";

/** Dependencies of controllers of bootstrap tokens. */
export type BootstrapDependencies = QueueDependencies &
  Pick<ControllerContext, "client" | "registry" | "store">;

/** A bootstrap token with uid and version of its Secret. */
export interface StoredToken extends BootstrapToken {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The bootstrap tokens in the system namespace, by the name of their Secret, updated by a subscription. */
export class BootstrapTokens {
  private readonly byName = new Map<string, StoredToken>();
  private readonly follower: Follower;

  /**
   * @param changed called with the name of each Secret whose token was added, changed or removed.
   * @param failed called when the subscription fails.
   */
  constructor(
    { store, registry, clock }: Pick<ControllerContext, "store" | "registry" | "clock">,
    private readonly changed: (name: string) => void,
    failed: (error: unknown) => void,
  ) {
    const { vocabulary } = registry;
    const handler = {
      matters: ({ key }: Entry) => namesOf(key).name.startsWith(bootstrapSecretPrefix),
      put: (entry: Entry) => {
        const secret = decodeEntry(entry);
        const token = parseBootstrapToken(secret, vocabulary);
        const { uid = "" } = secret.metadata;
        const stored = token && { ...token, uid, resourceVersion: String(entry.revision) };
        this.set(namesOf(entry.key).name, stored);
      },
      remove: (key: string) => this.set(namesOf(key).name, undefined),
      failed,
    };
    const prefix = prefixOf(registry.require(Secret), vocabulary.systemNamespace);
    this.follower = new Follower(store, prefix, handler, clock);
    this.follower.startInBackground();
  }

  /**
   * Returns the current tokens by the name of their Secret.
   *
   * @throws {StoreUnavailableError} the subscription is broken.
   */
  async all(): Promise<ReadonlyMap<string, StoredToken>> {
    await this.follower.sync();
    return this.byName;
  }

  /** True while the subscription is broken. */
  get failing(): boolean {
    return this.follower.failing;
  }

  close(): void {
    this.follower.close();
  }

  private set(name: string, token: StoredToken | undefined): void {
    if (token !== undefined) this.byName.set(name, token);
    else if (!this.byName.delete(name)) return;
    this.changed(name);
  }
}
