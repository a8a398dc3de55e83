import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Dice } from "../support/dice.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { DamagedBackup } from "./damaged-backup.ts";
import { checkApart, DamagedStore } from "./damaged-store.ts";
import { damageKinds } from "./damages.ts";
import { effort } from "../support/effort.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const folder = temporaryFolder();
let store: DamagedStore;
let backup: DamagedBackup;

beforeAll(async () => {
  for (const name of ["store", "backup"]) mkdirSync(path.join(folder.path, name));
  store = await DamagedStore.create(path.join(folder.path, "store"));
  backup = await DamagedBackup.create(path.join(folder.path, "backup"), store.dataDir("clean"));
}, 60_000);
afterAll(folder.remove);

const cases = damageKinds
  .flatMap(({ count, ...kind }) => Array.from({ length: effort(1, count) }, (_, i) => ({ ...kind, i })))
  .filter((_, index) => index % effort(5, 1) === 0)
  .map((one, index) => ({ ...one, seed: index + 1, end: one.i % 2 === 0 ? "killed" : "clean" }) as const);

describe("serve and check over a damaged store", () => {
  it.each(cases)(
    "don't end by a signal, and serve nothing else than what was stored, when $name (seed $seed, $end)",
    async ({ damage, seed, end }) => {
      const dice = new Dice(seed);
      await store.examine(end, (bytes, earlier) => damage(bytes, dice, earlier));
    },
    60_000,
  );

  it("serve everything as before without damage", async () => {
    expect(await store.examine("clean", (bytes) => bytes)).toBe("harmless");
  });

  it("the comparison reports a store that lost writes without any damage", async () => {
    // The whole file of an earlier time: no checksum can detect it.
    const older = store.examine("clean", (_, earlier) => earlier);
    await expect(older).rejects.toThrow(/the damaged answer to map-1 is served/);
  });

  it("a damaged value is answered with 500 and named in the log, and others are served", async () => {
    const dataDir = path.join(folder.path, "value");
    cpSync(store.dataDir("clean"), dataDir, { recursive: true });
    const file = path.join(dataDir, "store/data.mdb");
    const bytes = readFileSync(file);
    for (let at = bytes.indexOf("map-7 map-7"); at >= 0; at = bytes.indexOf("map-7 map-7", at + 200))
      bytes[at]! ^= 1;
    writeFileSync(file, bytes);
    expect((await checkApart(dataDir)).output).toContain("/configmaps/default/map-7 is damaged");
    const server = await store.start(dataDir);
    try {
      const admin = server.as("admin");
      const { status, body } = await admin.get(`${maps}/map-7`);
      expect([status, body.reason]).toEqual([500, "InternalError"]);
      expect(body.message).toContain("is damaged");
      expect(server.log()).toContain("/configmaps/default/map-7 is damaged");
      expect((await admin.get(`${maps}/map-8`)).status).toBe(200);
      expect((await admin.get(maps)).status).toBe(500);
      expect((await admin.post(maps, { metadata: { name: "later" } })).status).toBe(201);
      expect((await admin.get("/livez")).status).toBe(200);
    } finally {
      expect(await server.stop()).toBe(0);
    }
  });
});

describe("restore of a damaged backup", () => {
  it("is refused and leaves nothing, or restores what was backed up", async () => {
    const outcomes = new Set<string>();
    for (let seed = 1; seed <= effort(3, 40); seed++) {
      const outcome = await backup.examine(new Dice(seed)).catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
      });
      outcomes.add(outcome);
    }
    expect(outcomes.has("refused")).toBe(true);
  }, 60_000);
});
