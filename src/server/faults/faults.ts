import type { Clock } from "../../base/time/clock.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import {
  type InterceptedEngine,
  type WatchInterceptor,
  ConnectionLostError,
  type FaultyRequest,
  type RequestFaults,
} from "../../resources/engine/request-faults.ts";
import type { WatchChange, WatchObserver } from "../../resources/registry/watch-change.ts";
import type { Revision, Store, Subscription } from "../../storage/store.ts";
import { Activity, turn, type SettleOptions } from "./activity.ts";
import { errorOf, faultNote, watchEndOf } from "./fault-errors.ts";
import { checkRule, type FaultEffect, type FaultRule } from "./fault-rule.ts";
import { FaultyWatch, type EventFate } from "./faulty-watch.ts";
import { describeFault, targetText, type FiredFault } from "./fired-fault.ts";
import { CountedRule } from "./rule-counts.ts";
import { staleEngine } from "./stale-engine.ts";
import { FaultyUser } from "./users.ts";

/** A rule that was added. */
export interface FaultHandle {
  /** Number of faults of the rule so far. */
  readonly count: number;
  /** Removes the rule. */
  remove(): void;
}

/** What happens to a request. */
interface RequestFate {
  readonly waits: FaultEffect[];
  staleBy: number;
  failure?: { readonly effect: FaultEffect; readonly isApplied: boolean };
}

/**
 * Faults for tests of controllers: errors, lost answers, stale reads, disturbed watches and crashes, chosen by rules and a seed. They
 * affect requests over HTTP and of `server.as()`, after their authorization; never those of `server.client` and of the server's own
 * controllers. Watches that began before the first use of `server.faults` are not affected.
 *
 * @example
 * const rule = server.faults.add({
 *   on: { user: "operator", verbs: ["create"], resource: "secrets" },
 *   times: 1,
 *   effect: { error: 500 },
 * });
 * await runController(server.as("operator", ["system:masters"]));
 * await server.faults.settle();
 * expect(rule.count).toBe(1);
 */
export class Faults {
  private seedNumber = 1;
  private rules: CountedRule[] = [];
  private ruleCount = 0;
  private clears = 0;
  private firedFaults: FiredFault[] = [];
  /** @internal The faults since {@link begin}; undefined before. */
  firedInRun: FiredFault[] | undefined;
  private skipped: ReadonlySet<string> | undefined;
  private oldest = 0 as Revision;
  private readonly users = new Map<string, FaultyUser>();
  private readonly activity: Activity;

  /** @internal Created by the server. */
  constructor(
    private readonly clock: Clock,
    /** @internal The store of the server. */
    readonly store: Store,
  ) {
    this.activity = new Activity(store);
  }

  /** Sets the seed of the rules with a probability, and starts their counts again. The first seed is 1. */
  seed(seed: number): void {
    this.seedNumber = seed;
    for (const rule of this.rules) rule.restart();
  }

  /**
   * Adds a rule. Several rules may affect one request: their delays add up, and the first error, lost connection or crash counts.
   *
   * @throws {TypeError} if the rule has a wrong value or an unknown effect.
   */
  add(rule: FaultRule): FaultHandle {
    checkRule(rule);
    const counted = new CountedRule(rule, this.ruleCount++, this.clears);
    this.rules.push(counted);
    return {
      get count() {
        return counted.fired;
      },
      remove: () => void (this.rules = this.rules.filter((other) => other !== counted)),
    };
  }

  /** The faults that happened since the last {@link clear}, in order. */
  get log(): readonly FiredFault[] {
    return this.firedFaults;
  }

  /** Removes all rules and empties the log. Crashed controllers stay stopped. */
  clear(): void {
    this.rules = [];
    this.ruleCount = 0;
    this.clears++;
    this.firedFaults = [];
    this.activity.clear();
  }

  /**
   * Stops the controller of a user, as the effect `crash` does. Its watches end, and clients made by `server.as()` before get no more
   * answers; over HTTP connections end until {@link restart}.
   */
  crash(user: string): void {
    const state = this.user(user);
    for (const watch of state.crash()) {
      const message = `the controller of ${JSON.stringify(user)} crashed (fault: ${watch.text})`;
      watch.end(new ConnectionLostError(message));
    }
    const done = this.activity.begin();
    const callbacks = [...state.onCrash];
    setImmediate(() => {
      if (callbacks.length > 0) state.isDown = false;
      Promise.all(callbacks.map(async (callback) => callback()))
        .catch((error: unknown) => this.activity.failed(error))
        .finally(done);
    });
  }

  /** Accepts requests of a user again after a crash. A controller in the process needs a new client of `server.as()`. */
  restart(user: string): void {
    this.user(user).isDown = false;
  }

  /**
   * Calls a function one turn of the event loop after each crash of a user's controller, to start it again; {@link restart} isn't
   * needed. An error of the function is thrown by {@link settle}.
   *
   * @example
   * const start = () => runController(server.as("operator", ["system:masters"]));
   * server.faults.onCrash("operator", start);
   * await start();
   */
  onCrash(user: string, callback: () => void | Promise<void>): { remove(): void } {
    const { onCrash } = this.user(user);
    onCrash.add(callback);
    return { remove: () => void onCrash.delete(callback) };
  }

  /**
   * Waits until there are no more requests of clients, watch events and writes.
   *
   * @throws {Error} if it doesn't become quiet; an error of a function of {@link onCrash}.
   */
  settle(options: SettleOptions = {}): Promise<void> {
    return this.activity.settle(options);
  }

  /** @internal Number of requests so far. */
  get requestCount(): number {
    return this.activity.requestCount;
  }

  /** @internal Records an error that the next {@link settle} throws. */
  failed(error: unknown): void {
    this.activity.failed(error);
  }

  /** @internal Starts a run: without rules, with all users up, and without stale reads from before `revision`. */
  begin(seed: number, revision: Revision, skipped?: ReadonlySet<string>): void {
    this.clear();
    this.clears = 0;
    this.firedInRun = [];
    this.seedNumber = seed;
    this.skipped = skipped;
    this.oldest = revision;
    for (const user of this.users.values()) user.reset();
  }

  /** @internal Stops the controllers of all users, and doesn't start them again. */
  stopAll(): void {
    this.clear();
    for (const [name, user] of this.users) {
      user.onCrash.clear();
      this.crash(name);
    }
  }

  /** @internal The part for the server. */
  readonly requests: RequestFaults = {
    run: (request, engine, call) => this.run(request, engine, call),
    lifeOf: (user) => this.user(user).life,
  };

  private user(name: string): FaultyUser {
    let user = this.users.get(name);
    if (user === undefined) this.users.set(name, (user = new FaultyUser()));
    return user;
  }

  private run<T>(
    request: FaultyRequest,
    engine: Engine,
    call: (engine: Engine, isLost: boolean) => MaybePromise<T>,
  ): MaybePromise<T> {
    const user = this.user(request.user);
    const done = this.activity.request(request);
    user.requests++;
    const fate = user.isDead(request.life) ? undefined : this.fateOf(request);
    const result = this.carryOut(request, engine, call, fate);
    return result.finally(done).then(
      (value) => (this.isAbandoned(request) ? never<T>() : value),
      (error: unknown) => {
        const isCrash = fate?.failure !== undefined && "crash" in fate.failure.effect;
        if (this.isAbandoned(request) && !isCrash) return never<T>();
        throw error;
      },
    );
  }

  /** Whether the request is of a client in the process from before a crash. */
  private isAbandoned({ life, user }: FaultyRequest): boolean {
    return life !== undefined && this.user(user).isDead(life);
  }

  private async carryOut<T>(
    request: FaultyRequest,
    engine: Engine,
    call: (engine: Engine, isLost: boolean) => MaybePromise<T>,
    fate: RequestFate | undefined,
  ): Promise<T> {
    if (fate === undefined) throw new ConnectionLostError(`the controller has crashed ${faultNote(request)}`);
    // A controller that repeats its requests without end must not block the event loop.
    if (request.life !== undefined) await turn();
    for (const effect of fate.waits) await new Promise<void>((resolve) => this.wait(effect, resolve));
    const { failure } = fate;
    if (failure !== undefined) {
      // The answer is lost also if it would be an error.
      if (failure.isApplied) await ignoringStatus(async () => call(engine, true));
      throw this.fail(failure.effect, request);
    }
    return call(await this.engineFor(request, engine, fate), false);
  }

  /** Returns the error of a request, after a crash if the fault is one. */
  private fail(effect: FaultEffect, request: FaultyRequest): Error {
    if ("error" in effect) return errorOf(effect, request);
    if (!("crash" in effect)) return new ConnectionLostError(`the connection was lost ${faultNote(request)}`);
    this.crash(request.user);
    return new ConnectionLostError(`the controller crashed ${effect.crash} the write ${faultNote(request)}`);
  }

  /** Decides about a request; delays and stale reads add up, the first failure counts. */
  private fateOf(request: FaultyRequest): RequestFate {
    const fate: RequestFate = { waits: [], staleBy: 0 };
    for (const counted of this.rules) {
      const { effect } = counted.rule;
      if (counted.isOnEvents) continue;
      const mayFire = fate.failure === undefined || !isFailure(effect);
      const id = counted.next(request, request.name, this.seedNumber, this.skipped, mayFire);
      if (id === undefined) continue;
      this.record(id, request, request.name, effect);
      if ("staleBy" in effect) fate.staleBy = Math.max(fate.staleBy, effect.staleBy);
      else if (isFailure(effect)) fate.failure = { effect, isApplied: isApplied(effect, request.verb) };
      else fate.waits.push(effect);
    }
    return fate;
  }

  private async engineFor(request: FaultyRequest, engine: Engine, { staleBy }: RequestFate): Promise<Engine> {
    const { verb } = request;
    if (verb === "watch") {
      const intercepted: InterceptedEngine = { ...engine, interceptWatch: this.interceptor(request) };
      return intercepted;
    }
    if (verb !== "list" && staleBy === 0) return engine;
    const user = this.user(request.user);
    const type = typeOf(request);
    const latest = await this.store.latestRevision();
    const revision = Math.max(
      latest - staleBy,
      request.notBefore,
      user.notBefore(type),
      this.oldest,
      await this.store.floor(),
    );
    if (verb === "list") user.saw(type, Math.min(revision, latest));
    return revision >= latest ? engine : staleEngine(engine, revision as Revision);
  }

  private interceptor(request: FaultyRequest): WatchInterceptor {
    return (observer: WatchObserver, start: (observer: WatchObserver) => Subscription) => {
      const user = this.user(request.user);
      const watch: FaultyWatch = new FaultyWatch(observer, targetText(request), {
        decide: (change) => this.eventFate(request, change),
        delivered: (upTo) => {
          this.activity.step();
          user.saw(typeOf(request), upTo);
        },
        closed: () => void user.watches.delete(watch),
      });
      user.watches.set(watch, request.life !== undefined);
      return watch.start(start);
    };
  }

  private eventFate(request: FaultyRequest, change: WatchChange): EventFate | undefined {
    if (this.rules.length === 0) return undefined;
    const { key, revision } = change.event;
    const name = key.slice(key.lastIndexOf("/") + 1);
    const waits: FaultEffect[] = [];
    let copies: EventFate["copies"] = 1;
    let end: Error | undefined;
    for (const counted of this.rules) {
      if (!counted.isOnEvents) continue;
      const id = counted.next(request, name, this.seedNumber, this.skipped);
      if (id === undefined) continue;
      const { effect } = counted.rule;
      this.record(id, request, name, effect);
      if ("dropEvent" in effect) copies = 0;
      else if ("repeatEvent" in effect) copies = 2;
      else if ("endWatch" in effect) end ??= watchEndOf(effect, { ...request, name }, revision);
      else waits.push(effect);
    }
    if (waits.length === 0 && copies === 1 && end === undefined) return undefined;
    // A watch doesn't end during the write that causes the event.
    if (end !== undefined) waits.push({ delayEventTurns: 1 });
    return { copies, end, wait: waits.length === 0 ? undefined : (then) => this.waitForAll(waits, then) };
  }

  /** Calls back after the delays of watch events. */
  private waitForAll(waits: readonly FaultEffect[], then: () => void): void {
    const done = this.activity.begin();
    const next = (index: number): void => {
      const effect = waits[index];
      if (effect !== undefined) return this.wait(effect, () => next(index + 1));
      done();
      then();
    };
    next(0);
  }

  private wait(effect: FaultEffect, then: () => void): void {
    if ("delayMs" in effect) this.clock.setTimer(then, effect.delayMs);
    else if ("delayEventMs" in effect) this.clock.setTimer(then, effect.delayEventMs);
    else if ("delayTurns" in effect) afterTurns(effect.delayTurns, then);
    else if ("delayEventTurns" in effect) afterTurns(effect.delayEventTurns, then);
    else then();
  }

  private record(id: string, request: FaultyRequest, name: string, effect: FaultEffect): void {
    const { user, verb, group, resource, subresource, namespace } = request;
    const fault = { user, verb, group, resource, subresource, namespace, name, effect };
    const fired = { ...fault, id, request: this.user(user).requests, text: describeFault(fault) };
    this.firedFaults.push(fired);
    this.firedInRun?.push(fired);
  }
}

function typeOf({ group, resource }: FaultyRequest): string {
  return `${group}/${resource}`;
}

function isFailure(effect: FaultEffect): boolean {
  return "error" in effect || "disconnect" in effect || "crash" in effect;
}

/** Whether a request is carried out before it fails; a watch isn't. */
function isApplied(effect: FaultEffect, verb: string): boolean {
  if (verb === "watch") return false;
  return "crash" in effect ? effect.crash === "after" : "applied" in effect && effect.applied === true;
}

async function ignoringStatus(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
  }
}

function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}

function afterTurns(turns: number, then: () => void): void {
  if (turns === 0) then();
  else setImmediate(() => afterTurns(turns - 1, then));
}
