import { setImmediate } from "node:timers/promises";
import { expect } from "vitest";
import { userViewSource } from "../../../src/authorization/followed-user-view.ts";
import { decodeEntry } from "../../../src/resources/objects/stored.ts";
import { listObjects } from "../../../src/resources/reads/list.ts";
import { bodyOf, watchObjects, type WatchChange } from "../../../src/resources/reads/watch.ts";
import type { Revision, Store, Subscription } from "../../../src/storage/store.ts";
import { ask } from "../../authorization/support.ts";
import type { Dice } from "../../support/dice.ts";
import { randomWatched, sorted, World, type Watched } from "./view-world.ts";

/** A watch of a view, with the objects that its events result in. */
class Watch {
  readonly objects = new Map<string, number>();
  readonly kinds = new Set<string>();
  /** The objects at earlier positions. */
  readonly points: { readonly position: Revision; readonly objects: ReadonlyMap<string, number> }[] = [];
  subscription!: Subscription;
  ended: Error | undefined;

  private constructor(
    private readonly world: World,
    readonly watched: Watched,
  ) {}

  /** Starts a watch with its current state, or where another one was. */
  static async start(
    world: World,
    watched: Watched,
    point?: { readonly position: Revision; readonly objects: ReadonlyMap<string, number> },
  ): Promise<Watch> {
    const watch = new Watch(world, watched);
    const { who, resource, namespace, selection } = watched;
    const attributes = ask(who, "watch", { group: resource.group, resource: resource.name, namespace });
    const source = await userViewSource(world.chain, attributes, resource, {
      rule: "get",
      yieldIfDue: () => undefined,
    });
    expect(source.everything).toBe(false);
    const view = await source.open(point?.position);
    const start = view.start!;
    const target = { resource, namespace, name: "", subresource: "" };
    if (point !== undefined) {
      expect(start).toBe(point.position);
      for (const [key, revision] of point.objects) watch.objects.set(key, revision);
    } else {
      const read = { mode: "exact", revision: start } as const;
      const pages = listObjects(world.engine, target, { read, limit: 0, selection, view: view.state.view });
      for (let step = await pages.next(); step.done !== true; step = await pages.next()) {
        for (const { key, revision } of step.value.entries) watch.objects.set(key, revision);
      }
    }
    watch.note(start);
    const observer = {
      changes: (changes: readonly WatchChange[], upTo: Revision) => watch.receive(changes, upTo),
      ended: (error: Error) => (watch.ended = error),
    };
    watch.subscription = watchObjects(world.engine, target, selection, { after: start }, observer, view);
    return watch;
  }

  /** Compares the objects with those that the user may get at the position of the watch, which must be the newest one. */
  async check(): Promise<void> {
    const latest = await this.world.store.latestRevision();
    const position = await this.subscription.sync();
    expect(this.ended).toBeUndefined();
    expect(position).toBeGreaterThanOrEqual(latest);
    expect(sorted(Object.fromEntries(this.objects))).toEqual(this.world.visibleAt(this.watched, position));
    this.note(position);
  }

  private note(position: Revision): void {
    this.points.push({ position, objects: new Map(this.objects) });
  }

  private receive(changes: readonly WatchChange[], upTo: Revision): void {
    for (const change of changes) this.apply(change, upTo);
    this.note(upTo);
    this.unchecked.push({ upTo, objects: sorted(Object.fromEntries(this.objects)) });
  }

  /** What is compared when the writes have been noted. */
  private readonly unchecked: { readonly upTo: number; readonly objects: Record<string, number> }[] = [];
  private readonly unverified: {
    readonly key: string;
    readonly revision: number;
    readonly shown: boolean;
  }[] = [];

  /** Checks that no event showed an object whose `get` was refused, and that the objects were right at each position. */
  checkPast(): void {
    const { who, resource } = this.watched;
    for (const { key, revision, shown } of this.unverified.splice(0)) {
      if (shown)
        expect([key, revision, this.world.allows(who, resource, key, revision)]).toEqual([
          key,
          revision,
          true,
        ]);
    }
    for (const { upTo, objects } of this.unchecked.splice(0))
      expect([upTo, objects]).toEqual([upTo, this.world.visibleAt(this.watched, upTo)]);
  }

  private apply(change: WatchChange, upTo: Revision): void {
    const { type, event } = change;
    const { key, revision } = event;
    this.kinds.add(type);
    expect(revision).toBeLessThanOrEqual(upTo);
    const body = JSON.parse(Buffer.from(bodyOf(change)).toString()) as {
      metadata: { resourceVersion: string };
    };
    expect([type, this.objects.has(key)]).toEqual([type, type !== "ADDED"]);
    if (type === "DELETED") {
      this.objects.delete(key);
      expect(body.metadata.resourceVersion).toBe(String(change.shownRevision ?? revision));
      this.unverified.push({ key, revision, shown: false });
      return;
    }
    const entry = event.entry!;
    expect(decodeEntry(entry).metadata.resourceVersion).toBe(String(entry.revision));
    expect(body.metadata.resourceVersion).toBe(String(entry.revision));
    this.objects.set(key, entry.revision);
    this.unverified.push({ key, revision, shown: true });
  }
}

/** A store whose reads of one object or page take several turns of the event loop. */
function slowStore(store: Store, dice: Dice): Store {
  const later = async <T>(read: () => T): Promise<Awaited<T>> => {
    for (let turns = dice.below(4); turns > 0; turns--) await setImmediate();
    return await read();
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === "get") return (...args: Parameters<Store["get"]>) => later(() => target.get(...args));
      if (name === "range")
        return (...args: Parameters<Store["range"]>) => later(() => target.range(...args));
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}

/** Runs random writes, watches and resumes over a store; returns what the watches received. */
export async function runWorld(store: Store, dice: Dice, rounds: number): Promise<ReadonlySet<string>> {
  const world = new World(store, dice.chance(0.5) ? store : slowStore(store, dice));
  await world.start();
  const received = new Set<string>();
  try {
    let watches: Watch[] = [];
    const past: Watch[] = [];
    for (let round = 0; round < rounds; round++) {
      for (let steps = dice.below(8); steps > 0; steps--) await world.burst(dice, 1);
      await world.burst(dice, dice.below(8));
      if (dice.chance(0.6)) watches.push(await Watch.start(world, randomWatched(dice)));
      if (dice.chance(0.1)) {
        for (const { subscription } of watches) subscription.close();
        past.push(...watches);
        watches = [];
        await world.restart();
      }
      const ended = dice.pick([...watches, ...past]);
      if (ended !== undefined && dice.chance(0.6)) {
        watches.push(await Watch.start(world, ended.watched, dice.pick(ended.points)));
        received.add("resumed");
      }
      await world.burst(dice, dice.below(8));
      if (dice.chance(0.7)) for (const watch of watches) await watch.check();
      for (const watch of watches) watch.checkPast();
      for (const watch of watches) for (const kind of watch.kinds) received.add(kind);
      if (watches.length > 12)
        past.push(...watches.splice(0, 6).map((watch) => (watch.subscription.close(), watch)));
    }
    for (const watch of watches) {
      await watch.check();
      watch.checkPast();
      watch.subscription.close();
    }
  } finally {
    await world.close();
  }
  return received;
}
