import type { OtherProcesses, Topic } from "../../base/other-processes.ts";
import { isAnswer, isRequest, type ValueAnswer, type ValueRequest } from "./value-messages.ts";

/** Exchanges values with the other workers through the parent process. */
export class WorkerValues implements OtherProcesses {
  private lastId = 0;
  private readonly pending = new Map<number, (values: ValueAnswer["values"]) => void>();
  private readonly own = new Map<string, () => unknown>();

  /** @param failed called with the error when a value of this worker can't be computed. */
  constructor(failed: (error: unknown) => void) {
    process.on("message", (message) => {
      if (isRequest(message)) this.answer(message).catch(failed);
      else if (isAnswer(message)) {
        this.pending.get(message.id)?.(message.values);
        this.pending.delete(message.id);
      }
    });
  }

  share<T>({ name }: Topic<T>, own: () => T | Promise<T>): void {
    this.own.set(name, own);
  }

  collect<T>({ name }: Topic<T>): Promise<readonly T[]> {
    return new Promise((resolve) => {
      // Only processes of the same program answer, each with a value of the topic.
      this.pending.set(++this.lastId, (values) => resolve(values as readonly T[]));
      process.send!({ kind: "value request", id: this.lastId, topic: name } satisfies ValueRequest);
    });
  }

  private async answer({ id, topic }: ValueRequest): Promise<void> {
    const own = this.own.get(topic);
    const values = own === undefined ? [] : [await own()];
    process.send!({ kind: "value answer", id, values } satisfies ValueAnswer);
  }
}
