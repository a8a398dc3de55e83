import { StatusError } from "../../base/status-error.ts";
import {
  type Revision,
  StoreError,
  TransactionLimitError,
  type TransactionResult,
} from "../../storage/store.ts";
import type { Admitter, AdmissionEffects, AdmissionRequest, Engine, WriteOutcome } from "../engine/engine.ts";
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
  const within = (request: AdmissionRequest): AdmissionRequest => ({
    ...request,
    dryRun: request.dryRun || dryRun,
    options: { ...request.options, dryRun: request.dryRun || dryRun },
    effects: effects.of(request.effects),
    staged,
  });
  return {
    concerns: (...type) => inner.concerns(...type),
    mutate: (request) => inner.mutate(within(request)),
    validate: (request) => inner.validate(within(request)),
  };
}

/** What happens with the outcome of a transaction: reports to plugins, and the ends of allocations. */
class DeferredEffects {
  private readonly listeners: ((outcome: WriteOutcome) => void)[] = [];
  private readonly finishes: (() => Promise<void>)[] = [];
  private readonly undos: (() => Promise<void>)[] = [];

  /** Returns the effects of a write whose listeners are called when the transaction has ended. */
  of(effects: AdmissionEffects): AdmissionEffects {
    const { listeners } = this;
    return {
      warn: (text) => effects.warn(text),
      annotate: (...annotation) => effects.annotate(...annotation),
      took: (...step) => effects.took?.(...step),
      addCondition: (condition) => effects.addCondition(condition),
      // An attempt that fails ends by itself; one that is staged has the outcome of the transaction.
      onOutcome: (listener) =>
        effects.onOutcome((outcome) => {
          if (outcome === "committed") listeners.push(listener);
          else listener(outcome);
        }),
      requestReinvocation: () => effects.requestReinvocation(),
      get reinvocationRequested() {
        return effects.reinvocationRequested;
      },
      state: (type) => effects.state(type),
    };
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
