import { Endpoints } from "../kinds/core/endpoints.ts";
import { Service } from "../kinds/core/service/service.ts";
import { Follower } from "../resources/followers/follower.ts";
import { namesOf, resourceOf } from "../resources/registry/registry.ts";
import type { Entry, Store } from "../storage/store.ts";
import type { Clock, Timer } from "../base/time/clock.ts";
import type { UserInfo } from "../base/user-info.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { ApiServices } from "./api-services.ts";
import { checkAvailability, type ServiceObjects } from "./availability.ts";
import { identityHeaders } from "./identity.ts";
import type { Availability, RemoteApiService } from "./remote-api-service.ts";
import { Specifications } from "./specifications.ts";
import { Slots } from "./slots.ts";

/** Dependencies of {@link Supervision}. */
export interface SupervisionSources {
  readonly store: Store;
  readonly clock: Clock;
  readonly vocabulary: Vocabulary;
  readonly objects: ServiceObjects;
  /** An APIService has become unavailable. */
  readonly lost: (name: string, availability: Availability) => void;
  /** Logs a message about an APIService. */
  readonly noted: (name: string, message: string) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Checks the availability of extension servers when their APIService, Service or Endpoints change, and every 30 seconds. Also
 * reads their discovery and OpenAPI documents.
 */
export class Supervision {
  private readonly checks: Checks;
  private readonly specifications: Specifications;
  private readonly user: UserInfo;
  /** Names of APIServices by namespace and name of their Service. */
  private readonly byService = new Map<string, Set<string>>();
  private readonly remotes = new Map<string, RemoteApiService>();
  private followers: readonly Follower[] = [];

  constructor(
    private readonly services: ApiServices,
    private readonly sources: SupervisionSources,
  ) {
    const { clock, vocabulary } = sources;
    const { systemPrefix, components } = vocabulary;
    this.user = {
      name: `${systemPrefix}${components.aggregator}`,
      uid: "",
      groups: [`${systemPrefix}masters`],
      extra: {},
    };
    this.checks = new Checks(clock, (name) => this.look(name));
    this.specifications = new Specifications(clock, identityHeaders(this.user), {
      changed: () => services.described(),
      leftOut: (name, message) => sources.noted(name, message),
    });
    services.listen((name) => this.changed(name));
  }

  close(): void {
    this.checks.close();
    for (const one of this.followers) one.close();
  }

  private changed(name: string): void {
    const remote = this.services.get(name)?.remote;
    const before = this.remotes.get(name);
    if (remote === before) return;
    if (before !== undefined) this.forget(name, before);
    if (remote === undefined) return;
    this.remotes.set(name, remote);
    const key = serviceKey(remote);
    const names = this.byService.get(key) ?? new Set();
    this.byService.set(key, names.add(name));
    this.checks.request(name);
    if (this.followers.length === 0) this.followers = this.follow();
  }

  private forget(name: string, remote: RemoteApiService): void {
    this.remotes.delete(name);
    this.checks.forget(name);
    const key = serviceKey(remote);
    const names = this.byService.get(key);
    names?.delete(name);
    if (names?.size === 0) this.byService.delete(key);
  }

  /** Starts to watch Services and Endpoints; called when the first extension server appears. */
  private follow(): readonly Follower[] {
    const { store, clock, vocabulary, failed } = this.sources;
    return [Service, Endpoints].map((kind) => {
      const touched = (key: string) => this.touched(key);
      const handler = {
        put: ({ key }: Entry) => touched(key),
        remove: touched,
        matters: ({ key }: Entry) => this.byService.has(serviceOf(key)),
        failed,
      };
      const follower = new Follower(store, resourceOf(kind, vocabulary).storePrefix, handler, clock);
      follower.startInBackground();
      return follower;
    });
  }

  private touched(key: string): void {
    for (const name of this.byService.get(serviceOf(key)) ?? []) this.checks.request(name);
  }

  private async look(name: string): Promise<boolean> {
    const remote = this.remotes.get(name);
    if (remote === undefined) return true;
    try {
      const { resources } = remote;
      const result = await checkAvailability(remote, this.sources.objects, identityHeaders(this.user));
      // A failure that the end of the calls caused says nothing about the extension server.
      if (this.remotes.get(name) === remote && !remote.callsEnded)
        this.update(remote, result, resources !== remote.resources);
      return result.status === "True";
    } catch (error) {
      this.sources.failed(error);
      return false;
    }
  }

  private update(remote: RemoteApiService, result: Availability, isPublishedAnew: boolean): void {
    const { availability: before, available, name } = remote;
    remote.availability = result;
    if (available && !remote.available) this.sources.lost(name, result);
    if (remote.available) this.specifications.refresh(remote);
    const isSame =
      before?.status === result.status &&
      before.reason === result.reason &&
      before.message === result.message;
    if (!isSame || isPublishedAnew) this.services.changed(name);
  }
}

function serviceKey({ target: { service } }: RemoteApiService): string {
  return `${service.namespace}/${service.name}`;
}

/** Returns `namespace/name` of the storage key of a Service or Endpoints object. */
function serviceOf(key: string): string {
  const { namespace, name } = namesOf(key);
  return `${namespace}/${name}`;
}

/** Interval of checks without changes. */
const intervalMs = 30_000;
/** Delay after the first failure; it doubles up to the interval. */
const firstRetryMs = 1000;
/** Maximum concurrent checks. A silent service takes 5 s, so an interval has time for about 200 of them. */
const atOnce = 40;

interface State {
  failures: number;
  running: boolean;
  /** Whether a check was requested while one was running. */
  again: boolean;
  timer: Timer | undefined;
}

/** Checks keys on request and periodically; several at once, but never the same key concurrently. */
export class Checks {
  private readonly states = new Map<string, State>();
  private readonly slots = new Slots(atOnce);
  private closed = false;

  /**
   * @param look resolves to whether the check passed; must not reject.
   */
  constructor(
    private readonly clock: Clock,
    private readonly look: (key: string) => Promise<boolean>,
  ) {}

  /** Checks a key as soon as possible, then periodically until {@link forget}. */
  request(key: string): void {
    if (this.closed) return;
    let state = this.states.get(key);
    if (state === undefined) {
      state = { failures: 0, running: false, again: false, timer: undefined };
      this.states.set(key, state);
    }
    state.timer?.cancel();
    state.timer = undefined;
    if (state.running) state.again = true;
    else this.run(key, state);
  }

  forget(key: string): void {
    this.states.get(key)?.timer?.cancel();
    this.states.delete(key);
  }

  close(): void {
    this.closed = true;
    for (const key of this.states.keys()) this.forget(key);
  }

  private run(key: string, state: State): void {
    state.running = true;
    const work = async () => {
      // The key may have been removed while it waited.
      if (this.states.get(key) !== state) return;
      state.again = false;
      const good = await this.look(key);
      state.failures = good ? 0 : state.failures + 1;
    };
    this.slots.run(work).then(
      () => this.ended(key, state),
      () => this.ended(key, state),
    );
  }

  private ended(key: string, state: State): void {
    state.running = false;
    if (this.closed || this.states.get(key) !== state) return;
    if (state.again) return this.run(key, state);
    const delayMs =
      state.failures === 0 ? intervalMs : Math.min(intervalMs, firstRetryMs * 2 ** (state.failures - 1));
    state.timer = this.clock.setTimer(() => this.request(key), delayMs);
  }
}
