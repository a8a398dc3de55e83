import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import type { Release } from "../../src/base/releases.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import type { Store } from "../../src/storage/store.ts";
import { ok } from "../api/support.ts";
import { TestServer, type Answer } from "../support/api.ts";
import { keptCases, type KeptCase } from "./kept-fields.ts";

/** Ways to update an object, other than its later fields. */
const updates: Readonly<Record<string, (server: TestServer, path: string) => Promise<Answer>>> = {
  async update({ admin }, path) {
    const { body } = await ok(admin.get(path));
    return admin.put(path, withAnnotation(body));
  },
  "merge patch": ({ admin }, path) => admin.patch(path, { metadata: { annotations: { updated: "yes" } } }),
  async "JSON patch"({ admin }, path) {
    const { annotations } = withAnnotation((await ok(admin.get(path))).body).metadata;
    return admin.patch(path, [{ op: "add", path: "/metadata/annotations", value: annotations }], "json");
  },
  "strategic merge patch": ({ admin }, path) =>
    admin.patch(path, { metadata: { annotations: { updated: "yes" } } }, "strategic"),
  async apply({ admin }, path) {
    const { apiVersion, kind, metadata } = (await ok(admin.get(path))).body;
    return admin.ask("PATCH", `${path}?fieldManager=other`, {
      body: { apiVersion, kind, metadata: { name: metadata.name, annotations: { updated: "yes" } } },
      contentType: "application/apply-patch+yaml",
    });
  },
  "status update": async ({ admin }, path) => {
    const { body } = await ok(admin.get(path));
    const answer = await admin.put(`${path}/status`, withAnnotation(body));
    // Some kinds have no status, or ignore other changes.
    return answer.body.metadata.annotations?.updated === "yes"
      ? answer
      : admin.patch(path, { metadata: { annotations: { updated: "yes" } } });
  },
};

function withAnnotation(object: Answer["body"]): Answer["body"] {
  const annotations = { ...object.metadata.annotations, updated: "yes" };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** What was read of an object: under release 1.37, under the earlier release before and after the update, and under 1.37 again. */
interface Readings {
  readonly before: Answer["body"];
  shown?: Answer["body"];
  answer?: Answer;
  updated?: Answer["body"];
  after?: Answer["body"];
}

/** Runs work with a server of a release over a store. */
async function under<R>(
  storage: Store,
  release: Release,
  work: (server: TestServer) => Promise<R>,
): Promise<R> {
  const server = await TestServer.start({ release, vocabulary: "kubernetes", storage, controllers: [] });
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

async function create({ admin }: TestServer, one: KeptCase, index: number): Promise<Answer["body"]> {
  const { collection, status } = one;
  const object = one.object(index);
  await ok(admin.post(`${collection}?fieldValidation=Strict&fieldManager=writer`, object));
  const path = `${collection}/${object.metadata.name}`;
  if (status !== undefined) {
    await ok(
      admin.ask("PATCH", `${path}/status?fieldManager=writer`, {
        body: { status },
        contentType: "application/merge-patch+json",
      }),
    );
  }
  return (await ok(admin.get(path))).body;
}

describe.each(["1.26", "1.35"] as const)("a server of release %s over a store of release 1.37", (release) => {
  const cases = keptCases.filter(({ since }) => since === undefined || release !== "1.26");
  const records = new Map<string, Readings>();
  const store = createMemoryStore({ clock: systemClock });
  const each = cases.flatMap((one) =>
    Object.keys(updates).map((update, index) => {
      const path = `${one.collection}/${one.object(index).metadata.name}`;
      return { name: `${one.name}: ${update}`, one, update, index, path };
    }),
  );

  beforeAll(async () => {
    await under(store, "1.37", async (server) => {
      for (const { name, one, index } of each)
        records.set(name, { before: await create(server, one, index) });
    });
    await under(store, release, async (server) => {
      const { admin } = server;
      for (const { name, update, path } of each) {
        const record = records.get(name)!;
        record.shown = (await ok(admin.get(path))).body;
        record.answer = await updates[update]!(server, path);
        record.updated = (await ok(admin.get(path))).body;
      }
    });
    await under(store, "1.37", async ({ admin }) => {
      for (const { name, path } of each) records.get(name)!.after = (await ok(admin.get(path))).body;
    });
  }, 120_000);
  afterAll(() => store.close());

  it.each(each)("hides and keeps the fields of later releases: $name", ({ name, one }) => {
    const { before, shown, answer, updated, after } = records.get(name)!;
    expect(before).toMatchObject(one.expected);
    expect(answer!.status, answer!.text).toBeLessThan(300);
    for (const hidden of one.hidden[release] ?? []) {
      expect(withoutOwners(before)).toContain(`"${hidden}"`);
      for (const object of [shown, answer!.body, updated])
        expect(withoutOwners(object)).not.toContain(`"${hidden}"`);
    }
    expect(updated.metadata.annotations).toMatchObject({ updated: "yes" });
    expect(contentOf(after)).toEqual(contentOf(before));
    expect(ownedBy(after, "writer")).toEqual(ownedBy(before, "writer"));
  });
});

/** The text of an object without its managed fields, which keep the names of fields of later releases. */
function withoutOwners(object: Answer["body"]): string {
  return JSON.stringify({ ...object, metadata: { ...object.metadata, managedFields: undefined } });
}

/** The text of an object without its metadata, and without the empty time of templates, which earlier releases write. */
function contentOf(object: Answer["body"]): string {
  return JSON.stringify({ ...object, metadata: undefined }).replaceAll('"creationTimestamp":null,', "");
}

function ownedBy({ metadata }: Answer["body"], manager: string): unknown {
  const entries = metadata.managedFields as { manager: string; fieldsV1: unknown; subresource?: string }[];
  return entries
    .filter((entry) => entry.manager === manager)
    .map(({ fieldsV1, subresource = "" }) => ({ fieldsV1, subresource }));
}
