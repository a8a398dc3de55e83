import { type WaitingClient, tooManyRequests } from "./request.ts";

/** Bytes of memory that large requests may take: those of all users, and those of one. */
const defaultLimits = { server: 256 * 1024 * 1024, user: 48 * 1024 * 1024 };

/**
 * Bounds the memory that large requests take while they are decoded, changed, validated and encoded: by user, and in total.
 * Requests beyond that wait, each user's in their order and the users in rotation. A user's only request is admitted
 * whatever its size, and so is the server's only one.
 */
export class LargeRequests {
  private readonly users = new Map<string, User>();
  private total = 0;

  constructor(private readonly limits = defaultLimits) {}

  /** A request that has nothing decoded yet. */
  request(user: string, client: WaitingClient): LargeRequest {
    return new LargeRequest(this, user, client);
  }

  /** @internal Puts a request at the end of its user's line. */
  add(request: LargeRequest): void {
    const user = this.users.get(request.user) ?? new User();
    user.waiting.add(request);
    this.users.set(request.user, user);
    this.admit();
  }

  /** @internal Removes a request that waits no longer, or gives the bytes of one back that was admitted. */
  remove(request: LargeRequest, bytes: number): void {
    const user = this.users.get(request.user)!;
    user.waiting.delete(request);
    user.bytes -= bytes;
    this.total -= bytes;
    if (user.bytes === 0 && user.waiting.size === 0) this.users.delete(request.user);
    this.admit();
  }

  /** Admits what fits. Nothing overtakes a request that only waits for the bytes of other users. */
  private admit(): void {
    for (const [name, user] of this.users) {
      const [first] = user.waiting;
      if (first === undefined) continue;
      const { bytes } = first;
      if (user.bytes > 0 && user.bytes + bytes > this.limits.user) continue;
      if (this.total > 0 && this.total + bytes > this.limits.server) return;
      user.waiting.delete(first);
      user.bytes += bytes;
      this.total += bytes;
      // Behind the other users; the loop comes to it again.
      this.users.delete(name);
      this.users.set(name, user);
      first.admitted();
    }
  }
}

/** The large requests of one user. */
class User {
  bytes = 0;
  readonly waiting = new Set<LargeRequest>();
}

/** The memory of one large request. */
export class LargeRequest {
  /** Bytes that it has, or waits for. */
  bytes = 0;
  private wait: { resolve(): void; reject(error: Error): void } | undefined;
  private isAdmitted = false;
  private isFollowed = false;

  /** @internal Made by {@link LargeRequests}. */
  constructor(
    private readonly all: LargeRequests,
    readonly user: string,
    private readonly client: WaitingClient,
  ) {}

  /**
   * Takes further memory; a promise where it has to wait. Meanwhile it has none, so that two requests can't wait for each
   * other; what it holds until then is little beside what it waits for.
   *
   * @throws {StatusError} TooManyRequests when the client went away.
   */
  take(bytes: number): Promise<void> | undefined {
    const total = this.bytes + bytes;
    this.release();
    this.bytes = total;
    this.all.add(this);
    if (this.isAdmitted) return undefined;
    if (!this.isFollowed) this.client.onClose(() => this.abandon());
    this.isFollowed = true;
    return new Promise((resolve, reject) => (this.wait = { resolve, reject }));
  }

  /** Gives everything back. */
  release(): void {
    const { bytes } = this;
    this.bytes = 0;
    if (this.isAdmitted) this.all.remove(this, bytes);
    this.isAdmitted = false;
  }

  /** @internal */
  admitted(): void {
    this.isAdmitted = true;
    this.wait?.resolve();
    this.wait = undefined;
  }

  private abandon(): void {
    const { wait } = this;
    if (wait === undefined) return;
    this.wait = undefined;
    this.bytes = 0;
    this.all.remove(this, 0);
    wait.reject(tooManyRequests());
  }
}
