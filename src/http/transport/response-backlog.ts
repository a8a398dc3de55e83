import { SharedBudget, type BudgetRefusal, type Spender } from "../../flow/shared-budget.ts";

/** Unread response bytes of all connections together. */
const serverBytes = 256 * 1024 * 1024;
/** The least part of them for one of several processes. */
const leastBytes = 64 * 1024 * 1024;
/** The part of them that is reserved for requests at an exempt priority level. */
const reservedPart = 1 / 8;
/** The server closes a connection with more unread bytes. */
const connectionBytes = 128 * 1024 * 1024;
/** The server works on no further request of a connection that has more unread bytes. */
const waitBytes = 16 * 1024 * 1024;
/** Requests of one connection that continue at a time after such a wait: the size of their responses isn't known before. */
const resumedRequests = 8;
/** Smaller bodies are not shared between responses. */
const sharedBytes = 16 * 1024;
/** Bodies of one length that are compared with a new one. */
const comparedBodies = 4;

/** Returns the limit for each of several processes that serve the same port, in bytes. */
export function unreadBytesOfProcess(processes: number): number {
  return Math.max(leastBytes, serverBytes / processes);
}

/** The limit that closed a connection: that of the connection, of its user, or of the server. */
export type UnreadReason = BudgetRefusal | "connection";

/** A connection that the server closed because its client doesn't read its responses. */
export interface EndedConnection {
  readonly reason: UnreadReason;
  /** The user whose response exceeded the limit. */
  readonly caller: string;
  readonly backlogBytes: number;
}

/**
 * Limits the response bytes that clients leave unread: of each connection, of each user and of the server. Above a limit the
 * server closes a connection: above that of a connection, this one; above that of a user, the user's connection with most
 * bytes; above that of the server, the connection with most bytes.
 */
export class ResponseBacklogs {
  private readonly budget: SharedBudget;
  private readonly connections = new Set<ConnectionBacklog>();
  private readonly bodies = new Map<number, Buffer[]>();

  /** @param ended receives each connection that the server closes. */
  constructor(
    private readonly ended: (connection: EndedConnection) => void,
    limit = serverBytes,
  ) {
    this.budget = new SharedBudget(limit, limit * reservedPart);
  }

  /** The backlog of a new connection. @param end closes it at once. */
  connection(end: () => void): ConnectionBacklog {
    return new ConnectionBacklog(this, end);
  }

  /** Returns an equal body that another response holds, or the body itself. */
  shared(body: Buffer): Buffer {
    if (body.length < sharedBytes) return body;
    return this.bodies.get(body.length)?.find((one) => one.equals(body)) ?? body;
  }

  /** @internal Makes a body available to {@link shared} until the returned function is called. */
  keep(body: Buffer): () => void {
    const { length } = body;
    if (length < sharedBytes) return () => undefined;
    const candidates = this.bodies.get(length) ?? [];
    if (candidates.includes(body) || candidates.length >= comparedBodies) return () => undefined;
    this.bodies.set(length, [...candidates, body]);
    return () => {
      const rest = this.bodies.get(length)!.filter((one) => one !== body);
      if (rest.length > 0) this.bodies.set(length, rest);
      else this.bodies.delete(length);
    };
  }

  /** @internal Adds bytes to a connection and closes connections until they fit. Returns false if it closed this one. */
  take(connection: ConnectionBacklog, spender: Spender, bytes: number): boolean {
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
  give(connection: ConnectionBacklog, spender: Spender, bytes: number): void {
    this.budget.give(spender, bytes);
    if (connection.bytes === 0) this.connections.delete(connection);
  }

  private end(connection: ConnectionBacklog, reason: UnreadReason, { caller }: Spender): void {
    const backlogBytes = connection.bytes;
    connection.end();
    this.connections.delete(connection);
    this.ended({ reason, caller, backlogBytes });
  }

  /** The connection with most unread bytes, of one user or of all. */
  private largest(caller: string | undefined): ConnectionBacklog | undefined {
    let largest: ConnectionBacklog | undefined;
    let maxBytes = 0;
    for (const connection of this.connections) {
      const bytes = connection.bytesOf(caller);
      if (bytes <= maxBytes) continue;
      maxBytes = bytes;
      largest = connection;
    }
    return largest;
  }
}

/** The unread response bytes of one connection. */
export class ConnectionBacklog {
  bytes = 0;
  isEnded = false;
  private readonly answers = new Set<ResponseBacklog>();
  private readonly waiting: (() => void)[] = [];
  private resumed = 0;

  /** @internal Made by {@link ResponseBacklogs}. */
  constructor(
    private readonly all: ResponseBacklogs,
    private readonly endConnection: () => void,
  ) {}

  /** The backlog of a new response. */
  answer(spender: Spender): ResponseBacklog {
    return new ResponseBacklog(this.all, this, spender);
  }

  /**
   * Resolves when the client has read enough for a further response; {@link answered} must be called when that response is
   * complete. Undefined when there is no need to wait.
   */
  room(): Promise<void> | undefined {
    if (this.isEnded || (this.bytes <= waitBytes && this.waiting.length === 0)) return undefined;
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** A request that waited for {@link room} is complete. */
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

  /** @internal The bytes of one user's responses, or of all. */
  bytesOf(caller: string | undefined): number {
    if (caller === undefined) return this.bytes;
    let sum = 0;
    for (const answer of this.answers) if (answer.spender.caller === caller) sum += answer.bytes;
    return sum;
  }

  /** @internal */
  changed(answer: ResponseBacklog, difference: number): void {
    this.bytes += difference;
    if (answer.bytes > 0) this.answers.add(answer);
    else this.answers.delete(answer);
    if (difference < 0) this.resume();
  }

  /** @internal Closes the connection and releases its bytes. */
  end(): void {
    this.isEnded = true;
    for (const answer of this.answers) answer.set(0);
    this.resume();
    this.endConnection();
  }
}

/** The unread bytes of one response. */
export class ResponseBacklog {
  bytes = 0;
  private taken: (() => void) | undefined;
  private forgetBody: (() => void) | undefined;

  /** @internal Made by {@link ConnectionBacklog}. */
  constructor(
    private readonly all: ResponseBacklogs,
    private readonly connection: ConnectionBacklog,
    readonly spender: Spender,
  ) {}

  /** Sets the unread bytes. May close this connection or others. */
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

  /** Adds a whole body. */
  hold(body: Buffer): void {
    this.set(body.length);
    if (this.bytes > 0) this.forgetBody = this.all.keep(body);
  }

  /** Calls once when the client has read everything. There must be something left. */
  onTaken(listener: () => void): void {
    this.taken = listener;
  }
}
