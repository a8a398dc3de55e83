import { setTimeout } from "node:timers/promises";
import {
  RevisionCompactedError,
  type Change,
  type CommitResult,
  type Entry,
  type Revision,
  type Store,
  type StoreEvent,
  type Subscription,
} from "../../../src/storage/store.ts";
import type { Dice } from "../../support/dice.ts";
import type { Answer, ListState, ObservedObject, Operation, Request, WriteRequest } from "../history.ts";
import type { RecordingClient, RunningWatch } from "../recording/client.ts";
import type { TogetherRequest } from "../recording/transaction-body.ts";
import type { Recorder } from "../recording/recorder.ts";

/** The store key of a key of the history. */
const storePrefix = "/core";

/** Longest delay before and after each call of the store, in milliseconds, so that operations overlap. */
const maxDelayMs = 2;

/** Attempts of a transaction without preconditions; a broken store may never let it succeed. */
const maxAttempts = 10;

/** Value of an object in the store. */
interface Body {
  readonly uid: string;
  readonly token: string;
}

/**
 * A client that calls a store directly. It does what a server would do at least: conditional writes, lists in pages, and watches; a
 * RoleBinding grants if it exists.
 */
export class StoreClient implements RecordingClient {
  readonly workspaces = undefined;
  private readonly subscriptions = new Set<RunningWatch>();
  /** Last key of the pages of lists, by operation. */
  private readonly lastKeys = new Map<number, string>();

  constructor(
    private readonly by: { readonly client: string; readonly server: string },
    private readonly store: Store,
    private readonly recorder: Recorder,
    private readonly dice: Dice,
  ) {}

  write(request: WriteRequest): Promise<Operation> {
    return this.perform(request, () => this.commit(request));
  }

  transact(requests: readonly TogetherRequest[]): Promise<Operation[]> {
    return this.recorder.recordTogether(this.by, requests, async () => {
      await setTimeout(this.dice.below(maxDelayMs + 1));
      const answers = await this.commitTogether(requests);
      await setTimeout(this.dice.below(maxDelayMs + 1));
      return answers;
    });
  }

  private async commitTogether(requests: readonly TogetherRequest[], attempt = 1): Promise<Answer[]> {
    const refusedAt = (failed: number, refusal: "missing" | "exists" | "conflict") =>
      requests.map((_, index): Answer =>
        index === failed ? refused(refusal) : { outcome: "refused", refusal: "other", status: 409 },
      );
    const writes: Change[] = [];
    for (const [index, request] of requests.entries()) {
      const key = storePrefix + request.key;
      const current = request.verb === "create" ? undefined : await this.store.get(key);
      if (request.verb !== "create" && current === undefined) return refusedAt(index, "missing");
      writes.push(changeOf(request, key, current));
    }
    const result = await this.store.transact(writes);
    if (result.ok) return result.entries.map((entry) => ({ outcome: "object", object: observe(entry) }));
    const request = requests[result.failedWrite]!;
    if (request.verb === "create") return refusedAt(result.failedWrite, "exists");
    if (request.expected === undefined && result.current !== undefined && attempt < maxAttempts)
      return this.commitTogether(requests, attempt + 1);
    return refusedAt(result.failedWrite, result.current === undefined ? "missing" : "conflict");
  }

  get(key: string): Promise<Operation> {
    return this.perform({ verb: "get", key }, async () => {
      const entry = await this.store.get(storePrefix + key);
      return entry === undefined ? refused("missing") : { outcome: "object", object: observe(entry) };
    });
  }

  async list(prefix: string, state: ListState, limit?: number, previous?: Operation): Promise<Operation> {
    const first = previous?.answer?.outcome === "page" ? previous.answer.revision : undefined;
    const at = (state.kind === "exact" ? state.revision : first) as Revision | undefined;
    const after = previous === undefined ? undefined : this.lastKeys.get(previous.id);
    const request: Request = { verb: "list", prefix, state, ...(limit === undefined ? {} : { limit }) };
    const operation = await this.perform(request, async () => {
      try {
        const page = await this.store.range({ prefix: storePrefix + prefix, at, after, limit });
        return {
          outcome: "page",
          revision: page.revision,
          objects: page.entries.map(observe),
          more: page.more,
        };
      } catch (error) {
        if (error instanceof RevisionCompactedError) return refused("gone");
        throw error;
      }
    });
    const last = operation.answer?.outcome === "page" ? operation.answer.objects.at(-1) : undefined;
    if (last !== undefined) this.lastKeys.set(operation.id, storePrefix + last.key);
    return operation;
  }

  review(key: string): Promise<Operation> {
    return this.perform({ verb: "review", key }, async () => {
      const allowed = (await this.store.get(storePrefix + key)) !== undefined;
      return { outcome: "decision", allowed };
    });
  }

  attempt(key: string): Promise<Operation> {
    return this.review(key);
  }

  watch(prefix: string, after: number, mayBreak: boolean): RunningWatch {
    const watch = this.recorder.watch({ ...this.by, prefix, after });
    const { frames } = watch;
    let subscription: Subscription | undefined;
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let [isFirst, isCut] = [true, false];
    const start = after as Revision;
    const options = { prefix: `${storePrefix}${prefix}`, after: start, repeatsTransaction: true };
    subscription = this.store.subscribe(options, {
      events: (all, upTo) => {
        if (isCut) return;
        const atNs = this.recorder.nowNs();
        const batch = isFirst ? withoutSingle(all, start) : all;
        isFirst = false;
        // The connection of a client may break within the events of a transaction.
        isCut =
          mayBreak && batch.length > 1 && batch[0]!.revision === batch[1]!.revision && this.dice.chance(0.2);
        for (const event of isCut ? batch.slice(0, 1) : batch) frames.push({ ...frameOf(event), atNs });
        if (batch.length === 0) frames.push({ type: "BOOKMARK", revision: upTo, atNs });
        if (isCut) queueMicrotask(() => running.close());
      },
      ended: (error) => {
        if (error instanceof RevisionCompactedError)
          frames.push({ type: "GONE", atNs: this.recorder.nowNs() });
        end();
      },
    });
    const running = {
      watch,
      ended,
      close: () => {
        subscription?.close();
        end();
      },
    };
    this.subscriptions.add(running);
    return running;
  }

  close(): void {
    for (const one of this.subscriptions) one.close();
  }

  private async commit(request: WriteRequest): Promise<Answer> {
    const key = storePrefix + request.key;
    const current = request.verb === "create" ? undefined : await this.store.get(key);
    if (request.verb !== "create" && current === undefined) return refused("missing");
    const expected = "expected" in request ? request.expected : undefined;
    const change = changeOf(request, key, current);
    const result = await this.store.commit(change);
    if (result.ok) return successOf(request, result);
    if (request.verb === "create") return refused("exists");
    if (expected === undefined && result.current !== undefined) return this.commit(request);
    return refused(result.current === undefined ? "missing" : "conflict");
  }

  private perform(request: Request, ask: () => Promise<Answer>): Promise<Operation> {
    return this.recorder.record(this.by, request, async () => {
      await setTimeout(this.dice.below(maxDelayMs + 1));
      const answer = await ask();
      await setTimeout(this.dice.below(maxDelayMs + 1));
      return answer;
    });
  }
}

/** Returns the events without the only one of a revision, which the client has. */
function withoutSingle(batch: readonly StoreEvent[], revision: Revision): readonly StoreEvent[] {
  const repeated = batch.filter((event) => event.revision === revision);
  return repeated.length === 1 ? batch.filter((event) => event.revision !== revision) : batch;
}

function changeOf(request: WriteRequest, key: string, current: Entry | undefined): Change {
  const expected = (("expected" in request ? request.expected : undefined) ?? current?.revision) as Revision;
  if (request.verb === "delete") return { kind: "delete", key, expected };
  const uid = current === undefined ? `uid-of-${request.token}` : bodyOf(current).uid;
  const draft = draftOf({ uid, token: request.token });
  return request.verb === "create"
    ? { kind: "create", key, draft }
    : { kind: "update", key, expected, draft };
}

/** Returns the draft of a value; the revision is in its first field. */
export function draftOf(body: Body) {
  const head = '{"revision":"';
  const rest = `","uid":${JSON.stringify(body.uid)},"token":${JSON.stringify(body.token)}}`;
  return { header: Buffer.from("{}"), body: Buffer.from(head + rest), revisionAt: head.length };
}

function successOf(request: WriteRequest, { entry }: Extract<CommitResult, { ok: true }>): Answer {
  return request.verb === "delete"
    ? { outcome: "deleted", uid: bodyOf(entry).uid }
    : { outcome: "object", object: observe(entry) };
}

function frameOf({ entry, previous, revision }: StoreEvent) {
  if (entry === undefined) return { type: "DELETED", object: { ...observe(previous!), revision } } as const;
  return { type: previous === undefined ? "ADDED" : "MODIFIED", object: observe(entry) } as const;
}

function bodyOf({ body }: Entry): Body {
  return JSON.parse(Buffer.from(body).toString("utf8")) as Body;
}

function observe(entry: Entry): ObservedObject {
  const { uid, token } = bodyOf(entry);
  const key = entry.key.slice(storePrefix.length);
  return { key, revision: entry.revision, uid, token, digest: `${uid} ${token}` };
}

function refused(refusal: "missing" | "exists" | "conflict" | "gone"): Answer {
  const status = { missing: 404, exists: 409, conflict: 409, gone: 410 }[refusal];
  return { outcome: "refused", refusal, status };
}
