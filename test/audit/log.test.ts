import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BatchOutput, type BatchOptions } from "../../src/http/audit/batch-output.ts";
import { BlockingOutput } from "../../src/http/audit/blocking-output.ts";
import { MicroClock, microTimeText } from "../../src/http/audit/event.ts";
import { RotatingFile } from "../../src/http/audit/rotating-file.ts";
import { ManualClock, settle } from "../api/support.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { AuditedServer, everythingAt } from "./support.ts";

describe("the audit log file", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  const clock = {
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    monotonicNow: () => 0,
    setTimer: () => ({ cancel: () => undefined }),
  };
  const open = (options: object = {}) =>
    new RotatingFile({
      file: path.join(folder.path, "below", "audit.log"),
      maxBytes: 10,
      maxAgeMs: 0,
      maxBackups: 0,
      compress: false,
      clock,
      failed: (error) => expect.unreachable(String(error)),
      ...options,
    });
  const names = () => readdirSync(path.join(folder.path, "below")).toSorted();
  const text = (name: string) => readFileSync(path.join(folder.path, "below", name));

  test("is rotated to a name with the time when it is full; only its owner can read it", async () => {
    const file = open();
    for (const line of ["first\n", "next\n", "last\n"]) file.write(Buffer.from(line));
    await file.close();
    expect(names()).toEqual(["audit-2026-01-02T03-04-05.678.log", "audit.log"]);
    expect(text("audit-2026-01-02T03-04-05.678.log").toString()).toBe("first\n");
    expect(text("audit.log").toString()).toBe("next\nlast\n");
    expect(statSync(path.join(folder.path, "below", "audit.log")).mode & 0o777).toBe(0o600);
  });

  test("is appended to after a restart; two files rotated at the same time have different names", async () => {
    const first = open();
    first.write(Buffer.from("123456\n"));
    await first.close();
    const second = open();
    for (const line of ["abcdef\n", "ghijkl\n"]) second.write(Buffer.from(line));
    await second.close();
    expect(names()).toEqual([
      "audit-2026-01-02T03-04-05.678.log",
      "audit-2026-01-02T03-04-05.679.log",
      "audit.log",
    ]);
  });

  test("rotated files are removed by number and age, and compressed; other files are unchanged", async () => {
    mkdirSync(path.join(folder.path, "below"));
    const put = (name: string) => writeFileSync(path.join(folder.path, "below", name), name);
    const others = ["audit-notes.log", "other-2026-01-01T00-00-00.000.log"];
    [...others, "audit-2025-01-01T00-00-00.000.log.gz", "audit-2026-01-01T00-00-00.000.log"].forEach(put);
    const file = open({ maxBackups: 2, compress: true });
    file.write(Buffer.from("full enough\n"));
    file.write(Buffer.from("new\n"));
    await file.close();
    expect(names()).toEqual([
      "audit-2026-01-01T00-00-00.000.log.gz",
      "audit-2026-01-02T03-04-05.678.log.gz",
      "audit-notes.log",
      "audit.log",
      "other-2026-01-01T00-00-00.000.log",
    ]);
    expect(gunzipSync(text("audit-2026-01-02T03-04-05.678.log.gz")).toString()).toBe("full enough\n");
    const aged = open({ maxAgeMs: 24 * 60 * 60 * 1000 });
    await aged.close();
    expect(names()).not.toContain("audit-2026-01-01T00-00-00.000.log.gz");
    expect(names()).toContain("audit-2026-01-02T03-04-05.678.log.gz");
  });
});

describe("mode blocking", () => {
  test("lines of one event loop turn are written together, an urgent one immediately with all earlier ones", async () => {
    const writes: string[] = [];
    const target = {
      write: (bytes: Buffer) => void writes.push(bytes.toString()),
      close: async () => undefined,
    };
    const output = new BlockingOutput(target, () => expect.unreachable());
    output.write("a", false);
    output.write("b", false);
    expect(writes).toEqual([]);
    await settle();
    expect(writes).toEqual(["a\nb\n"]);
    output.write("c", false);
    output.write("d", true);
    expect(writes).toEqual(["a\nb\n", "c\nd\n"]);
    output.write("e", false);
    await output.close();
    expect(writes.at(-1)).toBe("e\n");
  });

  test("a write failure is reported with the number of events", () => {
    const lost: unknown[] = [];
    const full = () => {
      throw new Error("no space");
    };
    const output = new BlockingOutput({ write: full, close: async () => undefined }, (events, error) =>
      lost.push([events, (error as Error).message]),
    );
    output.write("a", false);
    expect(output.write("b", true)).toBe(false);
    expect(lost).toEqual([[2, "no space"]]);
  });
});

describe("mode batch", () => {
  const start = (options: Partial<BatchOptions> = {}) => {
    const clock = new ManualClock();
    const sent: (readonly string[])[] = [];
    const lost: number[] = [];
    let blocked: Promise<void> | undefined;
    const output = new BatchOutput(
      {
        bufferEvents: 5,
        batchEvents: 3,
        batchBytes: undefined,
        maxWaitMs: 1000,
        throttle: undefined,
        parallel: 1,
        ...options,
      },
      clock,
      async (texts) => {
        sent.push(texts);
        await blocked;
      },
      (events) => lost.push(events),
      async () => undefined,
    );
    const block = () => {
      let free: () => void = () => undefined;
      blocked = new Promise((resolve) => (free = resolve));
      return () => {
        blocked = undefined;
        free();
      };
    };
    return { clock, sent, lost, output, block };
  };

  test("a batch is sent when it is full or after the maximum wait", async () => {
    const { clock, sent, output } = start();
    for (const text of ["a", "b", "c", "d"]) output.write(text);
    expect(sent).toEqual([["a", "b", "c"]]);
    await clock.advance(999);
    expect(sent).toHaveLength(1);
    await clock.advance(1);
    expect(sent.at(-1)).toEqual(["d"]);
  });

  test("events are dropped and counted when the buffer is full", async () => {
    const { sent, lost, output, block } = start();
    const free = block();
    for (const text of "abcdefghi") output.write(text);
    expect(sent).toEqual([["a", "b", "c"]]);
    expect(lost).toEqual([1]);
    free();
    await output.close();
    expect(sent.flat().join("")).toBe("abcdefgh");
    expect(output.write("late")).toBe(false);
  });

  test("a batch has a maximum number of bytes, and a larger event is sent alone", async () => {
    const { sent, output } = start({ batchBytes: 4 });
    for (const text of ["aa", "bb", "cccccc"]) output.write(text);
    await output.close();
    expect(sent).toEqual([["aa", "bb"], ["cccccc"]]);
  });

  test("the rate of batches is limited", async () => {
    const { clock, sent, output } = start({ batchEvents: 1, throttle: { perSecond: 2, burst: 1 } });
    output.write("a");
    await settle();
    output.write("b");
    await clock.advance(499);
    expect(sent).toEqual([["a"]]);
    await clock.advance(1);
    expect(sent).toEqual([["a"], ["b"]]);
  });
});

test("timestamps have microseconds, are ordered and stay within the clock's millisecond", () => {
  let passed = 5.25;
  const clock = { now: () => 1000, monotonicNow: () => 1000, setTimer: () => ({ cancel: () => undefined }) };
  const micros = new MicroClock(clock, () => passed);
  expect(micros.now()).toBe(1_000_000);
  passed += 0.5;
  expect(micros.now()).toBe(1_000_500);
  passed += 10;
  expect(micros.now()).toBe(1_000_999);
  expect(microTimeText(1_767_323_045_000_042)).toBe("2026-01-02T03:04:05.000042Z");
});

describe("the audit log of a server", () => {
  test("has the legacy format when it is selected", async () => {
    const server = await AuditedServer.start(everythingAt("Metadata"), {}, { format: "legacy" });
    try {
      const { headers } = await server.api.admin.get("/version", {
        headers: { "user-agent": "me", "audit-id": "x" },
      });
      expect(headers["audit-id"]).toBe("x");
      const [received, complete] = await server.lines();
      const common = `method="get" user="admin" groups="\\"system:masters\\",\\"system:authenticated\\"" as="<self>" asgroups="<lookup>" user-agent="me" namespace="<none>" uri="/version"`;
      expect(received!.replace(/^\S+ /, "")).toBe(
        `AUDIT: id="x" stage="RequestReceived" ip="127.0.0.1" ${common} response="<deferred>"`,
      );
      expect(complete!.replace(/^\S+ /, "")).toBe(
        `AUDIT: id="x" stage="ResponseComplete" ip="127.0.0.1" ${common} response="200"`,
      );
    } finally {
      await server.close();
    }
  });

  test("in mode batch has all events once the server has stopped", async () => {
    const batch = { bufferEvents: 1000, batchEvents: 100, maxWaitMs: 60_000, throttle: undefined };
    const server = await AuditedServer.start(everythingAt("Metadata"), {}, { mode: "batch", batch });
    const { headers } = await server.api.admin.get("/version");
    expect(await server.lines()).toEqual([]);
    await server.api.close();
    expect(await server.events(headers["audit-id"])).toHaveLength(2);
    await server.close();
  });

  test("with size limits: an event loses its objects, then is dropped", async () => {
    const truncate = { maxEventBytes: 1500, maxBatchBytes: 10_000 };
    const server = await AuditedServer.start(everythingAt("RequestResponse"), {}, { truncate });
    try {
      const object = { metadata: { name: "big" }, data: { text: "x".repeat(2000) } };
      const answer = await server.api.admin.post("/api/v1/namespaces/default/configmaps", object);
      const event = (await server.events(answer.headers["audit-id"])).at(-1);
      expect(event).toMatchObject({ annotations: { "audit.platform.io/truncated": "true" } });
      expect([event.requestObject, event.responseObject]).toEqual([undefined, undefined]);
      const long = await server.api.admin.get(`/version?${"y".repeat(2000)}`);
      expect(await server.events(long.headers["audit-id"])).toEqual([]);
      const { text } = await server.api.admin.get("/metrics");
      expect(text).toContain('apiserver_audit_error_total{plugin="truncate"} 2');
    } finally {
      await server.close();
    }
  });

  test.each([
    ["blocking-strict", 500],
    ["blocking", 200],
  ] as const)("that can't be written: in mode %s a request is %i", async (mode, status) => {
    // The device is always full.
    const server = await AuditedServer.start(everythingAt("Metadata"), {}, { path: "/dev/full", mode });
    try {
      const answer = await server.api.admin.get("/version");
      expect(answer.status).toBe(status);
      if (status === 500) {
        expect(answer.body).toMatchObject({
          reason: "InternalError",
          message: "failed to store audit event",
        });
      }
    } finally {
      await server.close();
    }
  });

  test("a server doesn't start with an unusable policy or log, and the error has the flag, rule and field", async () => {
    await expect(AuditedServer.start("rules: [{level: None}, {level: X}]")).rejects.toThrow(
      /^audit\.policyFile \S+policy.yaml: rules\[1\].level: Unsupported value: "X"/,
    );
    await expect(AuditedServer.start(everythingAt("None"), {}, { path: "/dev/null/log" })).rejects.toThrow(
      "audit.log.path /dev/null/log: ",
    );
  });
});
