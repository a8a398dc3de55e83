import { StatusError } from "../../base/status-error.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import type { Revision, StoreEvent } from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AccessScopes } from "../access-scopes.ts";
import type { ScopeAttributes } from "../authorizer.ts";
import { readGrantEvents, readGrants, type GrantStore } from "./grant-events.ts";
import { maxStatesSize, tooManyStates } from "./followed-scopes.ts";
import type { RoleRecord } from "./role-record.ts";
import { TrackedGrants, type TrackedScopes } from "./tracked-grants.ts";

/** Maximum number of questions that wait for the next run. */
const maxQuestions = 10_000;
const retryAfterSeconds = 1;

/** The objects that a user may access from a revision on. */
export interface PastScopes {
  readonly since: Revision;
  readonly scopes: AccessScopes;
}

class PastQuestion implements TrackedScopes {
  roles: ReadonlySet<RoleRecord> = new Set();
  readonly states: PastScopes[] = [];
  /** Number of namespaces and names in the states. */
  private size = 0;

  constructor(
    readonly attributes: ScopeAttributes,
    readonly after: Revision,
    readonly upTo: Revision,
    readonly resolve: (states: readonly PastScopes[]) => void,
    readonly reject: (error: unknown) => void,
  ) {}

  /** Whether the states are more than a watch may keep in memory. */
  get isTooLarge(): boolean {
    return this.size > maxStatesSize;
  }

  add(since: Revision, scopes: AccessScopes): void {
    this.size += scopes.size + 1;
    if (this.isTooLarge) this.states.length = 0;
    else this.states.push({ since, scopes });
  }

  /** Reports the states, or that they are too many. */
  finish(): void {
    if (this.isTooLarge) this.reject(tooManyStates());
    else this.resolve(this.states);
  }
}

/**
 * Computes what users could access at past revisions: reads the roles and bindings of a past revision and applies the changes since then.
 * One run at a time; questions that arrive meanwhile share the next run.
 */
export class GrantHistory {
  private pending: PastQuestion[] = [];
  private running = false;

  constructor(
    private readonly source: GrantStore,
    private readonly vocabulary: Vocabulary,
    private readonly failed: (error: unknown) => void,
  ) {}

  /**
   * Returns the objects that a user may access at revision `after`, and after each change up to revision `upTo` that may affect them.
   *
   * @throws {StoreError} the roles of the revision are no longer retained.
   * @throws {StatusError} Expired if there are too many changes; TooManyRequests.
   */
  scopesBetween(
    attributes: ScopeAttributes,
    after: Revision,
    upTo: Revision,
  ): Promise<readonly PastScopes[]> {
    if (this.pending.length >= maxQuestions) {
      const message = "too many watches of views are being resumed";
      return Promise.reject(new StatusError("TooManyRequests", message, { retryAfterSeconds }));
    }
    return new Promise((resolve, reject) => {
      this.pending.push(new PastQuestion(attributes, after, upTo, resolve, reject));
      if (!this.running) this.run().catch(reject);
    });
  }

  private async run(): Promise<void> {
    this.running = true;
    while (this.pending.length > 0) {
      const questions = this.pending;
      this.pending = [];
      try {
        await this.answer(questions.toSorted((one, other) => one.after - other.after));
        for (const question of questions) question.finish();
      } catch (error) {
        for (const question of questions) question.reject(error);
      }
    }
    this.running = false;
  }

  /** @param questions in the order of their first revisions. */
  private async answer(questions: readonly PastQuestion[]): Promise<void> {
    const first = questions[0]!.after;
    const last = questions.reduce((max, { upTo }) => Math.max(max, upTo), 0) as Revision;
    const grants = new TrackedGrants<PastQuestion>(this.vocabulary, this.failed);
    await readGrants(this.source, first, (entry) => grants.put(entry));
    const events = await readGrantEvents(this.source, first, last);
    let started = 0;
    const startBefore = async (revision: number): Promise<void> => {
      for (; started < questions.length && questions[started]!.after < revision; started++) {
        const question = questions[started]!;
        grants.track(question);
        question.add(question.after, await grants.scopesOf(question, yieldIfDue));
      }
    };
    const yieldIfDue = createYielder();
    for (const event of events) {
      await startBefore(event.revision);
      await applyTo(grants, event, yieldIfDue);
    }
    await startBefore(Infinity);
  }
}

async function applyTo(
  grants: TrackedGrants<PastQuestion>,
  event: StoreEvent,
  yieldIfDue: ReturnType<typeof createYielder>,
): Promise<void> {
  const { affected } = grants.apply(event);
  for (const question of affected) {
    if (event.revision > question.upTo || question.isTooLarge) continue;
    question.add(event.revision, await grants.scopesOf(question, yieldIfDue));
  }
  await yieldIfDue();
}
