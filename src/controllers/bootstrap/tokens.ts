import {
  bootstrapSecretPrefix,
  bootstrapTokenIn,
  type BootstrapToken,
} from "../../authentication/bootstrap-token-secret.ts";
import { Secret } from "../../kinds/core/secret.ts";
import { Follower } from "../../resources/follower.ts";
import { namesOf, prefixOf } from "../../resources/registry.ts";
import { decodeEntry } from "../../resources/stored.ts";
import type { Entry } from "../../storage/store.ts";
import type { ControllerContext, QueueDependencies } from "../controller.ts";

/** Dependencies of controllers of bootstrap tokens. */
export type BootstrapDependencies = QueueDependencies &
  Pick<ControllerContext, "client" | "registry" | "store">;

/** A bootstrap token and the Secret in which it lies. */
export interface HeldToken extends BootstrapToken {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The bootstrap tokens in the system's namespace, by the names of their Secrets, kept up to date. */
export class HeldTokens {
  private readonly held = new Map<string, HeldToken>();
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
        const token = bootstrapTokenIn(secret, vocabulary);
        const { uid = "" } = secret.metadata;
        const held = token && { ...token, uid, resourceVersion: String(entry.revision) };
        this.set(namesOf(entry.key).name, held);
      },
      remove: (key: string) => this.set(namesOf(key).name, undefined),
      failed,
    };
    const prefix = prefixOf(registry.require(Secret), vocabulary.systemNamespace);
    this.follower = new Follower(store, prefix, handler, clock);
    this.follower.startInBackground();
  }

  /**
   * The current tokens by the names of their Secrets.
   *
   * @throws {StoreUnavailableError} they can't be followed at present.
   */
  async all(): Promise<ReadonlyMap<string, HeldToken>> {
    await this.follower.sync();
    return this.held;
  }

  /** Whether they can't be followed at present. */
  get failing(): boolean {
    return this.follower.failing;
  }

  close(): void {
    this.follower.close();
  }

  private set(name: string, token: HeldToken | undefined): void {
    if (token !== undefined) this.held.set(name, token);
    else if (!this.held.delete(name)) return;
    this.changed(name);
  }
}
