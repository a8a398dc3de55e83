import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ReloadCounters } from "../../src/base/reload-counters.ts";
import { ConfigurationError } from "../../src/schema/configuration.ts";
import { reloadedFile } from "../../src/server/start/reloaded-file.ts";
import { until } from "../api/support.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

describe("a configuration file that is read again when it changes", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let file: string;
  let clock: ManualClock;
  let counters: ReloadCounters;
  let contents: string[];
  let errors: string[];
  let reload: { close(): Promise<void> } | undefined;

  beforeEach(() => {
    folder = temporaryFolder();
    file = path.join(folder.path, "configuration");
    clock = new ManualClock();
    counters = new ReloadCounters();
    contents = [];
    errors = [];
  });
  afterEach(async () => {
    await reload?.close();
    reload = undefined;
    folder.remove();
  });

  const record = (bytes: Uint8Array): void => {
    const text = Buffer.from(bytes).toString("utf8");
    if (text === "invalid") throw new ConfigurationError("field: is invalid");
    if (text === "bug") throw new TypeError("no such function");
    contents.push(text);
  };
  const start = async (use: (bytes: Uint8Array) => Promise<void> | void = record): Promise<void> => {
    const log = {
      info: () => undefined,
      warn: () => undefined,
      error: ({ error }: { error?: string }) => void errors.push(error ?? ""),
    };
    const options = { flag: "--some-config", file, counters, use: async (bytes: Uint8Array) => use(bytes) };
    reload = await reloadedFile({ clock, log }, options);
  };
  /** Polls the file until it has been reloaded a number of times, with success and without. */
  const polled = async (success: number, failure: number): Promise<void> => {
    await clock.advance(10_000);
    await until(
      () => [counters.success.count, counters.failure.count] as const,
      (counts) => counts[0] === success && counts[1] === failure,
    );
  };

  test("keeps the configuration while the file is absent, and reads the file when it is back", async () => {
    writeFileSync(file, "one");
    await start();
    rmSync(file);
    await polled(0, 1);
    expect(errors).toEqual([`--some-config ${file}: the file doesn't exist`]);
    writeFileSync(file, "two");
    await polled(1, 1);
    expect(contents).toEqual(["one", "two"]);
  });

  test("is read through the links of a mounted secret when they are replaced", async () => {
    for (const version of ["v1", "v2"]) {
      mkdirSync(path.join(folder.path, version));
      writeFileSync(path.join(folder.path, version, "configuration"), version);
    }
    const data = path.join(folder.path, "..data");
    symlinkSync("v1", data);
    symlinkSync("..data/configuration", file);
    await start();
    symlinkSync("v2", `${data}_tmp`);
    renameSync(`${data}_tmp`, data);
    await polled(1, 0);
    expect(contents).toEqual(["v1", "v2"]);
  });

  test("uses the last of several changes, also of one during a reload", async () => {
    writeFileSync(file, "one");
    await start((bytes) => {
      record(bytes);
      if (contents.at(-1) === "three") writeFileSync(file, "four");
    });
    writeFileSync(file, "two");
    writeFileSync(file, "three");
    await polled(1, 0);
    expect(contents).toEqual(["one", "three"]);
    await polled(2, 0);
    expect(contents).toEqual(["one", "three", "four"]);
  });

  test.skipIf(process.platform !== "linux")(
    "is used once when it is replaced between the comparison and the use",
    async () => {
      const large = (text: string) => text.padEnd(1_000_000);
      writeFileSync(file, "one");
      await start();
      writeFileSync(file, large("two"));
      writeFileSync(`${file}.new`, large("three"));
      clock.advanceAtOnce(10_000);
      await until(openFiles, (names) => names.includes(file));
      // The comparison continues with the previous file, and needs several turns for it.
      renameSync(`${file}.new`, file);
      const nextPoll = () =>
        until(
          () => clock.pending,
          (timers) => timers === 1,
        );
      await nextPoll();
      await clock.advance(10_000);
      await nextPoll();
      expect(contents.map((text) => text.trim())).toEqual(["one", "three"]);
      expect([counters.success.count, counters.failure.count]).toEqual([1, 0]);
    },
  );

  test("keeps the configuration when the file is too large, a folder, a pipe, or invalid", async () => {
    writeFileSync(file, "one");
    await start();
    truncateSync(file, 40 * 1024 * 1024);
    await polled(0, 1);
    rmSync(file);
    mkdirSync(file);
    await polled(0, 2);
    rmSync(file, { recursive: true });
    writeFileSync(file, "invalid");
    await polled(0, 3);
    rmSync(file);
    execFileSync("mkfifo", [file]);
    await polled(0, 4);
    expect(errors).toEqual([
      `--some-config ${file}: the file has 41943040 bytes; at most 1048576 are allowed`,
      `--some-config ${file}: is not a regular file`,
      `--some-config ${file}: field: is invalid`,
      `--some-config ${file}: is not a regular file`,
    ]);
    expect(contents).toEqual(["one"]);
  });

  test("logs the stack of an unexpected exception", async () => {
    writeFileSync(file, "one");
    await start();
    writeFileSync(file, "bug");
    await polled(0, 1);
    expect(errors).toEqual([expect.stringMatching(/^TypeError: no such function\n\s+at /)]);
  });

  test("must be usable at the start", async () => {
    execFileSync("mkfifo", [file]);
    await expect(start()).rejects.toThrow(`--some-config ${file}: is not a regular file`);
    rmSync(file);
    writeFileSync(file, "invalid");
    await expect(start()).rejects.toThrow(`--some-config ${file}: field: is invalid`);
  });
});

/** Paths of the files that this process has open. */
function openFiles(): string[] {
  const folder = "/proc/self/fd";
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(path.join(folder, name))];
    } catch (error) {
      // It was closed meanwhile.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  });
}
