import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { type LmdbStore, openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { StoreDamagedError } from "../../src/storage/store.ts";
import { plinth, program } from "../support/process.ts";
import { temporaryFolder } from "./support.ts";

const pageBytes = 8192;
const folder = temporaryFolder();
const sound = join(folder.path, "sound");
const dataFile = (dataDir: string) => join(dataDir, "store", "data.mdb");
/** Values of the sound store; undefined for deleted keys. */
const bodies: (Buffer | undefined)[] = [];
const keyOf = (index: number) => `/g/r/n/k${index}`;

/** A generator of whole numbers below a limit, the same ones each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state % below;
  };
}

/** A copy of the sound folder with what `damage` does to its file. */
function damaged(name: string, damage: (file: number, pages: number) => void): string {
  const dataDir = join(folder.path, name);
  rmSync(dataDir, { recursive: true, force: true });
  cpSync(sound, dataDir, { recursive: true });
  const pages = readFileSync(dataFile(dataDir)).length / pageBytes;
  const file = openSync(dataFile(dataDir), "r+");
  damage(file, pages);
  closeSync(file);
  return dataDir;
}

beforeAll(async () => {
  mkdirSync(sound);
  const store = openLmdbStore({ dir: join(sound, "store"), clock: systemClock });
  const below = numbers(7);
  // Of no pattern, so that compression makes none smaller.
  const bodyOf = (i: number) => Buffer.alloc(i % 50 === 0 ? 18_000 : 600).map(() => below(256));
  const made = await Promise.all(
    Array.from({ length: 2000 }, (_, i) => {
      const draft = { header: Buffer.from("{}"), body: bodyOf(i), revisionAt: 0 };
      return store.commit({ kind: "create", key: keyOf(i), draft });
    }),
  );
  // Removed ones leave free pages.
  for (const [i, result] of made.slice(0, 300).entries()) {
    if (!result.ok) throw new Error("a key was there");
    await store.commit({ kind: "delete", key: keyOf(i), expected: result.revision });
  }
  for (let i = 0; i < 2000; i++) {
    const entry = await store.get(keyOf(i));
    bodies[i] = entry && Buffer.from(entry.body);
  }
  expect(bodies.filter((body) => body !== undefined)).toHaveLength(1700);
  await store.compact(systemClock.now() + 1000);
  expect(await store.check()).toEqual([]);
  await store.close();
});
afterAll(folder.remove);

/**
 * Opens a store with damaged pages and returns by what the damage is detected: by opening it, or by a check, for damage within a
 * large value. "unused" means that the pages have no content: the check and every value are as in the sound store.
 */
async function detectionOf(dataDir: string): Promise<"opening" | "check" | "unused"> {
  let store: LmdbStore;
  try {
    store = openLmdbStore({ dir: join(dataDir, "store"), clock: systemClock });
  } catch (error) {
    expect(error).toBeInstanceOf(StoreDamagedError);
    expect((error as Error).message).toMatch(
      new RegExp(`${dataDir}.*(CORRUPTED|damaged|cut off).*restore a backup`),
    );
    return "opening";
  }
  try {
    const problems = await store.check();
    for (const problem of problems) expect(problem).toMatch(/is damaged: its checksum differs/);
    if (problems.length > 0) return "check";
    for (const [index, body] of bodies.entries()) {
      const entry = await store.get(keyOf(index));
      const same = body === undefined ? entry === undefined : entry !== undefined && body.equals(entry.body);
      expect(same, keyOf(index)).toBe(true);
    }
    return "unused";
  } finally {
    await store.close();
  }
}

describe("damaged pages are told of, and end nothing by a signal", () => {
  const kinds = ["zeros", "noise", "noise in its head", "noise in its second half"] as const;
  const cases = Array.from({ length: 16 }, (_, i) => ({ seed: i + 1, kind: kinds[i % kinds.length]! }));

  const detections: string[] = [];

  it.each(cases)("random pages, seed $seed: $kind", async ({ seed, kind }) => {
    const dataDir = damaged(`random-${seed}`, (file, pages) => {
      const below = numbers(seed);
      for (let count = 3 + below(20); count > 0; count--) {
        const offset = kind === "noise in its second half" ? pageBytes / 2 : 0;
        const length = kind === "noise in its head" ? 64 : pageBytes - offset;
        const bytes = Buffer.alloc(length);
        if (kind !== "zeros") bytes.forEach((_, at) => (bytes[at] = below(256)));
        writeSync(file, bytes, 0, length, (2 + below(pages - 2)) * pageBytes + offset);
      }
    });
    // In this process: a signal would end the test.
    const detection = await detectionOf(dataDir);
    detections.push(detection);
    rmSync(dataDir, { recursive: true });
  });

  it("most of the random damage is detected by opening", () => {
    expect(detections).toHaveLength(cases.length);
    expect(detections.filter((detection) => detection === "opening").length).toBeGreaterThanOrEqual(12);
  });

  it("check and serve say so", () => {
    const dataDir = damaged("told", (file, pages) => {
      for (let page = 2; page < pages; page++) writeSync(file, Buffer.alloc(64, 7), 0, 64, page * pageBytes);
    });
    for (const words of [["check"], ["serve", "--secure-port=0"]]) {
      const { code, stderr } = plinth(...words, `--data-dir=${dataDir}`);
      expect([words[0], code, /page \d+ is damaged/.test(stderr)]).toEqual([words[0], 1, true]);
    }
  });

  it("a file without content is what is left of a store, not a new one", () => {
    const dataDir = damaged("empty", (file) => void file);
    truncateSync(dataFile(dataDir), 0);
    expect(() => openLmdbStore({ dir: join(dataDir, "store"), clock: systemClock })).toThrow(
      StoreDamagedError,
    );
    const { code, stderr, stdout } = plinth("check", `--data-dir=${dataDir}`);
    expect([code, stdout.includes("sound")]).toEqual([1, false]);
    expect(stderr).toContain("cut off at 0 bytes");
    expect(readFileSync(dataFile(dataDir)).length).toBe(0);
  });

  it("a folder that was replaced while it is open is not opened again", async () => {
    const dataDir = damaged("replaced", (file) => void file);
    const store = openLmdbStore({ dir: join(dataDir, "store"), clock: systemClock });
    damaged("replaced", (file) => void file);
    expect(() => openLmdbStore({ dir: join(dataDir, "store"), clock: systemClock })).toThrow(
      `the data folder ${join(dataDir, "store")} can't be used: its files were replaced while this process has them open; ` +
        "close the store that has them open first",
    );
    await store.close();
  });

  it("the sound one is sound", () => {
    expect(plinth("check", `--data-dir=${sound}`)).toMatchObject({ code: 0, stderr: "" });
  });
});

describe.skipIf(process.platform !== "linux")("a check whose reading ends by a signal", () => {
  it("says that the store is damaged", async () => {
    const check = spawn(process.execPath, [program, "check", `--data-dir=${sound}`]);
    let out = "";
    check.stdout.on("data", (text: Buffer) => (out += text.toString()));
    const children = `/proc/${check.pid}/task/${check.pid}/children`;
    let reading = 0;
    while (reading === 0) {
      reading = Number.parseInt(readFileSync(children, "utf8"), 10) || 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
    process.kill(reading, "SIGSEGV");
    const [code] = (await once(check, "close")) as [number];
    expect([code, out]).toEqual([
      1,
      expect.stringContaining("is damaged: reading it ended a process by SIGSEGV"),
    ]);
  });
});
