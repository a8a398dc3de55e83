import type { ApiObject, BuiltInObjects, Clock, TypedClient } from "../../../src/index.ts";

export type TestClient = TypedClient<BuiltInObjects>;
export interface Collection {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly labelSelector?: string;
}

export const nameOf = ({ metadata }: ApiObject): string => metadata.name!;

/** How a cache treats the objects of a new list; wrong ones are bugs of the tests. */
export interface CacheOptions {
  /** Whether a list removes objects that it doesn't have; otherwise they stay. */
  readonly keepsVanished?: boolean;
  /** Called for each object of a list, and for each event. */
  changed(name: string, type: "LISTED" | "ADDED" | "MODIFIED" | "DELETED"): void;
}

/** A cache of a collection by list and watch: a list again when the watch ends. */
export class Cache {
  readonly objects = new Map<string, ApiObject>();

  constructor(
    private readonly client: TestClient,
    private readonly clock: Clock,
    private readonly collection: Collection,
    private readonly options: CacheOptions,
  ) {}

  /** Resolves after the first list. */
  async start(): Promise<void> {
    const { client, collection, objects, options } = this;
    const { items, resourceVersion } = await client.list(collection);
    const vanished = new Set(options.keepsVanished === true ? [] : objects.keys());
    for (const object of items) {
      vanished.delete(nameOf(object));
      objects.set(nameOf(object), object);
    }
    for (const name of vanished) objects.delete(name);
    for (const name of vanished) options.changed(name, "DELETED");
    for (const object of items) options.changed(nameOf(object), "LISTED");
    client.watch(
      { ...collection, resourceVersion },
      ({ type, object }) => {
        if (type === "DELETED") objects.delete(nameOf(object));
        else objects.set(nameOf(object), object);
        options.changed(nameOf(object), type);
      },
      () => this.startLater(100),
    );
  }

  private startLater(delayMs: number): void {
    this.clock.setTimer(() => {
      this.start().catch(() => this.startLater(Math.min(2 * delayMs, 5000)));
    }, delayMs);
  }
}

/** Runs the work for names one after the other, and again with growing pauses until it succeeds. */
class Queue {
  private readonly waiting = new Set<string>();
  private readonly failures = new Map<string, number>();
  private isRunning = false;

  constructor(
    private readonly clock: Clock,
    private readonly work: (name: string) => Promise<void>,
  ) {}

  readonly add = (name: string): void => {
    this.waiting.add(name);
    if (!this.isRunning) void this.run();
  };

  private async run(): Promise<void> {
    this.isRunning = true;
    // Not during the event that added the name.
    await Promise.resolve();
    for (const name of this.waiting) {
      this.waiting.delete(name);
      try {
        await this.work(name);
        this.failures.delete(name);
      } catch {
        const failures = (this.failures.get(name) ?? 0) + 1;
        this.failures.set(name, failures);
        this.clock.setTimer(() => this.add(name), Math.min(10 * 2 ** failures, 20_000));
      }
    }
    this.isRunning = false;
  }
}

/** Starts caches whose changes are worked on by name. */
export async function reconcile(
  clock: Clock,
  work: (name: string) => Promise<void>,
  caches: (changed: (name: string) => void) => readonly Cache[],
): Promise<void> {
  const queue = new Queue(clock, work);
  const early = new Set<string>();
  let isReady = false;
  // Work begins when all caches are filled.
  const changed = (name: string) => void (isReady ? queue.add(name) : early.add(name));
  for (const cache of caches(changed)) await cache.start();
  isReady = true;
  for (const name of early) queue.add(name);
}

/** Works on the objects of a collection by name. @returns adds a name. */
export async function reconcileEach(
  client: TestClient,
  clock: Clock,
  collection: Collection,
  work: (name: string, cached: ReadonlyMap<string, ApiObject>) => Promise<void>,
): Promise<(name: string) => void> {
  let changed: (name: string) => void = () => undefined;
  const cache: Cache = new Cache(client, clock, collection, { changed: (name) => changed(name) });
  await reconcile(
    clock,
    (name) => work(name, cache.objects),
    (add) => {
      changed = add;
      return [cache];
    },
  );
  return changed;
}
