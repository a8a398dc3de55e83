/** A worker asks its parent for the values of the other workers, or the parent asks a worker for its own. */
export interface ValueRequest {
  readonly kind: "value request";
  readonly id: number;
  /** Name of the topic. */
  readonly topic: string;
}

/** The answer to a {@link ValueRequest}, with the value of each worker that answered in time. */
export interface ValueAnswer {
  readonly kind: "value answer";
  readonly id: number;
  readonly values: readonly unknown[];
}

export function isRequest(message: unknown): message is ValueRequest {
  return kindOf(message) === "value request";
}

export function isAnswer(message: unknown): message is ValueAnswer {
  return kindOf(message) === "value answer";
}

function kindOf(message: unknown): unknown {
  return typeof message === "object" && message !== null && "kind" in message ? message.kind : undefined;
}
