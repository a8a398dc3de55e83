import { expect, test } from "vitest";
import { StatusError } from "../../src/base/status-error.ts";
import { MigrationError, storeAgain } from "../../src/controllers/storage-migration/stored-objects.ts";
import type { Resource } from "../../src/resources/registry/registry.ts";

type Dependencies = Parameters<typeof storeAgain>[0];

const prefix = "/example.com/widgets/";
const resource = {
  storePrefix: prefix,
  apiVersion: "example.com/v2",
  kind: { name: "Widget" },
} as unknown as Resource;

/** Runs a migration of the objects 1 to `count`, whose names are their revisions; `failures` are the errors of their updates. */
async function run(
  count: number,
  {
    upTo = count,
    failures = {},
    isClosed = () => false,
  }: {
    upTo?: number;
    failures?: Readonly<Record<number, Error>>;
    isClosed?: (updated: number) => boolean;
  } = {},
) {
  const updated: number[] = [];
  const entries = Array.from({ length: count }, (_, index) => ({
    key: `${prefix}default/${String(index + 1).padStart(6, "0")}`,
    revision: index + 1,
  }));
  const store = {
    count: () => count,
    range({ after = "", limit = Infinity }: { after?: string; limit?: number }) {
      const rest = entries.filter(({ key }) => key > after);
      return { revision: count, entries: rest.slice(0, limit), more: rest.length > limit };
    },
  };
  const client = {
    patch({ name, namespace }: { name: string; namespace: string }, patch: unknown) {
      const revision = Number(name);
      expect(namespace).toBe("default");
      expect(patch).toEqual({
        apiVersion: "example.com/v2",
        kind: "Widget",
        metadata: { resourceVersion: String(revision) },
      });
      if (failures[revision] !== undefined) return Promise.reject(failures[revision]);
      updated.push(revision);
      return Promise.resolve({});
    },
  };
  const dependencies = { client, store } as unknown as Dependencies;
  try {
    const isDone = await storeAgain(dependencies, resource, upTo, () => isClosed(updated.length));
    return { updated, isDone };
  } catch (error) {
    return { updated, error };
  }
}

test("every object is updated once, over several pages", async () => {
  const { updated, isDone } = await run(1000);
  expect(isDone).toBe(true);
  expect(updated).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
});

test("objects that were written after the migration began are skipped", async () => {
  expect((await run(40, { upTo: 3 })).updated).toEqual([1, 2, 3]);
});

test("objects that others change or delete are skipped", async () => {
  const failures = { 2: new StatusError("Conflict", ""), 4: new StatusError("NotFound", "") };
  expect(await run(5, { failures })).toEqual({ updated: [1, 3, 5], isDone: true });
});

test("a stopping server updates no further objects", async () => {
  const { updated, isDone } = await run(1000, { isClosed: (count) => count >= 32 });
  expect(isDone).toBe(false);
  expect(updated).toHaveLength(32);
});

test.each<[string, Error, boolean]>([
  ["a refused object", new StatusError("Invalid", "is invalid"), false],
  ["a forbidden object", new StatusError("Forbidden", "is forbidden"), false],
  ["a limit of requests", new StatusError("TooManyRequests", "later"), true],
  ["a webhook that can't be reached", new StatusError("InternalError", "refused"), true],
  ["another exception", new Error("bug"), true],
])("%s stops the migration", async (_title, failure, isTransient) => {
  const { error } = await run(100, { failures: { 20: failure } });
  if (!(error instanceof MigrationError)) throw new Error("the migration didn't fail");
  const { message, remaining, total } = error;
  expect({ message, remaining, total }).toEqual({ message: failure.message, remaining: 69, total: 100 });
  expect(error.isTransient).toBe(isTransient);
});
