import { describe, expect, it } from "vitest";
import { kindsOfRelease } from "../../../src/kinds/kinds-of-release.ts";
import { ReleaseStore } from "../../../src/resources/releases/release-store.ts";
import { StoredForms } from "../../../src/resources/releases/stored-forms.ts";
import type { Entry, Revision, Store } from "../../../src/storage/store.ts";
import { kubernetes } from "../../../src/vocabulary/kubernetes.ts";

const record = { oldest: "1.26", newest: "1.37" };
const forms = await StoredForms.create("1.26", record, kubernetes, kindsOfRelease);

function entryOf(name: string, spec: object): Entry {
  const body = Buffer.from(
    `{"kind":"Service","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"${name}"},"spec":${JSON.stringify(spec)}}`,
  );
  const revisionAt = body.indexOf('"7"') + 1;
  const header = Buffer.from('["u",{},{},[]]');
  return { key: `/core/services/ns/${name}`, revision: 7 as Revision, header, body, revisionAt };
}

function storeWith(entries: readonly Entry[]): ReleaseStore {
  const page = { revision: 7 as Revision, entries, more: false };
  return new ReleaseStore({ range: () => page } as unknown as Store, forms);
}

const textOf = ({ body }: Entry) => Buffer.from(body).toString();

describe("a page of a store of a later release", () => {
  it("has entries in the form of the server's release, and the same ones if none differs", async () => {
    const same = entryOf("a", { type: "ClusterIP" });
    const page = await storeWith([same, entryOf("b", { trafficDistribution: "PreferClose" })]).range({
      prefix: "/",
    });
    expect(page.entries[0]).toBe(same);
    expect(textOf(page.entries[1]!)).not.toContain("trafficDistribution");
    const entries = [same];
    expect((await storeWith(entries).range({ prefix: "/" })).entries).toBe(entries);
  });

  it("has an entry as it is stored if a member has another type", async () => {
    const entry = entryOf("a", { ports: 5, trafficDistribution: "PreferClose" });
    expect((await storeWith([entry]).range({ prefix: "/" })).entries).toEqual([entry]);
  });

  it("is compared in turns if it is large", async () => {
    const large = entryOf("a", { externalName: "x".repeat(4_000_000) });
    const entries = Array.from({ length: 50 }, () => large);
    let turns = 0;
    let done = false;
    const count = (): void => {
      turns++;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    await storeWith(entries).range({ prefix: "/" });
    done = true;
    expect(turns).toBeGreaterThan(3);
  });
});
