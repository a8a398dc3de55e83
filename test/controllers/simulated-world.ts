import { QuotaIndex } from "../../src/admission/plugins/resource-quota/quota-index.ts";
import type { Clock } from "../../src/base/time/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { Timestamps } from "../../src/base/time/timestamps.ts";
import type { RunningController } from "../../src/controllers/controller.ts";
import { fencedStore } from "../../src/controllers/fenced-store.ts";
import { garbageCollection } from "../../src/controllers/garbage-collection/garbage-collection.ts";
import { namespaceDeletion } from "../../src/controllers/namespace-deletion.ts";
import { resourceQuotas } from "../../src/controllers/resource-quotas.ts";
import { rootAuthorityPublisher } from "../../src/controllers/root-authority.ts";
import { serviceAccounts } from "../../src/controllers/service-accounts.ts";
import { ttlAfterFinished } from "../../src/controllers/ttl-after-finished.ts";
import { claimProtection } from "../../src/controllers/volumes/claim-protection.ts";
import { builtInKinds } from "../../src/kinds/all.ts";
import { Client } from "../../src/resources/clients/client.ts";
import type { Engine } from "../../src/resources/engine/engine.ts";
import { isRaced } from "../../src/resources/clients/races.ts";
import { decodeEntry } from "../../src/resources/objects/stored.ts";
import { runControllers } from "../../src/server/controllers/controllers.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { StoreUnavailableError, type CommitResult, type Store, type Write } from "../../src/storage/store.ts";
import { engineOver } from "../resources/engine.ts";
import { ManualClock } from "../support/manual-clock.ts";

const user = { name: "simulated", uid: "", groups: [], extra: {} };
const controllers = [
  serviceAccounts,
  rootAuthorityPublisher,
  resourceQuotas,
  claimProtection,
  ttlAfterFinished,
  namespaceDeletion,
  garbageCollection,
];

/** How often a write of a controller meets another one, is refused, and is written though its answer is lost. */
const faults = { conflict: 0.15, refused: 0.08, answerLost: 0.08 };

/** A server of controllers that can crash: from then on it writes nothing and its timers don't fire. */
interface Incarnation {
  crashed: boolean;
  readonly running: RunningController;
  readonly engine: Engine;
  readonly quotas: QuotaIndex;
}

/** A store, users and one server of controllers at a time, under a clock that only the test moves. */
export class SimulatedWorld {
  readonly clock = new ManualClock(1_700_000_000_000);
  readonly store = createMemoryStore({ clock: this.clock });
  /** What users do; it meets no faults. */
  readonly client: Client;
  /** Whether writes of controllers meet faults. */
  faulty = true;
  /** How many faults there were, so that a test can see that there were any. */
  readonly met = { conflict: 0, refused: 0, answerLost: 0 };
  private readonly engine: Engine;
  private now: Incarnation | undefined;
  private uids = 0;

  constructor(
    private readonly random: () => number,
    private readonly rootCertificate: string,
  ) {
    this.engine = this.engineOf(this.store, this.clock);
    this.client = new Client(this.engine, user);
  }

  /** Starts a server of controllers, unless one runs. */
  async start(): Promise<void> {
    if (this.now !== undefined) return;
    const life = { crashed: false };
    const store = this.storeOf(life);
    const clock = this.clockOf(life);
    const engine = this.engineOf(store, clock);
    const quotas = new QuotaIndex({ store, clock, failed: () => undefined }, engine.registry);
    const parts = {
      client: new Client(engine, user),
      registry: engine.registry,
      store,
      clock,
      featureEnabled: engine.featureEnabled,
      quotas,
      apiServices: { revision: 0, callsEnded: false, list: () => [].values(), find: () => undefined },
      rootCertificate: () => this.rootCertificate,
    };
    const running = await runControllers(controllers, parts, { log: silentLogger });
    this.now = Object.assign(life, { running, engine, quotas });
  }

  /** The server of controllers ends in the middle of whatever it does. */
  async crash(): Promise<void> {
    const { now } = this;
    if (now === undefined) return;
    this.now = undefined;
    now.crashed = true;
    await now.running.close();
    now.quotas.close();
    now.engine.pages.close();
  }

  async close(): Promise<void> {
    await this.crash();
    this.engine.pages.close();
    await this.store.close();
  }

  private engineOf(store: Store, clock: Clock): Engine {
    const newUid = () => `00000000-0000-4000-8000-${String(++this.uids).padStart(12, "0")}`;
    return { ...engineOver(store, builtInKinds), clock, newUid, timestamps: new Timestamps(clock) };
  }

  private clockOf(life: { readonly crashed: boolean }): Clock {
    const { clock } = this;
    return {
      now: () => clock.now(),
      monotonicNow: () => clock.now(),
      setTimer: (task, delayMs) => clock.setTimer(() => (life.crashed ? undefined : task()), delayMs),
    };
  }

  private storeOf(life: { readonly crashed: boolean }): Store {
    const { store } = this;
    const commit = async (write: Write): Promise<CommitResult> => {
      const dice = this.faulty ? this.random() : 1;
      if (dice < faults.conflict) await this.rival(write.key);
      else if (dice < faults.conflict + faults.refused) {
        this.met.refused++;
        throw new StoreUnavailableError("refused");
      }
      const result = await store.commit(write);
      if (dice > 1 - faults.answerLost && dice < 1) {
        this.met.answerLost++;
        throw new StoreUnavailableError("the answer is lost");
      }
      return result;
    };
    return {
      ...fencedStore(store, () => true),
      commit: (write) => {
        if (life.crashed) throw new StoreUnavailableError("crashed");
        return commit(write);
      },
    };
  }

  /** Somebody else writes the object just before. */
  private async rival(key: string): Promise<void> {
    const entry = await this.store.get(key);
    if (entry === undefined) return;
    const { apiVersion, kind, metadata } = decodeEntry(entry);
    const { name = "", namespace = "" } = metadata;
    const reference = { apiVersion: apiVersion ?? "", kind: kind ?? "", name, namespace };
    try {
      await this.client.patch(reference, { metadata: { annotations: { rival: String(this.random()) } } });
      this.met.conflict++;
    } catch (error) {
      if (!isRaced(error)) throw error;
    }
  }
}
