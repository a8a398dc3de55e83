import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createInterface, type Interface } from "node:readline";
import { createGunzip, gunzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { HandlerGuard } from "../../src/http/transport/http-exchange.ts";
import { GzipMembers } from "../../src/http/answers/respond.ts";
import type { BodyStream } from "../../src/http/transport/body-stream.ts";
import type { TestServer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { configMap, ok } from "./support.ts";

const path = "/api/v1/namespaces/default/configmaps";
const initial =
  "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
const gzip = { "accept-encoding": "gzip" };

const responses: IncomingMessage[] = [];
afterEach(() => {
  for (const response of responses.splice(0)) response.destroy();
});

async function open({ admin }: TestServer, query: string, headers: Record<string, string> = gzip) {
  const response = await admin.open("GET", `${path}?${query}`, { headers });
  responses.push(response);
  return response;
}

/** Reads the events of a compressed watch. */
function eventsOf(response: IncomingMessage): { next(): Promise<string> } {
  const lines: Interface = createInterface({ input: response.pipe(createGunzip()) });
  const iterator = lines[Symbol.asyncIterator]();
  return {
    async next() {
      const { type, object } = JSON.parse((await iterator.next()).value as string) as {
        type: string;
        object: { metadata: { name?: string } };
      };
      return [type, object.metadata.name ?? ""].join(" ").trim();
    },
  };
}

describe("a watch that begins with the objects", () => {
  const server = useServer({ release: "1.37" });

  test("is compressed for clients that accept it, in the initial state and in each later event", async () => {
    const text = "0123456789abcdef".repeat(4000);
    for (const name of ["a", "b", "c"])
      await ok(server.admin.post(path, { ...configMap(name), data: { text } }));
    await ok(server.admin.post(path, configMap("d")));
    const response = await open(server, initial);
    expect(response.headers).toMatchObject({ "content-encoding": "gzip", vary: "Accept-Encoding" });
    let bytes = 0;
    response.on("data", (chunk: Buffer) => (bytes += chunk.length));
    const events = eventsOf(response);
    for (const name of ["a", "b", "c", "d"]) expect(await events.next()).toBe(`ADDED ${name}`);
    expect(await events.next()).toBe("BOOKMARK");
    expect(bytes).toBeLessThan(text.length);
    await ok(server.admin.post(path, configMap("e")));
    expect(await events.next()).toBe("ADDED e");
    await ok(server.admin.post(path, { ...configMap("f"), data: { text } }));
    await ok(server.admin.delete(`${path}/e`));
    expect([await events.next(), await events.next()]).toEqual(["ADDED f", "DELETED e"]);
  });

  test("ends with complete compressed bytes when its time is over", async () => {
    const response = await open(server, `${initial}&timeoutSeconds=1`);
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    await once(response, "end");
    const types = gunzipSync(Buffer.concat(chunks))
      .toString()
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toContain("BOOKMARK");
  });

  test("is not compressed for other clients, and other watches are not", async () => {
    for (const [query, headers] of [
      [initial, {}],
      [initial, { "accept-encoding": "br, gzip;q=0" }],
      ["watch=true", gzip],
      ["watch=true&resourceVersion=0", gzip],
    ] as const)
      expect((await open(server, query, headers)).headers["content-encoding"]).toBeUndefined();
  });
});

describe("without the gate WatchListCompression", () => {
  const off = useServer({ release: "1.37", featureGates: "WatchListCompression=false" });
  const earlier = useServer({ release: "1.36" });

  test("and before release 1.37 no watch is compressed", async () => {
    for (const server of [off, earlier])
      expect((await open(server, initial)).headers["content-encoding"]).toBeUndefined();
  });
});

describe("a body of gzip members", () => {
  function fixture() {
    const written: Buffer[] = [];
    const state = { ended: false, closed: false };
    const inner: BodyStream = {
      write: (bytes) => written.push(Buffer.from(bytes)) > 0,
      needsDrain: false,
      onDrain: (listener) => listener(),
      backlogBytes: 0,
      get closed() {
        return state.closed;
      },
      end: () => void (state.ended = true),
      destroy: () => void (state.closed = true),
    };
    const body = new GzipMembers(inner, new HandlerGuard((error) => expect(error).toBeUndefined()));
    return { body, written, state };
  }
  /** Bytes that no other test has compressed. */
  const largeBytes = () => Buffer.alloc(100_000, "large");

  test("keeps the order of small writes after large ones, and ends after them", async () => {
    const { body, written, state } = fixture();
    const large = largeBytes();
    expect(body.write(Buffer.from("first"))).toBe(true);
    expect(body.write(large)).toBe(false);
    expect(body.write(Buffer.from("last"))).toBe(false);
    expect([body.needsDrain, body.backlogBytes, written.length]).toEqual([true, large.length + 4, 1]);
    body.end();
    await new Promise<void>((resolve) => body.onDrain(resolve));
    expect(state.ended).toBe(true);
    expect(gunzipSync(Buffer.concat(written)).toString()).toBe(`first${large.toString()}last`);
    expect([body.needsDrain, body.backlogBytes]).toEqual([false, 0]);
  });

  test("compresses the same write once for several bodies", async () => {
    const [one, two] = [fixture(), fixture()];
    const small = Buffer.from("shared");
    const large = largeBytes();
    for (const { body } of [one, two]) body.write(large);
    for (const { body } of [one, two]) await new Promise<void>((resolve) => body.onDrain(resolve));
    for (const { body } of [one, two]) body.write(small);
    expect(one.written.map((bytes) => bytes.toString("hex"))).toEqual(
      two.written.map((bytes) => bytes.toString("hex")),
    );
  });

  test("passes nothing on after the client has disconnected", async () => {
    const { body, written } = fixture();
    body.write(largeBytes());
    body.destroy();
    await new Promise<void>((resolve) => body.onDrain(resolve));
    expect(written).toEqual([]);
  });
});
