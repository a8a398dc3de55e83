import { SharedBudget, type BudgetRefusal, type Spender } from "../../flow/shared-budget.ts";

/** Bytes of answers that clients haven't taken yet, of all connections together. */
const serverBytes = 256 * 1024 * 1024;
/** Of these, the part that only requests at an exempt priority level may take. */
const reservedPart = 1 / 8;
/** A connection with more untaken bytes is ended. */
const connectionBytes = 128 * 1024 * 1024;
/** On a connection with more untaken bytes, no further request is worked on until some are taken. */
const waitBytes = 16 * 1024 * 1024;
/** So many requests that had to wait for that are worked on at a time: what they answer isn't known before. */
const resumedRequests = 8;
/** Only bodies of this size are looked for among those that are held. */
const sharedBytes = 16 * 1024;
/** So many held bodies of the same length are compared with a new one. */
const comparedBodies = 4;

/** Why a connection was ended: its own bytes, its user's share, or all bytes of the server. */
export type UnreadReason = BudgetRefusal | "connection";

/** A connection that was ended because its client doesn't take its answers. */
export interface EndedConnection {
  readonly reason: UnreadReason;
  /** The user whose answer was one too many. */
  readonly caller: string;
  readonly unsentBytes: number;
}

/**
 * Bounds the bytes of answers that clients don't take: of each connection, of each user and of the server. What is beyond
 * that is ended: for a connection's bound, that connection; for a user's share, the connection of the user that holds most;
 * for the server's bound, the connection that holds most of all.
 */
export class UnsentAnswers {
  private readonly budget: SharedBudget;
  private readonly connections = new Set<UnsentOnConnection>();
  private readonly bodies = new Map<number, Buffer[]>();

  /** @param ended called with each connection that is ended. */
  constructor(
    private readonly ended: (connection: EndedConnection) => void,
    limit = serverBytes,
  ) {
    this.budget = new SharedBudget(limit, limit * reservedPart);
  }

  /** The bytes of a connection. @param end ends it at once. */
  connection(end: () => void): UnsentOnConnection {
    return new UnsentOnConnection(this, end);
  }

  /** A body that is held already and has the same bytes, or this one. */
  shared(body: Buffer): Buffer {
    if (body.length < sharedBytes) return body;
    return this.bodies.get(body.length)?.find((held) => held.equals(body)) ?? body;
  }

  /** @internal Keeps a body for {@link shared} until the returned function is called. */
  keep(body: Buffer): () => void {
    const { length } = body;
    if (length < sharedBytes) return () => undefined;
    const held = this.bodies.get(length) ?? [];
    if (held.includes(body) || held.length >= comparedBodies) return () => undefined;
    this.bodies.set(length, [...held, body]);
    return () => {
      const rest = this.bodies.get(length)!.filter((one) => one !== body);
      if (rest.length > 0) this.bodies.set(length, rest);
      else this.bodies.delete(length);
    };
  }

  /** @internal Charges bytes to a connection; ends connections until they fit. False when its own was ended. */
  take(connection: UnsentOnConnection, spender: Spender, bytes: number): boolean {
    this.connections.add(connection);
    if (connection.bytes + bytes > connectionBytes) this.end(connection, "connection", spender);
    while (!connection.isEnded) {
      const refusal = this.budget.take(spender, bytes);
      if (refusal === undefined) return true;
      const caller = refusal === "caller" ? spender.caller : undefined;
      this.end(this.largest(caller) ?? connection, refusal, spender);
    }
    return false;
  }

  /** @internal */
  give(connection: UnsentOnConnection, spender: Spender, bytes: number): void {
    this.budget.give(spender, bytes);
    if (connection.bytes === 0) this.connections.delete(connection);
  }

  private end(connection: UnsentOnConnection, reason: UnreadReason, { caller }: Spender): void {
    const unsentBytes = connection.bytes;
    connection.end();
    this.connections.delete(connection);
    this.ended({ reason, caller, unsentBytes });
  }

  /** The connection that holds most bytes, of one caller or of all. */
  private largest(caller: string | undefined): UnsentOnConnection | undefined {
    let largest: UnsentOnConnection | undefined;
    let most = 0;
    for (const connection of this.connections) {
      const bytes = connection.bytesOf(caller);
      if (bytes <= most) continue;
      most = bytes;
      largest = connection;
    }
    return largest;
  }
}

/** The bytes of one connection that its client hasn't taken. */
export class UnsentOnConnection {
  bytes = 0;
  isEnded = false;
  private readonly answers = new Set<UnsentAnswer>();
  private readonly waiting: (() => void)[] = [];
  private resumed = 0;

  /** @internal Made by {@link UnsentAnswers}. */
  constructor(
    private readonly all: UnsentAnswers,
    private readonly endConnection: () => void,
  ) {}

  /** The account of an answer. */
  answer(spender: Spender): UnsentAnswer {
    return new UnsentAnswer(this.all, this, spender);
  }

  /**
   * Resolves when the client has taken so much that a further answer may be made, and then {@link answered} is to be
   * called when that answer is made; undefined when it may be made at once.
   */
  room(): Promise<void> | undefined {
    if (this.isEnded || (this.bytes <= waitBytes && this.waiting.length === 0)) return undefined;
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** A request that waited for {@link room} is answered. */
  answered(): void {
    this.resumed--;
    this.resume();
  }

  private resume(): void {
    while (this.waiting.length > 0) {
      if (!this.isEnded && (this.bytes > waitBytes || this.resumed >= resumedRequests)) return;
      this.resumed++;
      this.waiting.shift()!();
    }
  }

  /** @internal What of the bytes is a caller's; everybody's unless one is given. */
  bytesOf(caller: string | undefined): number {
    if (caller === undefined) return this.bytes;
    let sum = 0;
    for (const answer of this.answers) if (answer.spender.caller === caller) sum += answer.bytes;
    return sum;
  }

  /** @internal */
  changed(answer: UnsentAnswer, difference: number): void {
    this.bytes += difference;
    if (answer.bytes > 0) this.answers.add(answer);
    else this.answers.delete(answer);
    if (difference < 0) this.resume();
  }

  /** @internal Ends the connection, and gives back what it holds. */
  end(): void {
    this.isEnded = true;
    for (const answer of this.answers) answer.set(0);
    this.resume();
    this.endConnection();
  }
}

/** The bytes of one answer that the client hasn't taken. */
export class UnsentAnswer {
  bytes = 0;
  private taken: (() => void) | undefined;
  private forgetBody: (() => void) | undefined;

  /** @internal Made by {@link UnsentOnConnection}. */
  constructor(
    private readonly all: UnsentAnswers,
    private readonly connection: UnsentOnConnection,
    readonly spender: Spender,
  ) {}

  /** So many bytes are not taken now. May end this connection or others. */
  set(bytes: number): void {
    const difference = bytes - this.bytes;
    if (difference === 0) return;
    if (difference > 0 && !this.all.take(this.connection, this.spender, difference)) return;
    this.bytes = bytes;
    this.connection.changed(this, difference);
    if (difference < 0) this.all.give(this.connection, this.spender, -difference);
    if (bytes > 0) return;
    this.forgetBody?.();
    this.forgetBody = undefined;
    this.taken?.();
    this.taken = undefined;
  }

  /** A whole body is not taken yet. */
  hold(body: Buffer): void {
    this.set(body.length);
    if (this.bytes > 0) this.forgetBody = this.all.keep(body);
  }

  /** Calls once when nothing is left to be taken. There must be something. */
  onTaken(listener: () => void): void {
    this.taken = listener;
  }
}
