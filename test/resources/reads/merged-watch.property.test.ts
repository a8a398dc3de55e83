import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/time/clock.ts";
import { ConfigMap } from "../../../src/kinds/core/config-map.ts";
import { Pod } from "../../../src/kinds/core/pod/pod.ts";
import { Secret } from "../../../src/kinds/core/secret.ts";
import { ServiceAccount } from "../../../src/kinds/core/service-account.ts";
import type { Engine } from "../../../src/resources/engine/engine.ts";
import { everything } from "../../../src/resources/objects/selection.ts";
import { MergedWatch } from "../../../src/resources/reads/merged-watch.ts";
import { watchObjects } from "../../../src/resources/reads/watch.ts";
import { keyOf, resourceOf, type Resource } from "../../../src/resources/registry/registry.ts";
import type { WatchObserver } from "../../../src/resources/registry/watch-change.ts";
import { createMemoryStore, type MemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { Draft, Revision, Subscription } from "../../../src/storage/store.ts";
import { platform } from "../../../src/vocabulary/platform.ts";
import { Dice } from "../../support/dice.ts";
import { engineOver } from "../engine.ts";

/** Numbers of seeds; each is one run of random writers, watches and resumes. */
const seeds = 60;

const kinds = [ConfigMap, Pod, Secret, ServiceAccount];
const resources = kinds.map((kind) => resourceOf(kind, platform));
const namespaces = ["a", "b"];
const turn = () => new Promise((resolve) => setImmediate(resolve));

interface Entry {
  readonly resource: Resource;
  readonly namespace: string;
}

/** One event of an entry, as text. */
type Line = string;

class Run {
  readonly dice: Dice;
  readonly store: MemoryStore;
  readonly engine: Engine;
  /** All events of the store in order. */
  readonly log: { readonly key: string; readonly revision: number; readonly type: string }[] = [];
  private readonly live = new Map<string, Revision>();

  constructor(seed: number) {
    this.dice = new Dice(seed);
    this.store = createMemoryStore({ clock: systemClock, retentionMs: Infinity });
    this.engine = engineOver(this.store, kinds);
  }

  /** Writes a few keys; at times several in one batch. */
  write(): void {
    const { dice, store, live } = this;
    const changes = new Map<string, Draft | undefined>();
    for (let left = dice.chance(0.8) ? 1 : 1 + dice.below(5); left > 0; left--) {
      const key = keyOf(dice.pick(resources), dice.pick(namespaces), `o${dice.below(4)}`);
      changes.set(key, live.has(key) && dice.chance(0.3) ? undefined : this.draft());
    }
    const before = (store.latestRevision() as number) + 1;
    for (const [index, [key, draft]] of [...changes].entries()) {
      const revision = before + index;
      this.log.push({
        key,
        revision,
        type: draft === undefined ? "DELETED" : live.has(key) ? "MODIFIED" : "ADDED",
      });
      if (draft === undefined) live.delete(key);
      else live.set(key, revision as Revision);
    }
    const existing = [...changes].map(([key, draft]) => ({ key, draft }));
    store.commitAll(existing);
    expect(store.latestRevision()).toBe(before + changes.size - 1);
  }

  private draft(): Draft {
    const bytes = this.dice.chance(0.1) ? 300_000 : 20;
    return { header: Buffer.from("[]"), body: Buffer.alloc(bytes, " "), revisionAt: 1 };
  }

  entries(): Entry[] {
    const { dice } = this;
    return Array.from({ length: 1 + dice.below(6) }, () => ({
      resource: dice.pick(resources),
      namespace: dice.chance(0.5) ? "" : dice.pick(namespaces),
    }));
  }

  /** What a stream over entries must send after a revision: in order of revisions, then of entries. */
  expected(entries: readonly Entry[], after: number, upTo: number): Line[] {
    return this.log
      .filter(({ revision }) => revision > after && revision <= upTo)
      .flatMap(({ key, revision, type }) =>
        entries.flatMap(({ resource, namespace }, index) =>
          key.startsWith(`${resource.storePrefix}${namespace === "" ? "" : `${namespace}/`}`)
            ? [`${revision} ${index} ${type}`]
            : [],
        ),
      );
  }

  subscribe({ resource, namespace }: Entry, after: Revision, observer: WatchObserver): Subscription {
    const target = { resource, namespace, name: "", subresource: "" };
    return watchObjects(this.engine, target, everything, { after }, observer);
  }
}

/** A stream that is broken off and resumed. */
class Reader {
  readonly lines: Line[] = [];
  readonly start: Revision;
  private resumeAfter: Revision;
  private watch: MergedWatch | undefined;
  /** Lines after the revision to resume after. */
  private incomplete = 0;

  constructor(
    private readonly run: Run,
    private readonly entries: readonly Entry[],
  ) {
    const latest = run.store.latestRevision() as number;
    this.start = (1 + run.dice.below(latest)) as Revision;
    this.resumeAfter = this.start;
  }

  /** Starts the stream again after the last complete revision or a position. */
  resume(): void {
    const { run, watch } = this;
    if (watch !== undefined) {
      watch.close();
      if (run.dice.chance(0.5)) {
        expect(watch.position).toBeGreaterThanOrEqual(this.resumeAfter);
        this.resumeAfter = watch.position;
      }
      if (this.incomplete > 0) this.lines.splice(-this.incomplete);
      this.incomplete = 0;
    }
    const latest = run.store.latestRevision() as Revision;
    const options = { after: this.resumeAfter, latest, clock: systemClock };
    let upToBefore: number = this.resumeAfter;
    const observer = {
      changes: (
        runs: Parameters<ConstructorParameters<typeof MergedWatch>[1]["changes"]>[0],
        upTo: Revision,
      ) => {
        expect(upTo).toBeGreaterThan(upToBefore);
        upToBefore = upTo;
        for (const { source, changes, complete } of runs) {
          for (const { type, event } of changes) this.lines.push(`${event.revision} ${source} ${type}`);
          this.incomplete = complete ? 0 : this.incomplete + changes.length;
          if (complete) this.resumeAfter = changes.at(-1)!.event.revision;
        }
      },
      ended: (error: Error) => {
        throw error;
      },
      drained: async () => {
        if (run.dice.chance(0.5)) await turn();
      },
    };
    this.watch = new MergedWatch(options, observer, this.entries.length).start(
      this.entries.map((entry) => (inner) => run.subscribe(entry, options.after, inner)),
    );
  }

  async check(): Promise<void> {
    const { run, entries } = this;
    const latest = run.store.latestRevision() as number;
    const expected = run.expected(entries, this.start, latest);
    for (
      let turns = 0;
      turns < 5000 && (this.watch!.position < latest || this.lines.length < expected.length);
    ) {
      turns++;
      await turn();
    }
    expect(this.lines).toEqual(expected);
    expect(this.watch!.position).toBe(latest);
    this.watch!.close();
  }
}

test("C-4.6-04 a merged watch has every change of every kind once, in order, whenever it resumes", async () => {
  let lines = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    const run = new Run(seed);
    const { dice } = run;
    for (let index = dice.below(60); index >= 0; index--) run.write();
    // Watches of one kind make the deliveries of another one come later.
    const others = Array.from({ length: dice.chance(0.5) ? 400 : 0 }, () =>
      run.subscribe({ resource: resources[0]!, namespace: "" }, 1 as Revision, {
        changes: () => undefined,
        ended: () => undefined,
      }),
    );
    const readers = Array.from({ length: 3 }, () => new Reader(run, run.entries()));
    for (const reader of readers) reader.resume();
    for (let step = 0; step < 80; step++) {
      run.write();
      if (dice.chance(0.3)) await turn();
      if (dice.chance(0.1)) dice.pick(readers).resume();
    }
    for (const reader of readers) {
      await reader.check();
      lines += reader.lines.length;
    }
    for (const other of others) other.close();
    run.engine.pages.close();
    await run.store.close();
  }
  expect(lines).toBeGreaterThan(seeds * 100);
});
