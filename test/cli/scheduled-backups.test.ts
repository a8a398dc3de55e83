import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { silentLogger, type Logger } from "../../src/base/logger.ts";
import { backUpApart, serverVariable } from "../../src/cli/backups/backup-process.ts";
import { backupFor, backupsIn, newestBackupIn } from "../../src/cli/backups/series.ts";
import { ScheduledBackups } from "../../src/cli/backups/scheduled-backups.ts";
import { parseFlags } from "../../src/cli/flags/flag-reader.ts";
import { serveFlags } from "../../src/cli/flags/flags.ts";
import { serveOptions } from "../../src/cli/serve/serve-options.ts";
import { revisionOf } from "../../src/storage/entry.ts";
import { writeManifest } from "../../src/storage/lmdb/backup/manifest.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { program } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const minuteMs = 60_000;
/** The child processes of a process, with their process groups. */
function childrenOf(parent: number): { pid: number; group: number; command: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        const [, ppid, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        if (Number(ppid) !== parent) return [];
        return [
          { pid: Number(pid), group: Number(group), command: readFileSync(`/proc/${pid}/cmdline`, "utf8") },
        ];
      } catch {
        // The process has ended.
        return [];
      }
    });
}

const startMs = Date.UTC(2030, 0, 1, 10);

let folder: ReturnType<typeof temporaryFolder>;
let clock: ManualClock;
let made: number;
let failure: Error | undefined;
const errors: unknown[] = [];
const running: ScheduledBackups[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  clock = new ManualClock(startMs);
  made = 0;
  failure = undefined;
  errors.length = 0;
});
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
  folder.remove();
});

const log: Logger = {
  ...silentLogger,
  error: (fields: { error?: unknown }) => void errors.push(fields.error),
};
const series = () => path.join(folder.path, "series");
const names = () => readdirSync(series()).toSorted();

/** Writes the files of a small backup that began now, with a minute of history. */
async function write(target: string, timeMs = clock.now()): Promise<void> {
  mkdirSync(target, { recursive: true });
  writeFileSync(path.join(target, "data.mdb"), "data");
  const revision = revisionOf(++made);
  const historySinceMs = timeMs - minuteMs;
  await writeManifest(target, { format: 2, revision, bytes: 4, sha256: "", timeMs, historySinceMs });
}

function schedule(
  options: Partial<ConstructorParameters<typeof ScheduledBackups>[0]> = {},
): ScheduledBackups {
  const backups = new ScheduledBackups({
    dir: series(),
    intervalMs: 10 * minuteMs,
    retentionMs: 25 * minuteMs,
    clock,
    log,
    backUp: async (target) => {
      if (failure !== undefined) throw failure;
      await write(target);
    },
    ...options,
  });
  running.push(backups);
  return backups;
}

/** Waits until the last attempt has ended and the next one is scheduled. */
const nextIsScheduled = () => vi.waitUntil(() => clock.pending > 0, 30_000);

/** Advances by minutes and checks how many backups were made in all. Files are written in real time, so each attempt is awaited. */
async function advance(minutes: number, expected: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    await nextIsScheduled();
    await clock.advance(minuteMs);
  }
  await nextIsScheduled();
  expect(made).toBe(expected);
}

describe("scheduled backups", () => {
  test("begin a minute after the start, repeat at the interval, and keep those within --backup-retention", async () => {
    schedule();
    await advance(1, 1);
    expect(names()).toEqual(["2030-01-01T10-01-00Z"]);
    await advance(9, 1);
    await advance(1, 2);
    await advance(10, 3);
    await advance(10, 4);
    expect(names()).toEqual(["2030-01-01T10-11-00Z", "2030-01-01T10-21-00Z", "2030-01-01T10-31-00Z"]);
  });

  test("count the interval from the newest backup after a restart", async () => {
    await schedule().stop();
    await write(path.join(series(), "earlier"), startMs - 5 * minuteMs);
    schedule();
    await advance(4, 1);
    await advance(1, 2);
  });

  test("keep the newest backup, however old, and leave everything else in the folder alone", async () => {
    await write(path.join(series(), "old"), startMs - 100 * minuteMs);
    mkdirSync(path.join(series(), "incomplete"));
    failure = new Error("no space");
    schedule();
    await advance(30, 1);
    expect(names()).toEqual(["incomplete", "old"]);
    failure = undefined;
    await advance(1, 2);
    expect(names()).toEqual(["2030-01-01T10-31-00Z", "incomplete"]);
  });

  test("delete what a process left that ended while it deleted a backup", async () => {
    await write(path.join(series(), ".deleted"), startMs - 100 * minuteMs);
    schedule();
    await advance(1, 2);
    expect(names()).toEqual(["2030-01-01T10-01-00Z"]);
  });

  test("log a failure, leave no partial backup, and try again after a minute", async () => {
    failure = new Error("no space");
    schedule();
    await advance(1, 0);
    expect(errors).toEqual([expect.stringContaining("no space")]);
    expect(names()).toEqual([]);
    failure = undefined;
    await advance(1, 1);
  });

  test("are made by one of several processes; the claim of a process that has ended is void", async () => {
    mkdirSync(path.join(series(), ".running"), { recursive: true });
    const owner = path.join(series(), ".running/owner");
    writeFileSync(owner, `${hostname()} ${process.ppid}\n`);
    utimesSync(path.join(series(), ".running"), startMs / 1000, startMs / 1000);
    schedule();
    await advance(5, 0);
    expect(existsSync(owner)).toBe(true);
    writeFileSync(owner, `${hostname()} 999999999\n`);
    await advance(1, 1);
    expect(existsSync(owner)).toBe(false);
  });

  test("end with the server: a running backup is ended, without a result", async () => {
    let [isRunning, isEnded] = [false, false];
    const backups = schedule({
      backUp: (_, signal) =>
        new Promise((_resolve, reject) => {
          isRunning = true;
          signal.addEventListener("abort", () => {
            isEnded = true;
            reject(new Error("ended"));
          });
        }),
    });
    await clock.advance(minuteMs);
    await vi.waitUntil(() => isRunning, 30_000);
    await backups.stop();
    expect([isEnded, names(), errors, clock.pending]).toEqual([true, [], [], 0]);
  });
});

test("the process of a backup doesn't get the signals of the server's terminal, and ends with the server", async () => {
  const waiting = path.join(folder.path, "waiting.mjs");
  writeFileSync(waiting, "setInterval(() => undefined, 1000);");
  const [, own] = process.argv;
  process.argv[1] = waiting;
  const stopping = new AbortController();
  const backup = backUpApart("data", "target", stopping.signal).finally(() => (process.argv[1] = own!));
  const children = childrenOf(process.pid).filter(({ command }) => command.includes(waiting));
  stopping.abort();
  // A terminal sends SIGINT to the process group of the program in the foreground.
  expect(children.map(({ pid, group }) => pid === group)).toEqual([true]);
  await expect(backup).rejects.toThrow("plinth backup ended by SIGTERM");
});

test("a backup that a server runs ends when the server is killed", async () => {
  const data = path.join(folder.path, "data");
  await openLmdbStore({ dir: path.join(data, "store"), clock }).close();
  const words = (target: string) => [
    program,
    "backup",
    `--data-dir=${data}`,
    `--to=${path.join(folder.path, target)}`,
  ];
  const child = spawn(process.execPath, words("ended"), {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { ...process.env, [serverVariable]: String(process.pid) },
  });
  // As the end of the parent process does.
  child.disconnect();
  expect(await once(child, "exit")).toEqual([1, null]);
  // Of another program that runs it with a channel.
  const alone = spawn(process.execPath, words("whole"), { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  alone.disconnect();
  expect(await once(alone, "exit")).toEqual([0, null]);
});

test.each([
  [
    "a store in memory",
    ["--storage-backend=memory"],
    "--backup-dir: the server backs up the embedded store only",
  ],
  ["an interval below a second", ["--backup-interval=10ms"], "--backup-interval: the shortest interval"],
])("%s is a usage error of scheduled backups", async (_, words, message) => {
  const flags = parseFlags(serveFlags, ["--backup-dir=b", ...words]);
  await expect(serveOptions(flags, {})).rejects.toThrow(message);
});

describe("the backup of a series that is restored", () => {
  test("is the newest, or the oldest one that has the state of a time", async () => {
    for (const minutes of [0, 10, 20])
      await write(path.join(series(), `at-${minutes}`), startMs + minutes * minuteMs);
    const choose = async (minutes?: number) =>
      path.basename(await backupFor(series(), minutes && startMs + minutes * minuteMs));
    expect([await choose(), await choose(9.5), await choose(20)]).toEqual(["at-20", "at-10", "at-20"]);
    await expect(choose(5)).rejects.toThrow(
      /no backup in .* has the state of 2030-01-01T10:05:00.000Z; they have: /,
    );
    expect(await backupFor(path.join(series(), "at-10"), undefined)).toBe(path.join(series(), "at-10"));
  });

  test("is never an incomplete one", async () => {
    await write(path.join(series(), "2030-a"));
    mkdirSync(path.join(series(), "2030-b"));
    expect((await newestBackupIn(series()))?.dir).toBe(path.join(series(), "2030-a"));
    expect(await backupsIn(series())).toHaveLength(1);
    expect(await backupsIn(path.join(series(), "missing"))).toEqual([]);
  });
});
