import { StoreUnavailableError } from "../store.ts";
import { type DatabaseAddress, describeHosts, type Host } from "./address.ts";
import { type Row, Session, SessionLostError, sqlStateOf, type Statement } from "./session.ts";

/** How a store connects to its database. */
export interface ConnectionOptions {
  readonly address: DatabaseAddress;
  /** Timeout of a statement and of connecting, in milliseconds; default 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of connections for reads; default 4. The store has two more, for writes and notifications. */
  readonly readConnections?: number | undefined;
}

const defaultTimeoutMs = 10_000;
const defaultReadConnections = 4;
/** Maximum time to connect to one of several servers, in milliseconds. */
const attemptMs = 2000;

/** SQLSTATEs of a session that doesn't have, or already has, a named statement: a connection pooler changed it. */
const statementStates = new Set(["26000", "42P05"]);

const probe: Statement = {
  text: "select pg_is_in_recovery(), current_setting('transaction_read_only') = 'on', current_setting('transaction_isolation')",
};

/** Opens sessions at the server of the database that accepts writes, and shares those for reads. */
export class Connection {
  readonly timeoutMs: number;
  /** The servers of the database, for messages. */
  readonly place: string;
  private readonly address: DatabaseAddress;
  private readonly maxReaders: number;
  private chosen = 0;
  private namesStatements = true;
  private readonly idle: Session[] = [];
  private readonly open = new Set<Session>();
  private readers = 0;
  private readonly waiting: (() => void)[] = [];
  /** Aborted when the connection is closed. */
  private readonly closing = new AbortController();

  constructor({ address, timeoutMs, readConnections }: ConnectionOptions) {
    this.address = address;
    this.timeoutMs = timeoutMs ?? defaultTimeoutMs;
    this.maxReaders = readConnections ?? defaultReadConnections;
    this.place = describeHosts(address);
  }

  /**
   * Executes a statement that only reads, or that may be executed twice. It is repeated once if the session of an earlier statement was lost.
   *
   * @throws {StoreError} if the database rejected it, or isn't available.
   */
  async read(statement: Statement): Promise<Row[]> {
    for (let attempt = 1; ; attempt++) {
      const { session, isNew } = await this.acquire();
      try {
        return await this.execute(session, statement);
      } catch (error) {
        if (isNew || attempt > this.maxReaders || session.isOpen || !isEarlyLoss(error)) throw error;
      } finally {
        this.release(session);
      }
    }
  }

  /** Executes a statement in a session; without its name if a connection pooler doesn't support named statements. */
  async execute(session: Session, statement: Statement): Promise<Row[]> {
    if (statement.name === undefined) return session.query(statement, this.timeoutMs);
    const { name, ...unnamed } = statement;
    if (!this.namesStatements) return session.query(unnamed, this.timeoutMs);
    try {
      return await session.query({ ...unnamed, name }, this.timeoutMs);
    } catch (error) {
      if (!statementStates.has(sqlStateOf(error) ?? "")) throw error;
      this.namesStatements = false;
      return session.query(unnamed, this.timeoutMs);
    }
  }

  /**
   * Opens a session at the server that accepts writes; the caller closes it.
   *
   * @param ended called when the session has ended.
   * @throws {StoreUnavailableError} if none does.
   */
  async connect(ended?: () => void): Promise<Session> {
    const { hosts } = this.address;
    const failures: string[] = [];
    for (let i = 0; i < hosts.length; i++) {
      const index = (this.chosen + i) % hosts.length;
      try {
        const session = await this.connectTo(hosts[index]!, hosts.length === 1 ? this.timeoutMs : attemptMs);
        this.chosen = index;
        session.onEnd = () => {
          this.open.delete(session);
          ended?.();
        };
        if (session.isOpen) return session;
        throw new StoreUnavailableError(`PostgreSQL at ${hosts[index]!.host}: the connection was closed`);
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        if (hosts.length === 1) throw error;
        failures.push(error.message);
      }
    }
    throw new StoreUnavailableError(`no server of the database accepts writes: ${failures.join("; ")}`);
  }

  /** Ends all sessions, also those that are being opened; statements in progress fail. */
  async close(): Promise<void> {
    this.closing.abort();
    await Promise.all([...this.open].map((session) => session.close()));
  }

  private async connectTo(host: Host, timeoutMs: number): Promise<Session> {
    const { signal } = this.closing;
    const session = await Session.open(this.address, host, timeoutMs, signal);
    this.open.add(session);
    session.onEnd = () => this.open.delete(session);
    try {
      const [row] = await session.query(probe, timeoutMs);
      const [isStandby, isReadOnly, isolation] = row!;
      const place = `PostgreSQL at ${host.host}:${host.port}`;
      if (isStandby === true || isReadOnly === true)
        throw new StoreUnavailableError(`${place} is a standby or read-only: the server needs the primary`);
      if (isolation !== "read committed")
        throw new StoreUnavailableError(
          `${place}: the transaction isolation is ${String(isolation)}, but must be "read committed": ` +
            "use ALTER ROLE … SET default_transaction_isolation = 'read committed'",
        );
    } catch (error) {
      session.destroy();
      throw error;
    }
    return session;
  }

  private async acquire(): Promise<{ session: Session; isNew: boolean }> {
    while (this.readers >= this.maxReaders) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.readers++;
    for (let session = this.idle.pop(); session !== undefined; session = this.idle.pop())
      if (session.isOpen) return { session, isNew: false };
    try {
      return { session: await this.connect(), isNew: true };
    } catch (error) {
      this.readers--;
      this.waiting.shift()?.();
      throw error;
    }
  }

  private release(session: Session): void {
    this.readers--;
    if (session.isOpen) this.idle.push(session);
    this.waiting.shift()?.();
  }
}

/** Whether the session had probably ended before the statement was sent: it isn't the timeout. */
function isEarlyLoss(error: unknown): boolean {
  return error instanceof SessionLostError && !error.isTimeout;
}
