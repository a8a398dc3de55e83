import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { program, ServerProcess, temporaryFolder } from "../support/process.ts";

const pageBytes = 8192;
const maps = "/api/v1/namespaces/default/configmaps";
const names = Array.from({ length: 40 }, (_, i) => `map-${i}`);
const folder = temporaryFolder();
const tokens = path.join(folder.path, "tokens.csv");
const sound = { clean: path.join(folder.path, "clean"), killed: path.join(folder.path, "killed") };
/** What the sound server answers of each object. */
const expected = new Map<string, string>();

function start(dataDir: string): Promise<ServerProcess> {
  return ServerProcess.start(dataDir, `--token-auth-file=${tokens}`);
}

beforeAll(async () => {
  writeFileSync(tokens, "admin,root,1,system:masters\n");
  const server = await start(sound.clean);
  const admin = server.as("admin");
  for (const [i, name] of names.entries()) {
    const text = `${name} `.repeat(i % 10 === 0 ? 3000 : 100);
    expect((await admin.post(maps, { metadata: { name }, data: { text } })).status).toBe(201);
  }
  for (const name of names) expected.set(name, (await admin.get(`${maps}/${name}`)).text);
  expected.set("list", String((await admin.get(maps)).body.items.length));
  await server.stop();
  cpSync(sound.clean, sound.killed, { recursive: true });
  const killed = await start(sound.killed);
  await killed.stop("SIGKILL");
}, 60_000);
afterAll(folder.remove);

/** A generator of whole numbers below a limit, the same ones each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed * 7919;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
}

/** Damages the bytes of a data file. */
type Damage = (bytes: Buffer, below: (limit: number) => number) => Buffer;

function noise(pages: number): Damage {
  return (bytes, below) => {
    for (let count = 0; count < pages; count++) {
      const at = below(bytes.length / pageBytes) * pageBytes;
      for (let offset = 0; offset < pageBytes; offset++) bytes[at + offset] = below(256);
    }
    return bytes;
  };
}

function flip(bytes: Buffer, at: number, bit: number): Buffer {
  bytes[at]! ^= 1 << bit;
  return bytes;
}

const inMeta: Damage = (bytes, below) => flip(bytes, below(2) * pageBytes + below(168), below(8));
const anywhere: Damage = (bytes, below) => flip(bytes, below(bytes.length), below(8));
const inHead: Damage = (bytes, below) =>
  flip(bytes, below(bytes.length / pageBytes) * pageBytes + below(64), below(8));
const inValue: Damage = (bytes, below) => {
  const text = `map-${1 + below(9)} map-`;
  let at = 0;
  for (; at >= 0; at = bytes.indexOf(text, at + 1)) if (at > 0) flip(bytes, at, 0);
  return bytes;
};

const kinds: readonly (readonly [name: string, damage: Damage, count: number])[] = [
  ["the file is cut to 8,192 bytes", (bytes) => bytes.subarray(0, pageBytes), 2],
  ["the file is cut within a page", (bytes) => bytes.subarray(0, bytes.length - 100), 2],
  ["the file is cut to half", (bytes) => bytes.subarray(0, bytes.length / 2), 2],
  ["20 pages are noise", noise(20), 4],
  ["one page is noise", noise(1), 4],
  ["a bit of a meta page is flipped", inMeta, 8],
  ["a bit of the head of a page is flipped", inHead, 6],
  ["a bit of a value is flipped", inValue, 2],
  ["a bit is flipped anywhere", anywhere, 6],
];

const cases = kinds
  .flatMap(([name, damage, count]) => Array.from({ length: count }, (_, i) => ({ name, damage, i })))
  .map((one, index) => ({ ...one, seed: index + 1, end: one.i % 2 === 0 ? "killed" : "clean" }) as const);

interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

async function check(dataDir: string): Promise<End> {
  const child = spawn(process.execPath, [program, "check", `--data-dir=${dataDir}`]);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => (output += text.toString()));
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code, signal, output };
}

/** What a server over the folder answers of each object, by status and text; undefined where it refuses to start. */
async function serve(dataDir: string): Promise<Map<string, readonly [number, string]> | string> {
  let server: ServerProcess;
  try {
    server = await start(dataDir);
  } catch (error) {
    return (error as Error).message;
  }
  try {
    const admin = server.as("admin");
    const answers = new Map<string, readonly [number, string]>();
    for (const name of names) {
      const { status, text } = await admin.get(`${maps}/${name}`);
      answers.set(name, [status, text]);
    }
    const list = await admin.get(maps);
    answers.set("list", [list.status, list.status === 200 ? String(list.body.items.length) : list.text]);
    return answers;
  } finally {
    await server.stop();
  }
}

describe("serve and check over a damaged store", () => {
  it.each(cases)(
    "never end by a signal, and what check calls sound is served as it was, when $name (seed $seed, $end)",
    async ({ damage, seed, end }) => {
      const dataDir = path.join(folder.path, "damaged");
      rmSync(dataDir, { recursive: true, force: true });
      cpSync(sound[end], dataDir, { recursive: true });
      const file = path.join(dataDir, "store/data.mdb");
      const bytes = readFileSync(file);
      const damaged = damage(bytes, numbers(seed));
      writeFileSync(file, damaged);
      truncateSync(file, damaged.length);
      const { code, signal, output } = await check(dataDir);
      expect([signal, output.includes("ended a process by SIG") ? output : ""]).toEqual([null, ""]);
      const answers = await serve(dataDir);
      if (typeof answers === "string") {
        expect(answers).toMatch(
          /^the server ended with 1: .*(damaged|CORRUPTED|cut off|format version|can't be)/s,
        );
        expect(code, `check said: ${output}`).toBe(1);
        return;
      }
      for (const name of names) {
        const [status, text] = answers.get(name)!;
        // A value is right or an error, and right where the store is called sound.
        if (status === 200) expect(text).toBe(expected.get(name));
        else expect([name, status, code], output).toEqual([name, 500, 1]);
      }
      if (code === 0) expect(answers.get("list")).toEqual([200, expected.get("list")]);
    },
    60_000,
  );

  it("a damaged value is answered with 500 and named in the log, and others are served", async () => {
    const dataDir = path.join(folder.path, "value");
    cpSync(sound.clean, dataDir, { recursive: true });
    const file = path.join(dataDir, "store/data.mdb");
    const bytes = readFileSync(file);
    for (let at = bytes.indexOf("map-7 map-7"); at >= 0; at = bytes.indexOf("map-7 map-7", at + 200))
      bytes[at]! ^= 1;
    writeFileSync(file, bytes);
    expect((await check(dataDir)).output).toContain("/configmaps/default/map-7 is damaged");
    const server = await start(dataDir);
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
