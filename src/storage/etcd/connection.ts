import type { Clock } from "../../base/time/clock.ts";
import { StoreError, StoreFullError, StoreUnavailableError } from "../store.ts";
import { type ServiceError, status } from "./grpc.ts";
import { exceededLimit, plainReason } from "./plain-words.ts";
import { grpcMembers, type Member, type MemberTls, type OpenWatch, type WatchListener } from "./member.ts";
import type { RangeRequest, RangeResponse, TxnRequest, TxnResponse, WatchCreateRequest } from "./messages.ts";

/** Addresses and TLS settings of a cluster. */
export interface ConnectionOptions extends MemberTls {
  /** `host:port`, `http://host:port` or `https://host:port`. Either all use TLS or none. */
  readonly endpoints: readonly string[];
  /** Timeout of a request; default 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Connects to the members at the endpoints; by default over gRPC. */
  readonly connect?: ((endpoints: readonly string[], tls: MemberTls) => readonly Member[]) | undefined;
}

/** Outcome of a write. */
export interface WriteAnswer extends TxnResponse {
  /** An earlier attempt got no answer, so the state found may be its result. */
  readonly doubtful: boolean;
}

/** The revision of the request is compacted. */
export class CompactedSignal extends Error {
  override name = "CompactedSignal";
}

const defaultTimeoutMs = 10_000;

/** Timeout of one attempt if there are several members, because a member may hang. */
const readAttemptMs = 800;
const writeAttemptMs = 1_200;
/** Maximum number of attempts per member. */
const rounds = 3;

/** A request to a member. */
type Call<T> = (member: Member, timeoutMs: number) => Promise<T>;

/** Sends requests to an etcd cluster; if a member can't be reached, to the next one. */
export class Connection {
  private readonly members: readonly Member[];
  private readonly names: string;
  private readonly timeoutMs: number;
  private readonly clock: Clock;
  private chosen = 0;
  private silence: () => void = () => undefined;

  /** @throws {TypeError} for missing or malformed endpoints; `Error` from the file system if a TLS file can't be read. */
  constructor(options: ConnectionOptions & { readonly clock: Clock }) {
    if (options.endpoints.length === 0) throw new TypeError("etcd needs at least one endpoint");
    this.members = (options.connect ?? grpcMembers)(options.endpoints, options);
    this.names = options.endpoints.join(", ");
    this.timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
    this.clock = options.clock;
  }

  /** Reads keys: linearizable, or at an exact revision. */
  range(request: RangeRequest): Promise<RangeResponse> {
    return this.read((member, timeoutMs) => member.range(request, timeoutMs));
  }

  /** Reads several ranges at one revision. */
  readTogether(request: Pick<TxnRequest, "success">): Promise<TxnResponse> {
    return this.read((member, timeoutMs) => member.txn(request, timeoutMs));
  }

  /**
   * Sends a write. If a member doesn't answer, it may have executed the request, or may execute it later. So the request is sent to another
   * member only if it wasn't sent, or is repeatable.
   *
   * @param repeatable the request takes effect at most once, however often it is executed.
   * @throws {StoreUnavailableError} if the outcome is unknown, unless the error says otherwise.
   */
  async write(request: TxnRequest, repeatable: boolean): Promise<WriteAnswer> {
    let doubtful = false;
    const send: Call<TxnResponse> = (member, timeoutMs) => member.txn(request, timeoutMs);
    const answer = await this.attempts(writeAttemptMs, send, (error) => {
      if (wasNotSent(error)) return true;
      doubtful = true;
      return repeatable;
    });
    return { ...answer, doubtful };
  }

  /** @throws {CompactedSignal} if the cluster is already compacted to this revision. */
  async compact(revision: number): Promise<void> {
    await this.call((member, timeoutMs) => member.compact(revision, timeoutMs), this.timeoutMs);
  }

  /** Whether the cluster exceeds its quota and rejects writes that need space. */
  outOfSpace(): Promise<boolean> {
    return this.read((member, timeoutMs) => member.outOfSpace(timeoutMs));
  }

  /** Opens a watch at the current member. */
  watch(request: WatchCreateRequest, listener: WatchListener): OpenWatch {
    return this.members[this.chosen]!.watch(request, listener);
  }

  /** @param listener called when the current member doesn't respond and another one is used. */
  onSilence(listener: () => void): void {
    this.silence = listener;
  }

  /** Switches to another member. */
  useNextMember(): void {
    this.chosen = (this.chosen + 1) % this.members.length;
  }

  /** Converts the error of a failed request. */
  storeError(error: ServiceError | Error): StoreError {
    const code = "code" in error ? error.code : undefined;
    const details = "details" in error ? error.details : error.message;
    if (code === status.RESOURCE_EXHAUSTED && /space exceeded/.test(details)) return this.fullError(error);
    const limit = exceededLimit(details);
    if (limit !== undefined)
      return new StoreError(`etcd at ${this.names}: ${limit}; nothing was written`, { cause: error });
    const what = code === status.DEADLINE_EXCEEDED ? "no answer in time" : plainReason(details);
    return new StoreUnavailableError(`etcd at ${this.names}: ${what}`, { cause: error });
  }

  /** Returns the error for a cluster that exceeds its quota. */
  fullError(cause?: unknown): StoreFullError {
    return new StoreFullError(
      `etcd at ${this.names} has used up its quota: compact and defragment it, raise the quota, then disarm its ` +
        "alarm; nothing was written",
      { cause },
    );
  }

  close(): void {
    for (const member of this.members) member.close();
  }

  private read<T>(call: Call<T>): Promise<T> {
    return this.attempts(readAttemptMs, call, () => true);
  }

  /**
   * Sends a request to the current member until it is answered, the timeout expires, or each member has failed the maximum number
   * of times. A cluster with one member gets one attempt with the whole timeout.
   */
  private async attempts<T>(
    attemptMs: number,
    call: Call<T>,
    mayRepeat: (error: StoreUnavailableError) => boolean,
  ): Promise<T> {
    const members = this.members.length;
    const end = this.clock.monotonicNow() + this.timeoutMs;
    for (let refused = 0, made = 1; ; made++) {
      const leftMs = Math.max(1, end - this.clock.monotonicNow());
      try {
        return await this.call(call, members === 1 ? leftMs : Math.min(attemptMs, leftMs));
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        // Unreachable members fail at once; members that don't respond may be electing a leader.
        if (!isSilence(error)) refused++;
        if (refused >= members || made >= members * rounds || this.clock.monotonicNow() >= end) throw error;
        if (members === 1 || !mayRepeat(error)) throw error;
      }
    }
  }

  private async call<T>(call: Call<T>, timeoutMs: number): Promise<T> {
    const at = this.chosen;
    try {
      return await call(this.members[at]!, timeoutMs);
    } catch (error) {
      if (!isServiceError(error)) throw error;
      if (error.code === status.OUT_OF_RANGE && /compacted/.test(error.details))
        throw new CompactedSignal(error.details, { cause: error });
      const silent = error.code === status.DEADLINE_EXCEEDED;
      if ((silent || error.code === status.UNAVAILABLE) && this.chosen === at) {
        this.useNextMember();
        if (silent) this.silence();
      }
      throw this.storeError(error);
    }
  }
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && "details" in error;
}

function causeOf(error: StoreUnavailableError): Partial<ServiceError> {
  return (error.cause ?? {}) as Partial<ServiceError>;
}

function isSilence(error: StoreUnavailableError): boolean {
  return causeOf(error).code === status.DEADLINE_EXCEEDED;
}

/** Whether a request was not sent, because there was no connection. */
function wasNotSent(error: StoreUnavailableError): boolean {
  const { code, details = "" } = causeOf(error);
  return code === status.UNAVAILABLE && /No connection established|ECONNREFUSED/.test(details);
}
