import type { Worker } from "node:cluster";
import { isAnswer, isRequest, type ValueAnswer, type ValueRequest } from "./value-messages.ts";

/** Time for a worker to answer, in milliseconds; the value of one that doesn't is left out. */
const answerMs = 2000;

/** Passes values between workers. */
export class ValueRelay {
  private lastId = 0;
  private readonly pending = new Map<number, (values: ValueAnswer["values"]) => void>();

  /** @param workers returns the running workers. */
  constructor(private readonly workers: () => readonly Worker[]) {}

  /** Handles a message of a worker; messages of other kinds are ignored. */
  async receive(from: Worker, message: unknown): Promise<void> {
    if (isAnswer(message)) this.pending.get(message.id)?.(message.values);
    else if (isRequest(message)) {
      const { id, topic } = message;
      const others = this.workers().filter((worker) => worker !== from && worker.isConnected());
      const values = (await Promise.all(others.map((worker) => this.valuesOf(worker, topic)))).flat();
      if (from.isConnected()) from.send({ kind: "value answer", id, values } satisfies ValueAnswer);
    }
  }

  private valuesOf(worker: Worker, topic: string): Promise<readonly unknown[]> {
    const id = ++this.lastId;
    return new Promise((resolve) => {
      const settle = (values: readonly unknown[]) => {
        this.pending.delete(id);
        clearTimeout(timer);
        resolve(values);
      };
      const timer = setTimeout(settle, answerMs, []);
      this.pending.set(id, settle);
      worker.send({ kind: "value request", id, topic } satisfies ValueRequest);
    });
  }
}
