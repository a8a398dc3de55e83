import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { create, draft, textOf } from "../../src/storage/conformance/support.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { StoreDamagedError } from "../../src/storage/store.ts";
import { typeScript } from "../support/root.ts";
import { Child } from "./child.ts";
import { type FillOutcome, fillUp } from "./fill-up.ts";
import { temporaryFolder } from "./support.ts";
import { blockOf } from "../support/pages.ts";

const folder = temporaryFolder();
const path = (name: string): string => join(folder.path, name);
const open = (name: string, mapSize?: number) =>
  openLmdbStore({ dir: path(name), clock: systemClock, mapSize });
afterAll(folder.remove);

function refusal(name: string): StoreDamagedError {
  try {
    void open(name).close();
  } catch (error) {
    expect(error).toBeInstanceOf(StoreDamagedError);
    expect((error as Error).message).toContain(path(name));
    return error as StoreDamagedError;
  }
  throw new Error("the folder was opened");
}

/** What a process without the superuser's rights is told when it opens a folder. */
function refusalOfNobody(dir: string): string {
  const script = `
    import { openLmdbStore } from "./src/storage/lmdb/lmdb-store.ts";
    import { systemClock } from "./src/base/time/clock.ts";
    if (process.getuid() === 0) process.setuid(65534);
    try {
      openLmdbStore({ dir: ${JSON.stringify(dir)}, clock: systemClock });
    } catch (error) {
      console.log(error.message);
    }`;
  const words = [...typeScript, "--input-type=module", "-e", script];
  const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  return stdout + stderr;
}

describe("a data folder that can't be used is refused with its name and a way out", () => {
  let sound: Buffer;
  beforeAll(async () => {
    const store = open("sound");
    await create(store, "/g/r/n/x", "1");
    await store.close();
    sound = readFileSync(path("sound/data.mdb"));
  });

  it("a file instead of a folder", () => {
    writeFileSync(path("file"), "");
    expect(refusal("file").message).toMatch(/choose a folder/);
  });

  it("a folder that isn't writable", () => {
    mkdirSync(path("closed"));
    chmodSync(path("closed"), 0o500);
    chmodSync(path("."), 0o755);
    expect(refusalOfNobody(path("closed"))).toMatch(/make it writable/);
  });

  it("a file that is no store", () => {
    mkdirSync(path("foreign"));
    writeFileSync(path("foreign/data.mdb"), Buffer.alloc(50_000, "not a store "));
    expect(refusal("foreign").message).toMatch(/restore a backup/);
  });

  it("a file that is cut off at its start", () => {
    mkdirSync(path("short"));
    writeFileSync(path("short/data.mdb"), sound.subarray(0, 4096));
    expect(refusal("short").message).toMatch(/cut off/);
  });

  it("a file that is cut off further on", () => {
    mkdirSync(path("cut"));
    writeFileSync(path("cut/data.mdb"), sound);
    truncateSync(path("cut/data.mdb"), 3 * 4096);
    expect(refusal("cut").message).toMatch(/restore a backup/);
  });

  it("a store of another format version", async () => {
    mkdirSync(path("newer"));
    // The state record holds the version, the revision 2 and the floor 1; it is there once in a fresh store's file.
    const state = Buffer.from([2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1]);
    const bytes = Buffer.from(sound);
    for (let at = bytes.indexOf(state); at >= 0; at = bytes.indexOf(state, at + 1)) bytes[at] = 99;
    writeFileSync(path("newer/data.mdb"), bytes);
    const { message } = refusal("newer");
    expect(message).toMatch(/format version 99/);
    const masked = (text: string) =>
      text
        .trim()
        .replace(/(?<=data folder )\S+/, "PATH")
        .replaceAll(/\d+/g, "N");
    expect(masked(message)).toBe(masked(blockOf("docs/upgrades.md", "text")));
  });

  it("the sound one still opens", async () => {
    const store = open("sound");
    expect(textOf(await store.get("/g/r/n/x"))).toBe("1");
    await store.close();
  });
});

describe("check tells what is damaged", () => {
  it("a value that was changed behind the store's back", async () => {
    const store = open("behind");
    await create(store, "/g/r/n/x", "1");
    await store.close();
    const file = path("behind/data.mdb");
    const bytes = readFileSync(file);
    // The revision in front of the value's record: 2 becomes 7.
    const record = Buffer.from([0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 6]);
    for (let at = bytes.indexOf(record); at >= 0; at = bytes.indexOf(record, at + 1)) bytes[at + 7] = 7;
    writeFileSync(file, bytes);
    const again = open("behind");
    expect((await again.check()).join("\n")).toContain("/g/r/n/x");
    await again.close();
  });
});

describe("a store that is full refuses the write, loses nothing and is read as before", () => {
  function judge(outcome: FillOutcome): void {
    expect(outcome.refusedAs).toBe("StoreFullError");
    expect(outcome.refusal).toMatch(/nothing was written/);
    expect(outcome.acknowledged).toBeGreaterThan(8);
    expect(outcome.readBack).toBe(outcome.acknowledged);
    expect(outcome.counted).toBe(outcome.acknowledged);
    expect(outcome.problems).toEqual([]);
  }

  it("at the map's size, and goes on when it is opened with a larger one", async () => {
    const store = open("small", 2 * 1024 * 1024);
    const outcome = await fillUp(store);
    judge(outcome);
    await store.close();
    const larger = open("small", 64 * 1024 * 1024);
    await larger.commit({ kind: "create", key: "/full/test/n/more", draft: draft("more") });
    expect(await larger.count("/full/test/")).toBe(outcome.counted + 1);
    expect(await larger.check()).toEqual([]);
    await larger.close();
  });

  it("at the system's limit of a file's size", async () => {
    const child = new Child("./full-writer.ts", [path("limited")], ["prlimit", "--fsize=2097152"]);
    await child.ended();
    judge(JSON.parse(child.lines[0] ?? JSON.stringify({ refusedAs: child.errors })) as FillOutcome);
    const store = open("limited");
    await create(store, "/full/test/n/more", "more");
    expect(await store.check()).toEqual([]);
    await store.close();
  });
});
