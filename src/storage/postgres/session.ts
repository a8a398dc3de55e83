import { type StoreError, StoreFullError, StoreTimeoutError, StoreUnavailableError } from "../store.ts";
import type { DatabaseAddress, Host } from "./address.ts";
import { Client, DatabaseError, types as libraryTypes } from "./library.ts";

/** A statement with its parameters. */
export interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Name under which a session keeps the parsed statement. */
  readonly name?: string;
}

/** A value of a row: numbers and truth values are decoded, bytes are buffers, everything else is text. */
export type Value = number | boolean | string | Buffer | null;
export type Row = readonly Value[];

/** The session ended, or the answer didn't come in time: whether the statement took effect isn't known. */
export class SessionLostError extends StoreUnavailableError {
  override name = "SessionLostError";
  /** Whether the answer didn't come in time. */
  isTimeout = false;
}

const decoders: Readonly<Record<number, (text: string) => Value>> = {
  16: (text) => text === "t",
  // Decodes both values of the database's setting bytea_output.
  17: libraryTypes.getTypeParser(libraryTypes.builtins.BYTEA) as (text: string) => Buffer,
  20: Number,
  21: Number,
  23: Number,
};
const asText = (text: string): Value => text;
const types = { getTypeParser: (type: number) => decoders[type] ?? asText };

const sqlState = {
  diskFull: "53100",
  lockNotAvailable: "55P03",
  queryCanceled: "57014",
  insufficientPrivilege: "42501",
  readOnly: "25006",
} as const;

/** Returns the SQLSTATE of an error of the database; undefined for other errors. */
export function sqlStateOf(error: unknown): string | undefined {
  if (error instanceof DatabaseError) return error.code;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof DatabaseError ? cause.code : undefined;
}

/** One connection to a server of the database. */
export class Session {
  private readonly client: Client;
  private ending: Error | undefined;
  private readonly place: string;
  /** Called once when the session has ended, with the reason. */
  onEnd: (reason: Error) => void = () => undefined;
  /** Called with the payload of a notification. */
  onNotification: (payload: string) => void = () => undefined;

  private constructor(address: DatabaseAddress, { host, port, ssl }: Host) {
    this.place = `PostgreSQL at ${host}:${port}`;
    const { user, password, database, applicationName } = address;
    this.client = new Client({
      host,
      port,
      ssl,
      user,
      password,
      database,
      application_name: applicationName,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    this.client.on("error", (error) => this.ended(error));
    this.client.on("end", () => this.ended(new Error("the connection was closed")));
    this.client.on("notification", ({ payload }) => this.onNotification(payload ?? ""));
  }

  /** @throws {StoreUnavailableError} if the server didn't accept the connection in time, or `signal` was aborted. */
  static async open(
    address: DatabaseAddress,
    host: Host,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<Session> {
    if (signal.aborted) throw new StoreUnavailableError("the store is closing");
    const session = new Session(address, host);
    const abort = (): void => session.destroy();
    signal.addEventListener("abort", abort);
    try {
      await session.within(session.client.connect(), timeoutMs);
    } catch (error) {
      session.destroy();
      const { message } = error instanceof SessionLostError ? error : session.lost(error as Error);
      throw new StoreUnavailableError(message, { cause: error });
    } finally {
      signal.removeEventListener("abort", abort);
    }
    return session;
  }

  get isOpen(): boolean {
    return this.ending === undefined;
  }

  /**
   * Executes a statement, which is a transaction of its own.
   *
   * @throws {SessionLostError} whether it took effect isn't known; the session has ended.
   * @throws {StoreError} the database rejected it; it had no effect.
   */
  async query({ text, values, name }: Statement, timeoutMs: number): Promise<Row[]> {
    if (this.ending !== undefined) throw this.lost(this.ending);
    try {
      const query = this.client.query<Value[]>({
        text,
        ...(values === undefined ? {} : { values: [...values] }),
        ...(name === undefined ? {} : { name }),
        rowMode: "array",
        types,
      });
      return (await this.within(query, timeoutMs)).rows;
    } catch (error) {
      if (error instanceof DatabaseError && !endsSession(error)) throw this.rejected(error);
      this.destroy(error as Error);
      throw error instanceof SessionLostError ? error : this.lost(error as Error);
    }
  }

  /** Ends the session in order. */
  async close(): Promise<void> {
    if (this.ending !== undefined) return;
    this.ending = new Error("the connection was closed");
    try {
      await this.within(this.client.end(), 1000);
    } catch {
      this.destroy();
    }
  }

  /** Ends the session at once. */
  destroy(reason = new Error("the connection was closed")): void {
    this.ended(reason);
    socketOf(this.client).destroy();
  }

  private ended(reason: Error): void {
    if (this.ending !== undefined) return;
    this.ending = reason;
    this.onEnd(reason);
  }

  private async within<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const expired = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = this.lost(new Error(`no answer within ${timeoutMs} ms`));
        error.isTimeout = true;
        reject(error);
        this.destroy();
      }, timeoutMs);
    });
    try {
      return await Promise.race([work, expired]);
    } finally {
      clearTimeout(timer);
    }
  }

  private lost(reason: Error): SessionLostError {
    return new SessionLostError(`${this.place}: ${messageOf(reason)}`, { cause: reason });
  }

  private rejected(error: DatabaseError): StoreError {
    const message = `${this.place}: ${error.message}`;
    const options = { cause: error };
    switch (error.code) {
      case sqlState.diskFull:
        return new StoreFullError(`${message}; nothing was written`, options);
      case sqlState.lockNotAvailable:
        return new StoreTimeoutError(
          `${message}: another session holds the lock of the store; nothing was written`,
          options,
        );
      case sqlState.queryCanceled:
        return new StoreTimeoutError(`${message}; nothing was written`, options);
      case sqlState.readOnly:
        this.destroy(error);
        return new StoreUnavailableError(
          `${message}: the server is a standby or read-only; nothing was written`,
          options,
        );
      case sqlState.insufficientPrivilege:
        return new StoreUnavailableError(`${message}: grant the user the rights on the schema`, options);
      default:
        return new StoreUnavailableError(message, options);
    }
  }
}

/** Classes of SQLSTATEs with which the database ends a session: connection, operator intervention, system error, internal error. */
const endingStates = /^(?:08|57P|58|XX)/;

/** Whether an error ended the session, or may have: the database sends the severity in its own language, `lc_messages`. */
function endsSession({ severity, code = "" }: DatabaseError): boolean {
  if (severity === "ERROR") return false;
  return severity === "FATAL" || severity === "PANIC" || endingStates.test(code);
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}

function socketOf(client: Client): { destroy(): void } {
  return (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream;
}
