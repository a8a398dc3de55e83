import type { Answer, Api as ServerApi } from "../support/api.ts";

/** A client of a server that is killed. */
export interface KilledClient {
  /** Number of writes by what became of them. */
  readonly acknowledged: number;
  readonly unanswered: number;
  readonly unansweredButDone: number;
  /**
   * Writes until a request has no answer.
   *
   * @param onAcknowledged called after each write that was answered with success.
   */
  writeUntilUnanswered(api: ServerApi, onAcknowledged?: () => void): Promise<void>;
  /**
   * Compares what is stored with the last acknowledged write.
   *
   * @throws {Error} if it is neither the state of that write nor that of the write without an answer.
   */
  compare(api: ServerApi): Promise<void>;
}

/** The requests of a {@link Writer}. */
type Api = Pick<ServerApi, "get" | "post" | "put" | "delete">;

/** The state of an object: which write made it, and its revision; undefined if there is no object. */
type State = { readonly counter: number; readonly revision: number } | undefined;

const collection = "/api/v1/namespaces/default/configmaps";
/** An object is deleted after this many updates, and created again. */
const updatesPerLife = 7;

/** A client that is the only writer of one object, and knows which of its writes were acknowledged. */
export class Writer implements KilledClient {
  acknowledged = 0;
  unanswered = 0;
  unansweredButDone = 0;
  private counter = 0;
  private state: State;
  /** The write that has no answer yet; `counter` is undefined for a delete. */
  private pending: { readonly counter: number | undefined } | undefined;

  constructor(private readonly name: string) {}

  private get path(): string {
    return `${collection}/${this.name}`;
  }

  /** Creates, updates and deletes the object in turn. */
  async writeUntilUnanswered(api: Api, onAcknowledged?: () => void): Promise<void> {
    for (;;) {
      const deletes = this.state !== undefined && this.counter % updatesPerLife === 0;
      this.counter++;
      this.pending = { counter: deletes ? undefined : this.counter };
      let answer: Answer;
      try {
        answer = await (deletes ? api.delete(this.path) : this.write(api));
      } catch {
        // The process was killed: the write may have taken effect.
        this.unanswered++;
        return;
      }
      if (answer.status !== 200 && answer.status !== 201)
        throw new Error(`a write of ${this.name} was answered with ${answer.status}: ${answer.text}`);
      this.acknowledged++;
      onAcknowledged?.();
      this.pending = undefined;
      this.state = deletes ? undefined : this.stateOf(answer);
    }
  }

  async compare(api: Api): Promise<void> {
    const answer = await api.get(this.path);
    if (answer.status !== 200 && answer.status !== 404)
      throw new Error(`the read of ${this.name} was answered with ${answer.status}: ${answer.text}`);
    const actual = answer.status === 404 ? undefined : this.stateOf(answer);
    const { pending, state } = this;
    this.pending = undefined;
    if (actual?.counter === state?.counter && actual?.revision === state?.revision) return;
    const isDone = pending !== undefined && actual?.counter === pending.counter;
    const isNewer = actual === undefined || actual.revision > (state?.revision ?? 0);
    if (!isDone || !isNewer)
      throw new Error(
        `${this.name}: acknowledged was ${JSON.stringify(state)}, without an answer ${JSON.stringify(pending)}, ` +
          `stored is ${JSON.stringify(actual)}`,
      );
    this.unansweredButDone++;
    this.state = actual;
  }

  private write(api: Api): Promise<Answer> {
    const { counter, state } = this;
    const metadata =
      state === undefined
        ? { name: this.name }
        : { name: this.name, resourceVersion: String(state.revision) };
    const body = { metadata, data: { counter: String(counter), text: textOf(counter) } };
    return state === undefined ? api.post(collection, body) : api.put(this.path, body);
  }

  /** @throws {Error} if the object isn't whole. */
  private stateOf({ body }: Answer): State {
    const { metadata, data } = body as {
      metadata: { resourceVersion: string };
      data: { counter: string; text: string };
    };
    const counter = Number(data.counter);
    if (data.text !== textOf(counter)) throw new Error(`${this.name} is not whole: ${JSON.stringify(body)}`);
    return { counter, revision: Number(metadata.resourceVersion) };
  }
}

/** A text whose length and content depend on the counter. */
const textOf = (counter: number) => `<${counter}>`.repeat(1 + ((counter * 37) % 400));
