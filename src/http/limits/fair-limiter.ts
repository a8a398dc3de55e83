import type { FlowControl } from "../../flow/flow-control.ts";
import type { Ticket } from "../../flow/request.ts";
import { changeWidth, ordinary, type Width } from "../../flow/matching.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { accountOf, type RequestContext, type RequestLimiter } from "../request/context.ts";
import { isConnection, type RequestFacts, type ResourceFacts } from "../request/facts.ts";
import type { ListWidths } from "./list-widths.ts";
import type { Clock, Timer } from "../../base/time/clock.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { drainInTime, type BodyStream } from "../transport/body-stream.ts";
import { parseFieldSelector, pinnedValue } from "../../base/selectors/field-selector.ts";

/** Limits requests by priority and fairness. Response headers name the flow schema and the priority level. */
export class FairLimiter implements RequestLimiter {
  constructor(
    private readonly control: FlowControl,
    private readonly lists: ListWidths,
    private readonly watches: WatchCounts,
  ) {}

  /** See {@link RequestLimiter.enter}. A watch releases its seats when its initial state is sent. */
  enter(request: RequestContext): Promise<void> | undefined {
    const { exchange, facts } = request;
    const user = limitedUser(request);
    const use = this.control.classify(facts, user);
    exchange.exempt = use.level.exempt;
    if (isConnection(facts)) return undefined;
    if (!request.limited && use.headers.length > 0) exchange.addHeaders(use.headers);
    request.limited = true;
    const ticket = this.control.enter(use, this.widthOf(facts), facts, user, exchange);
    if (ticket instanceof Promise) return ticket.then((given) => this.give(request, given));
    request.ticket = ticket;
    return undefined;
  }

  private widthOf(facts: RequestFacts): Width {
    if (facts.kind === "path") return ordinary;
    switch (facts.verb) {
      case "list":
        return this.lists.width(facts);
      case "create":
      case "update":
      case "patch":
      case "delete":
        return makesToken(facts) ? ordinary : changeWidth(this.watches.interested(facts));
      default:
        return ordinary;
    }
  }

  private give(request: RequestContext, ticket: Ticket): void {
    request.ticket = ticket;
  }
}

/**
 * Returns the user as flow schemas see it. In a workspace it has the account's name and the groups with which it came from outside, so that
 * nothing in the workspace, such as an account of a system namespace or impersonation, gives it the priority of the server's own users.
 */
function limitedUser(request: RequestContext): UserInfo {
  const { user, caller, workspace, isWorkspaceAccount } = request;
  if (workspace === undefined) return user;
  return { ...caller, name: accountOf(request), groups: isWorkspaceAccount ? [] : caller.groups };
}

/** Whether a request creates a service account token, which changes no watched object. */
function makesToken({ resource, subresource }: ResourceFacts): boolean {
  return subresource === "token" && resource === "serviceaccounts";
}

/**
 * Milliseconds for which a request that waits for its client keeps its seat. After that it releases the seat to waiting requests:
 * otherwise clients that neither send nor read would block their priority level. Its waits are added up: a client that reads a page
 * in each quarter of a second waits too.
 */
export const clientWaitMs = 250;

/** Releases the seat of a request that has waited for its client for {@link clientWaitMs}, once other requests wait for seats. */
class YieldingSeat {
  private timer: Timer;
  private readonly startMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly request: RequestContext,
  ) {
    this.startMs = clock.monotonicNow();
    this.timer = clock.setTimer(() => this.look(), Math.max(0, clientWaitMs - request.clientWaitMs));
  }

  /** Ends the wait. */
  stop(): void {
    this.timer.cancel();
    this.request.clientWaitMs += this.clock.monotonicNow() - this.startMs;
  }

  private look(): void {
    const { request } = this;
    if (request.ticket === undefined) return;
    if (request.ticket.contended) releaseSeat(request);
    else this.timer = this.clock.setTimer(() => this.look(), clientWaitMs);
  }
}

/**
 * Releases the seat of a request with a complete response: when the client has read it, or when it doesn't read and other requests
 * wait for a seat.
 */
export function releaseWhenTaken({ clock }: { readonly clock: Clock }, request: RequestContext): void {
  const { backlog } = request.exchange;
  if (backlog === undefined || request.ticket === undefined) return releaseSeat(request);
  const seat = new YieldingSeat(clock, request);
  backlog.onTaken(() => {
    seat.stop();
    releaseSeat(request);
  });
}

/**
 * Waits for the extension server to which a request was forwarded. If other requests wait for a seat, the request releases its own
 * and doesn't acquire another one: the extension server does the work.
 */
export async function awaitOther<T>(
  { clock }: { readonly clock: Clock },
  request: RequestContext,
  work: Promise<T>,
): Promise<T> {
  const seat = request.ticket === undefined ? undefined : new YieldingSeat(clock, request);
  try {
    return await work;
  } finally {
    seat?.stop();
  }
}

/** Releases the seat of a request, if it has one. */
function releaseSeat(request: RequestContext): void {
  const { ticket } = request;
  request.ticket = undefined;
  request.clientWaitMs = 0;
  ticket?.release();
}

/**
 * Waits for the client of a request, for memory, or for controllers. If the request releases its seat meanwhile, it then waits for another one.
 *
 * @param isConnected whether the request still needs a seat after the wait.
 * @throws {StatusError} TooManyRequests if it gets none.
 */
export async function awaitClient<T>(
  { clock }: { readonly clock: Clock },
  request: RequestContext,
  sent: Promise<T>,
  isConnected: () => boolean = () => true,
): Promise<T> {
  const seat = request.ticket === undefined ? undefined : new YieldingSeat(clock, request);
  let value: T;
  try {
    value = await sent;
  } finally {
    seat?.stop();
  }
  if (seat !== undefined && request.ticket === undefined && isConnected()) {
    await request.limiter!.enter(request);
    request.clientWaitMs = 0;
  }
  return value;
}

/**
 * Waits until the client of a request has read most of the written bytes; meanwhile the request yields its seat to waiting requests.
 * Nothing else waits for the reader of a response (`test/tidy/client-waits.test.ts`).
 *
 * @returns undefined if there is nothing to wait for.
 * @throws {StatusError} Timeout if the client stalls; TooManyRequests if the request has released its seat and gets no other one.
 */
export function awaitDrain(clock: Clock, request: RequestContext, stream: BodyStream): MaybePromise<void> {
  if (!stream.needsDrain) return undefined;
  return awaitClient({ clock }, request, drainInTime(stream, clock), () => !stream.closed);
}

/** The scope of a watch or of a change. */
type Watched = Pick<ResourceFacts, "group" | "resource" | "namespace" | "name">;

/** The watches of one resource type. */
class ResourceWatches {
  all = 0;
  /** By namespace, and by namespace and name. */
  readonly some = new Map<string, number>();

  get empty(): boolean {
    return this.all === 0 && this.some.size === 0;
  }
}

/**
 * Counts the watches of this server by resource type, namespace and name. Label selectors are ignored, because every event must be
 * compared with them.
 */
export class WatchCounts {
  private readonly byGroup = new Map<string, Map<string, ResourceWatches>>();

  /**
   * Adds a watch.
   *
   * @param selection `name`: the name that it selects, if any.
   * @returns removes the watch; must be called once.
   */
  add(facts: ResourceFacts, { name = "" }: { readonly name: string | undefined }): () => void {
    // Watches of one node's pods receive few events.
    if (watchesOneNode(facts)) return () => undefined;
    const { group, resource, namespace } = facts;
    const watched = { group, resource, namespace, name };
    this.change(watched, 1);
    return () => this.change(watched, -1);
  }

  /** The number of watches that may receive the event of a change. */
  interested({ group, resource, namespace, name }: Watched): number {
    const watches = this.byGroup.get(group)?.get(resource);
    if (watches === undefined) return 0;
    const { all, some } = watches;
    if (some.size === 0) return all;
    const inNamespace = namespace === "" ? 0 : (some.get(namespace) ?? 0);
    return all + inNamespace + (name === "" ? 0 : (some.get(nameKey(namespace, name)) ?? 0));
  }

  private change({ group, resource, namespace, name }: Watched, by: number): void {
    let resources = this.byGroup.get(group);
    if (resources === undefined) this.byGroup.set(group, (resources = new Map()));
    let watches = resources.get(resource);
    if (watches === undefined) resources.set(resource, (watches = new ResourceWatches()));
    if (namespace === "" && name === "") watches.all += by;
    else {
      const key = name === "" ? namespace : nameKey(namespace, name);
      const count = (watches.some.get(key) ?? 0) + by;
      if (count === 0) watches.some.delete(key);
      else watches.some.set(key, count);
    }
    if (!watches.empty) return;
    resources.delete(resource);
    if (resources.size === 0) this.byGroup.delete(group);
  }
}

function nameKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function watchesOneNode({ group, resource, query }: ResourceFacts): boolean {
  if (group !== "" || resource !== "pods") return false;
  const node = pinnedValue(parseFieldSelector(query.get("fieldSelector") ?? ""), "spec.nodeName");
  return node !== undefined && node !== "";
}
