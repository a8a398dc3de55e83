import { setTimeout } from "node:timers/promises";
import type { CommitResult, Entry, Revision, Store, Write } from "../../../src/storage/store.ts";
import { every, isConfigMap, override, type Engine } from "./engine.ts";

/** Returns an engine whose commits of ConfigMaps are replaced. */
function withCommits(commit: (write: Write, store: Store) => Promise<CommitResult>): Engine {
  return (store) =>
    override(store, {
      commit: (write) => (isConfigMap(write.key) ? commit(write, store) : store.commit(write)),
    });
}

/** Acknowledges every 10th write without performing it. */
export function lostWrite(): Engine {
  const isLost = every(10);
  return withCommits(async (write, store) => {
    const current = await store.get(write.key);
    if (write.kind !== "update" || current?.revision !== write.expected || !isLost())
      return store.commit(write);
    const revision = ((await store.latestRevision()) + 1) as Revision;
    return { ok: true, revision, entry: { key: write.key, ...write.draft, revision } };
  });
}

/** Performs every 10th write, and reports that its precondition failed. */
export function effectOfRefusedWrite(): Engine {
  const isReportedAsFailed = every(10);
  return withCommits(async (write, store) => {
    const result = await store.commit(write);
    return result.ok && write.kind !== "delete" && isReportedAsFailed()
      ? { ok: false, current: result.entry }
      : result;
  });
}

/** Performs updates whose precondition is outdated. */
export function outdatedPrecondition(): Engine {
  return withCommits(async (write, store) => {
    const result = await store.commit(write);
    if (result.ok || write.kind !== "update" || result.current === undefined) return result;
    return store.commit({ ...write, expected: result.current.revision });
  });
}

/** Performs every 10th update twice. */
export function repeatedWrite(): Engine {
  const isRepeated = every(10);
  return withCommits(async (write, store) => {
    const result = await store.commit(write);
    if (!result.ok || write.kind !== "update" || !isRepeated()) return result;
    await store.commit({ ...write, expected: result.revision });
    return result;
  });
}

/** Replaces an existing object when it is created again. */
export function replacingCreate(): Engine {
  return withCommits(async (write, store) => {
    const result = await store.commit(write);
    if (result.ok || write.kind !== "create" || result.current === undefined) return result;
    return store.commit({ ...write, kind: "update", expected: result.current.revision });
  });
}

/** Restores every 5th deleted object a moment after its deletion was acknowledged. */
export function returningObject(): Engine {
  const returns = every(5);
  return withCommits(async (write, store) => {
    const result = await store.commit(write);
    if (result.ok && write.kind === "delete" && returns()) void restore(store, result.entry);
    return result;
  });
}

async function restore(store: Store, { key, header, body, revisionAt, revision }: Entry): Promise<void> {
  await setTimeout(5);
  const digits = String(revision).length;
  const rest = Buffer.concat([body.subarray(0, revisionAt), body.subarray(revisionAt + digits)]);
  await store.commit({ kind: "create", key, draft: { header, body: rest, revisionAt } });
}

/** Answers every 10th write with the revision of the write before. */
export function reusedRevision(): Engine {
  const isReused = every(10);
  let before: Revision | undefined;
  return withCommits(async (write, store) => {
    const result = await store.commit(write);
    if (!result.ok || write.kind === "delete") return result;
    const revision = isReused() && before !== undefined ? before : result.revision;
    before = result.revision;
    return { ok: true, revision, entry: { ...result.entry, revision } };
  });
}

/** Exchanges each two successive revisions everywhere, so that a later write has the smaller one. */
export function backwardRevisions(): Engine {
  const exchange = (revision: Revision) => (revision ^ 1) as Revision;
  const entryOf = (entry: Entry): Entry => ({ ...entry, revision: exchange(entry.revision) });
  return (store) =>
    override(store, {
      async get(key) {
        const entry = await store.get(key);
        return entry === undefined ? undefined : entryOf(entry);
      },
      async range(options) {
        const page = await store.range(options);
        return { ...page, entries: page.entries.map(entryOf) };
      },
      async commit(write) {
        const inner = "expected" in write ? { ...write, expected: exchange(write.expected) } : write;
        const result = await store.commit(inner);
        if (!result.ok) return { ...result, current: result.current && entryOf(result.current) };
        return { ...result, revision: exchange(result.revision), entry: entryOf(result.entry) };
      },
      subscribe: (options, listener) =>
        store.subscribe(options, {
          ...listener,
          events: (batch, upTo) =>
            listener.events(
              batch.map(({ key, revision, entry, previous }) => ({
                key,
                revision: exchange(revision),
                entry: entry && entryOf(entry),
                previous: previous && entryOf(previous),
              })),
              upTo,
            ),
        }),
    });
}

/** Lets several clients acquire a lease at the same time: ignores the preconditions of its writes. */
export function ignoredLeasePrecondition(): Engine {
  const isLease = (key: string) => key.startsWith("/core/leases/");
  return (store) =>
    override(store, {
      async get(key, at) {
        const entry = await store.get(key, at);
        if (isLease(key)) await setTimeout(20);
        return entry;
      },
      async commit(write) {
        if (!isLease(write.key) || write.kind !== "update") return store.commit(write);
        const current = await store.get(write.key);
        return store.commit({ ...write, expected: current?.revision ?? write.expected });
      },
    });
}

/** Commits the writes of every third transaction one after the other. */
export function tornTransaction(): Engine {
  const isTorn = every(3);
  return (store) =>
    override(store, {
      transact: async (all) => {
        if (!isTorn()) return store.transact(all);
        const entries: Entry[] = [];
        let revision = await store.latestRevision();
        for (const [failedWrite, write] of all.entries()) {
          const result = await store.commit(write);
          if (!result.ok) return { ...result, failedWrite };
          entries.push(result.entry);
          ({ revision } = result);
        }
        return { ok: true, revision, entries };
      },
    });
}

/** Commits only the first write of every fifth transaction. */
export function halfTransaction(): Engine {
  const isHalf = every(5);
  return (store) =>
    override(store, {
      transact: async (all) => {
        const result = await store.transact(all.length > 1 && isHalf() ? all.slice(0, 1) : all);
        if (!result.ok) return result;
        const entries = all.map(
          (write, index): Entry =>
            result.entries[index] ?? {
              key: write.key,
              ...(write.kind === "delete" ? result.entries[0]! : write.draft),
              revision: result.revision,
            },
        );
        return { ...result, entries };
      },
    });
}
