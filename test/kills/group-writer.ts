import type { Answer, Api as ServerApi } from "../support/api.ts";
import type { KilledClient } from "./writer.ts";

/** The requests of a {@link GroupWriter}. */
type Api = Pick<ServerApi, "get" | "post">;

/** The state of the objects: which transaction made it, and its revision; undefined if there are none. */
type State = { readonly counter: number; readonly revision: number } | undefined;

interface Version {
  readonly metadata: { readonly resourceVersion: string };
  readonly user?: string;
  readonly auditID?: string;
  readonly deleted?: boolean;
}

const collection = "/api/v1/namespaces/default/secrets";
const transactions = "/apis/transactions.platform.io/v1alpha1/transactions";
/** The objects are deleted after this many transactions, and created again. */
const transactionsPerLife = 7;
/** Number of the newest transactions whose versions must be in the history. */
const remembered = 20;

/** A client that is the only writer of a few objects, which it always writes in one transaction. Their history is kept. */
export class GroupWriter implements KilledClient {
  acknowledged = 0;
  unanswered = 0;
  unansweredButDone = 0;
  private readonly names: readonly string[];
  private counter = 0;
  private state: State;
  /** The transaction that has no answer yet; `counter` is undefined for a deletion. */
  private pending: { readonly counter: number | undefined } | undefined;
  /** Revisions of the newest transactions that were answered. */
  private readonly revisions: number[] = [];

  /** @param user name of the author in the history. */
  constructor(
    name: string,
    private readonly user: string,
  ) {
    this.names = ["a", "b", "c"].map((part) => `${name}-${part}`);
  }

  async writeUntilUnanswered(api: Api, onAcknowledged?: () => void): Promise<void> {
    for (;;) {
      const deletes = this.state !== undefined && this.counter % transactionsPerLife === 0;
      this.counter++;
      this.pending = { counter: deletes ? undefined : this.counter };
      const operations = this.names.map((name) => this.operation(name, deletes));
      let answer: Answer;
      try {
        answer = await api.post(transactions, { spec: { operations } });
      } catch {
        // The process was killed: the transaction may have taken effect.
        this.unanswered++;
        return;
      }
      if (answer.status !== 201)
        throw new Error(
          `a transaction of ${this.names[0]} was answered with ${answer.status}: ${answer.text}`,
        );
      this.acknowledged++;
      onAcknowledged?.();
      this.pending = undefined;
      const revision = Number(answer.body.status.resourceVersion);
      this.revisions.push(revision);
      if (this.revisions.length > remembered) this.revisions.shift();
      this.state = deletes ? undefined : { counter: this.counter, revision };
    }
  }

  async compare(api: Api): Promise<void> {
    const found = await Promise.all(this.names.map((name) => this.read(api, name)));
    const [actual] = found;
    if (new Set(found.map((one) => JSON.stringify(one))).size > 1)
      throw new Error(`${this.names.join(", ")} are of several transactions: ${JSON.stringify(found)}`);
    const { pending, state } = this;
    this.pending = undefined;
    const isState = actual?.counter === state?.counter && actual?.revision === state?.revision;
    if (!isState) {
      const isDone = pending !== undefined && actual?.counter === pending.counter;
      if (!isDone || (actual !== undefined && actual.revision <= (state?.revision ?? 0)))
        throw new Error(
          `${this.names[0]}: acknowledged was ${JSON.stringify(state)}, without an answer ${JSON.stringify(pending)}, ` +
            `stored is ${JSON.stringify(actual)}`,
        );
      this.unansweredButDone++;
      this.state = actual;
    }
    await this.compareHistory(api);
  }

  private operation(name: string, deletes: boolean): object {
    if (deletes) return { verb: "delete", apiVersion: "v1", kind: "Secret", namespace: "default", name };
    const annotations = { counter: String(this.counter) };
    const metadata = { name, namespace: "default", annotations };
    const object = { apiVersion: "v1", kind: "Secret", metadata };
    return { verb: this.state === undefined ? "create" : "update", object };
  }

  private async read(api: Api, name: string): Promise<State> {
    const { status, body, text } = await api.get(`${collection}/${name}`);
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`the read of ${name} was answered with ${status}: ${text}`);
    const { annotations, resourceVersion } = body.metadata;
    return { counter: Number(annotations.counter), revision: Number(resourceVersion) };
  }

  /** @throws {Error} if the history lacks an acknowledged transaction or its author, or tells the objects apart. */
  private async compareHistory(api: Api): Promise<void> {
    const histories = await Promise.all(this.names.map((name) => this.historyOf(api, name)));
    for (const revision of this.revisions) {
      const versions = histories.map((all) => all.get(revision));
      const authors = new Set(versions.map((version) => `${version?.user} ${version?.auditID}`));
      const [version] = versions;
      if (authors.size === 1 && version?.user === this.user && version.auditID !== undefined) continue;
      throw new Error(
        `the history of ${this.names.join(", ")} has ${JSON.stringify(versions)} for the transaction at ${revision}`,
      );
    }
  }

  private async historyOf(api: Api, name: string): Promise<Map<number, Version>> {
    if (this.revisions.length === 0) return new Map();
    const { status, body, text } = await api.get(`${collection}/${name}/history?limit=${2 * remembered}`);
    if (status !== 200) throw new Error(`the history of ${name} was answered with ${status}: ${text}`);
    return new Map(
      (body.items as Version[]).map((version) => [Number(version.metadata.resourceVersion), version]),
    );
  }
}
