import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { create, draft, record, textOf } from "../../src/storage/conformance/support.ts";
import { CommitterClient } from "../../src/storage/lmdb/committer/client.ts";
import { encodeFrame, FrameReader } from "../../src/storage/lmdb/committer/frames.ts";
import {
  type CommitterMessage,
  type CommitterRequest,
  decodeMessages,
  decodeRequests,
  encodeMessage,
  encodeRequest,
} from "../../src/storage/lmdb/committer/messages.ts";
import { revisionOf } from "../../src/storage/entry.ts";
import { serveCommits, type CommitterService } from "../../src/storage/lmdb/committer/service.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import type { RequestedStamp } from "../../src/storage/stamp.ts";
import {
  type Store,
  StoreClosedError,
  StoreError,
  StoreFullError,
  StoreTimeoutError,
  StoreUnavailableError,
  StoreValueError,
} from "../../src/storage/store.ts";
import { effort } from "../support/effort.ts";
import { describeModel } from "./model.ts";
import { describeConformance, ManualClock, temporaryFolder } from "./support.ts";

/** Store objects of one folder whose writes another store object commits. */
async function open() {
  const clock = new ManualClock();
  const folder = temporaryFolder();
  const sockets = temporaryFolder();
  const path = join(sockets.path, "commits");
  const own = openLmdbStore({ dir: folder.path, clock });
  const failures: unknown[] = [];
  let service: CommitterService | undefined;
  const start = async () => {
    service = await serveCommits(own, path, (error) => failures.push(error));
  };
  const stop = async () => {
    await service?.close();
    service = undefined;
  };
  await start();
  const stores: Store[] = [];
  const stamped = async (stamp?: RequestedStamp): Promise<Store> => {
    const store = openLmdbStore({ dir: folder.path, clock, stamp, committer: path, writeTimeoutMs: 1000 });
    stores.push(store);
    return store;
  };
  const another = () => stamped();
  return {
    store: await another(),
    another,
    stamped,
    own,
    failures,
    start,
    stop,
    path,
    advance: (ms: number) => clock.advance(ms),
    now: () => clock.now(),
    async dispose() {
      for (const store of stores) await store.close();
      await stop();
      await own.close();
      folder.remove();
      sockets.remove();
    },
  };
}

if (effort(false, true)) describeConformance("lmdb with a committer", open);
describeModel("lmdb with a committer", open, { runs: 10 });

const disposals: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const dispose of disposals.splice(0)) await dispose();
});
async function opened() {
  const subject = await open();
  disposals.push(() => subject.dispose());
  return subject;
}

describe("a store whose writes another process commits", () => {
  test("delivers its own event before the write is acknowledged, and events of other writers", async () => {
    const { store, another, own } = await opened();
    const other = await another();
    const start = await store.latestRevision();
    const { recorder } = record(store, "/g/", start);
    await create(store, "/g/r/n/a", "1");
    expect(recorder.lines).toEqual(["create /g/r/n/a 1"]);
    await create(other, "/g/r/n/b", "2");
    await create(own, "/g/r/n/c", "3");
    const { recorder: late, subscription } = record(store, "/g/", start);
    await subscription.sync();
    expect(late.lines).toEqual(["create /g/r/n/a 1", "create /g/r/n/b 2", "create /g/r/n/c 3"]);
  });

  test("writes wait while the committing process is being replaced", async () => {
    const { store, start, stop } = await opened();
    await create(store, "/g/r/n/a", "1");
    await stop();
    const writes = ["b", "c"].map((name) => create(store, `/g/r/n/${name}`, "2"));
    await start();
    await Promise.all(writes);
    expect(textOf(await store.get("/g/r/n/c"))).toBe("2");
  });

  test("a write that can't be sent in time fails and was not applied", async () => {
    const { store, start, stop } = await opened();
    await create(store, "/g/r/n/a", "1");
    await stop();
    await expect(create(store, "/g/r/n/b", "2")).rejects.toThrow(StoreTimeoutError);
    expect(await store.writeObstacle()).toBeInstanceOf(StoreTimeoutError);
    await start();
    await create(store, "/g/r/n/c", "3");
    expect(await store.get("/g/r/n/b")).toBeUndefined();
  });

  test("closing waits for the answers of writes, and later writes fail", async () => {
    const { store, own } = await opened();
    const writes = Array.from({ length: 50 }, (_, n) => create(store, `/g/r/n/${String(n)}`, "1"));
    await store.close();
    await Promise.all(writes);
    expect(await own.count("/g/r/")).toBe(50);
    await expect(async () => create(store, "/g/r/n/x", "1")).rejects.toThrow(StoreClosedError);
  });

  test("errors of the committing process have their class and message", async () => {
    const { own, store } = await opened();
    for (const error of [new StoreFullError("no room"), new StoreError("else"), new TypeError("a bug")]) {
      own.commit = () => Promise.reject(error);
      const failure: unknown = await create(store, "/g/r/n/a", "1").catch((one: unknown) => one);
      expect(failure).toMatchObject({ message: error.message });
      expect(failure instanceof StoreError).toBe(error instanceof StoreError);
      expect(failure instanceof StoreFullError).toBe(error instanceof StoreFullError);
    }
    own.commit = () => Promise.reject(new StoreValueError("/g/r/n/a", "its checksum differs"));
    await expect(create(store, "/g/r/n/a", "1")).rejects.toThrow(
      new StoreValueError("/g/r/n/a", "its checksum differs"),
    );
    own.writeObstacle = () => new StoreFullError("no room");
    expect(await store.writeObstacle()).toBeInstanceOf(StoreFullError);
  });

  test("a connection with invalid frames is closed, and others are served", async () => {
    const { store, path, failures } = await opened();
    const { connect } = await import("node:net");
    const socket = connect(path).resume();
    const ended = new Promise((resolve) => socket.once("close", resolve));
    socket.write(Buffer.from("ffffffff00", "hex"));
    await ended;
    expect(failures).toHaveLength(1);
    await create(store, "/g/r/n/a", "1");
  });
});

test("a write isn't sent to a process that ends before it accepts the connection", async () => {
  const folder = temporaryFolder();
  const path = join(folder.path, "commits");
  const server = createServer((socket) => socket.once("data", () => socket.destroy()));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  disposals.push(async () => {
    await new Promise((resolve) => server.close(resolve));
    folder.remove();
  });
  const client = new CommitterClient(path, 300, () => undefined);
  disposals.unshift(async () => client.close());
  const write = { kind: "create", key: "/g/r/n/a", draft: draft("1") } as const;
  await expect(client.commit(write)).rejects.toThrow(StoreTimeoutError);
});

test("a connection without an answer is established again", async () => {
  const folder = temporaryFolder();
  const path = join(folder.path, "commits");
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.resume()));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  disposals.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    folder.remove();
  });
  const client = new CommitterClient(path, 300, () => undefined);
  disposals.unshift(async () => client.close());
  const write = { kind: "create", key: "/g/r/n/a", draft: draft("1") } as const;
  await expect(client.commit(write)).rejects.toThrow(StoreTimeoutError);
  await vi.waitUntil(() => sockets.length === 2);
  expect(sockets[0]!.destroyed).toBe(true);
});

describe("a process that commits and ends before its answer", () => {
  async function silentServer(): Promise<{ path: string; sockets: Socket[]; server: Server }> {
    const folder = temporaryFolder();
    const path = join(folder.path, "commits");
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket.resume());
      // A client may close its connection at once.
      socket.on("error", () => socket.destroy());
      socket.write(encodeFrame([encodeMessage({ kind: "changed" })]));
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    disposals.push(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      folder.remove();
    });
    return { path, sockets, server };
  }
  const write = { kind: "create", key: "/g/r/n/a", draft: draft("1") } as const;

  test("leaves the outcome of sent writes unknown", async () => {
    const { path, sockets, server } = await silentServer();
    const client = new CommitterClient(path, 1000, () => undefined);
    disposals.unshift(async () => client.close());
    const outcome = client.commit(write).catch((error: unknown) => error);
    const [socket] = await new Promise<Socket[]>((resolve) =>
      server.once("connection", (one: Socket) => one.once("data", () => resolve(sockets))),
    );
    socket!.destroy();
    expect(await outcome).toBeInstanceOf(StoreUnavailableError);
  });

  test("closing a client while it connects leaves no connection", async () => {
    const { path, server } = await silentServer();
    const connections: Socket[] = [];
    server.on("connection", (one: Socket) => connections.push(one));
    const client = new CommitterClient(path, 1000, () => undefined);
    client.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(connections.filter(({ destroyed }) => !destroyed)).toEqual([]);
    await expect(client.commit(write)).rejects.toThrow(StoreClosedError);
  });

  test("and one that hangs does so after twice the time limit", async () => {
    const { path } = await silentServer();
    const client = new CommitterClient(path, 100, () => undefined);
    disposals.unshift(async () => client.close());
    await expect(client.commit(write)).rejects.toThrow(StoreUnavailableError);
  });
});

test("frames are read from chunks of any size", () => {
  const frames = [[], ["a"], ["b", "cdefghijklmnop"]].map((texts) => texts.map((text) => Buffer.from(text)));
  const bytes = Buffer.concat(frames.map((messages) => encodeFrame(messages)));
  for (const size of [1, 2, 3, 7, 64, bytes.length]) {
    const reader = new FrameReader();
    const contents: string[] = [];
    for (let at = 0; at < bytes.length; at += size)
      contents.push(...reader.read(bytes.subarray(at, at + size)).map(String));
    expect(contents).toEqual(["", "a", "bcdefghijklmnop"]);
  }
});

describe("messages", () => {
  const key = "/g/r/n/ä";
  const requests: CommitterRequest[] = [
    { id: 1 },
    { id: 2, write: { kind: "create", key, draft: draft("1") } },
    { id: 2 ** 40, write: { kind: "update", key, expected: revisionOf(7), draft: draft("ü") } },
    {
      id: 4,
      write: { kind: "delete", key, expected: revisionOf(8), conditions: [{ key, revision: 0 }] },
    },
  ];
  const messages: CommitterMessage[] = [
    { kind: "changed" },
    { kind: "committed", id: 2, revision: revisionOf(9) },
    {
      kind: "answer",
      id: 3,
      result: { ok: false, current: undefined, failedCondition: 1 },
      error: undefined,
    },
    { kind: "answer", id: 4, result: undefined, error: { name: "a", message: "b", isStoreError: false } },
  ];

  test("are decoded as they were encoded", () => {
    const decoded = decodeRequests(Buffer.concat(requests.map(encodeRequest)));
    expect(JSON.stringify(decoded)).toBe(JSON.stringify(requests));
    expect(decodeMessages(Buffer.concat(messages.map(encodeMessage)))).toEqual(messages);
  });

  test("that are cut off are rejected", () => {
    for (const one of requests.map(encodeRequest))
      for (let length = 1; length < one.length; length++)
        expect(() => decodeRequests(one.subarray(0, length))).toThrow(RangeError);
    expect(() => decodeMessages(Buffer.alloc(9))).toThrow(RangeError);
  });
});
