import { StatusError } from "../../base/status-error.ts";
import {
  type Revision,
  StoreError,
  TransactionLimitError,
  type TransactionResult,
} from "../../storage/store.ts";
import type {
  AdmissionCondition,
  AdmissionEffects,
  AdmissionRequest,
  Admitter,
  Engine,
  OutcomeListener,
  WriteOutcome,
} from "../engine/engine.ts";
import { RepeatedApplies } from "../engine/repeated-applies.ts";
import { storeFailure } from "../engine/resource-version.ts";
import { mayHaveHappened, type StorageHooks } from "../engine/storage-hooks.ts";
import { StagedStore } from "./staged-store.ts";

/** Attempts of a transaction while other writes change its objects. */
const conflictAttempts = 10;

/** The outcome of a transaction. */
export interface CommittedTransaction<T> {
  readonly value: T;
  /** Its revision; undefined for a dry run, and if it changed nothing. */
  readonly revision: Revision | undefined;
}

/**
 * Runs work whose writes are committed together, or not at all. The work is repeated if other writes come between.
 *
 * @param work writes with the engine that it gets: each write sees the ones before it, with the revision `stagedRevision`. It must not
 *   have side effects of its own, because it may be repeated.
 * @param dryRun whether nothing is committed; admission sees a dry run.
 * @throws {StatusError} any error of the work; Conflict after too many attempts; RequestEntityTooLarge if the store can't commit as much.
 */
export async function inTransaction<T>(
  engine: Engine,
  dryRun: boolean,
  work: (engine: Engine) => Promise<T>,
): Promise<CommittedTransaction<T>> {
  for (let attempt = 1; attempt <= conflictAttempts; attempt++) {
    const store = new StagedStore(engine.store);
    const effects = new DeferredEffects();
    const value = await effects.orUndo(() => work(stagedEngine(engine, store, effects, dryRun)));
    if (dryRun) {
      await effects.settle("not committed");
      return { value, revision: undefined };
    }
    const result = await effects.orUndo(() => commitStaged(store));
    if (result === undefined || result.ok) {
      await effects.settle("committed");
      return { value, revision: result?.revision };
    }
    await effects.settle("not committed");
  }
  throw new StatusError(
    "Conflict",
    "Operation cannot be fulfilled on transactions: other writes change its objects too often; please try again",
  );
}

async function commitStaged(store: StagedStore): Promise<TransactionResult | undefined> {
  try {
    return await store.commitStaged();
  } catch (error) {
    if (error instanceof TransactionLimitError) throw new StatusError("RequestEntityTooLarge", error.message);
    throw error instanceof StoreError ? storeFailure(error) : error;
  }
}

/** The engine in which the operations of a transaction run. */
function stagedEngine(engine: Engine, store: StagedStore, effects: DeferredEffects, dryRun: boolean): Engine {
  return {
    ...engine,
    store,
    requestId: store.history === undefined ? undefined : engine.newUid("requests"),
    admit: stagedAdmitter(engine.admit, store, effects, dryRun),
    storageHooks: new Map(
      [...engine.storageHooks].map(([prefix, hooks]) => [prefix, effects.defer(hooks, dryRun)]),
    ),
    // Its entries are known by their revisions.
    repeatedApplies: new RepeatedApplies(),
  };
}

/** Admission of staged writes: plugins learn of the outcome when the transaction has ended. */
function stagedAdmitter(
  inner: Admitter,
  staged: StagedStore,
  effects: DeferredEffects,
  dryRun: boolean,
): Admitter {
  // All requests have the same members in the same order, so that code which reads them is fast.
  const within = (request: AdmissionRequest): AdmissionRequest => ({
    operation: request.operation,
    target: request.target,
    requestResource: request.requestResource,
    options: request.dryRun === dryRun ? request.options : { ...request.options, dryRun: true },
    user: request.user,
    dryRun: request.dryRun || dryRun,
    object: request.object,
    live: request.live,
    staged,
    reinvocation: request.reinvocation,
    effects: effects.of(request.effects),
  });
  return {
    concerns: (...type) => inner.concerns(...type),
    mutate: (request) => inner.mutate(within(request)),
    validate: (request) => inner.validate(within(request)),
  };
}

/** The effects of a write; what listens for its outcome learns that of the transaction. */
class StagedEffects implements AdmissionEffects {
  constructor(
    private readonly inner: AdmissionEffects,
    private readonly listeners: OutcomeListener[],
  ) {}

  warn(text: string): void {
    this.inner.warn(text);
  }

  annotate(key: string, value: string, level?: "Request"): void {
    this.inner.annotate(key, value, level);
  }

  took(step: string, durationMs: number): void {
    this.inner.took?.(step, durationMs);
  }

  addCondition(condition: AdmissionCondition): void {
    this.inner.addCondition(condition);
  }

  /** An attempt that fails ends by itself; one that is staged has the outcome of the transaction. */
  onOutcome(listener: OutcomeListener): void {
    this.inner.onOutcome((outcome) => {
      if (outcome === "committed") this.listeners.push(listener);
      else listener(outcome);
    });
  }

  requestReinvocation(): void {
    this.inner.requestReinvocation();
  }

  get reinvocationRequested(): boolean {
    return this.inner.reinvocationRequested;
  }

  state<T extends object>(type: new () => T): T {
    return this.inner.state(type);
  }
}

/** What happens with the outcome of a transaction: reports to plugins, and the ends of allocations. */
class DeferredEffects {
  private readonly listeners: OutcomeListener[] = [];
  private readonly finishes: (() => Promise<void>)[] = [];
  private readonly undos: (() => Promise<void>)[] = [];

  /** Returns the effects of a write whose listeners are called when the transaction has ended. */
  of(effects: AdmissionEffects): AdmissionEffects {
    return new StagedEffects(effects, this.listeners);
  }

  /** Returns hooks whose allocations end with the transaction. */
  defer(hooks: StorageHooks, isDryRun: boolean): StorageHooks {
    return {
      beforeWrite: async (object, live, dryRun) => {
        const pending = await hooks.beforeWrite(object, live, dryRun || isDryRun);
        let isUndone = false;
        const undo = async () => {
          if (isUndone) return;
          isUndone = true;
          await pending.undo();
        };
        this.finishes.push(async () => {
          if (!isUndone) await pending.finish();
        });
        this.undos.push(undo);
        return { finish: () => Promise.resolve(), undo };
      },
      afterDelete: async (object) => void this.finishes.push(() => hooks.afterDelete(object)),
    };
  }

  /** Runs a step; if it fails, the effects end. */
  async orUndo<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      await this.settle(mayHaveHappened(error) ? "unknown" : "not committed");
      throw error;
    }
  }

  async settle(outcome: WriteOutcome): Promise<void> {
    for (const listener of this.listeners) listener(outcome);
    // Allocations of an unknown outcome stay; unused ones are repaired later.
    const ends = outcome === "committed" ? this.finishes : outcome === "unknown" ? [] : this.undos;
    for (const end of ends) await end();
  }
}
