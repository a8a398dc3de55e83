import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { ManualClock, until } from "../api/support.ts";
import { connectionLimit, openFileLimit, readOpenFileLimit } from "../../src/server/start/open-files.ts";
import { TestServer } from "../support/api.ts";
import { RawConnection, portOf } from "./support.ts";

describe("a server with a connection limit", () => {
  let server: TestServer;
  let clock: ManualClock;
  const warnings: { refused?: number; message: string }[] = [];
  const start = async (maxConnections: number) => {
    warnings.length = 0;
    clock = new ManualClock();
    server = await TestServer.start({
      maxConnections,
      clock,
      log: {
        info: () => undefined,
        warn: (facts, message) => void warnings.push({ ...facts, message }),
        error: () => undefined,
      },
    });
  };
  afterEach(() => server.close());

  const metric = async (name: string) => {
    const { text } = await server.admin.get("/metrics");
    return Number(new RegExp(`^platform_${name} (\\d+)$`, "m").exec(text)?.[1]);
  };

  /** Opens a TCP connection and sends nothing. Resolves with the received bytes when it is closed. */
  const refusedBytes = () =>
    new Promise<number>((resolve) => {
      const socket: Socket = connect(portOf(server), "127.0.0.1");
      socket.on("error", () => undefined);
      socket.once("close", () => resolve(socket.bytesRead));
      socket.resume();
    });

  test("closes a connection above the limit immediately before TLS, counts it, and accepts one again when another is closed", async () => {
    await start(3);
    expect((await server.admin.get("/livez")).status).toBe(200);
    const held = [await RawConnection.open(portOf(server)), await RawConnection.open(portOf(server))];
    expect(await refusedBytes()).toBe(0);
    expect(await refusedBytes()).toBe(0);
    expect(await metric("client_connections")).toBe(3);
    expect(await metric("client_connections_refused_total")).toBe(2);
    held[0]!.destroy();
    await until(
      () => metric("client_connections"),
      (open) => open === 2,
    );
    held.push(await RawConnection.open(portOf(server)));
    expect(await metric("client_connections")).toBe(3);
    for (const connection of held) connection.destroy();
  });

  test("logs refused connections at most once a minute, with their number", async () => {
    await start(1);
    await server.admin.get("/livez");
    for (let i = 0; i < 5; i++) await refusedBytes();
    expect(warnings).toEqual([
      { refused: 1, message: "too many connections: new ones are refused; see maxConnections" },
    ]);
    await clock.advance(59_000);
    await refusedBytes();
    expect(warnings).toHaveLength(1);
    await clock.advance(1000);
    await refusedBytes();
    expect(warnings.map(({ refused }) => refused)).toEqual([1, 6]);
  });

  test("logs when the limit of open files allows fewer connections than configured", async () => {
    const files = openFileLimit();
    await start(10_000_000);
    const told = warnings.some(({ message }) => message.startsWith("maxConnections 10000000: "));
    expect(told).toBe(files !== undefined && files < 10_000_000);
  });
});

describe("the connection limit", () => {
  test.each([0, -1, 1.5, Number.NaN])("of %d is rejected", async (maxConnections) => {
    await expect(TestServer.start({ maxConnections })).rejects.toThrow(
      `maxConnections: ${maxConnections} is not an integer from 1 to`,
    );
  });

  test.each([
    ["nothing asked, nothing known", undefined, undefined, 20_000],
    ["nothing asked, many files", undefined, 1_000_000, 20_000],
    ["nothing asked, a usual shell", undefined, 1024, 921],
    ["nothing asked, few files", undefined, 200, 136],
    ["hardly any files", undefined, 10, 1],
    ["asked, nothing known", 50_000, undefined, 50_000],
    ["asked, and possible", 500, 1024, 500],
    ["asked, and too many", 50_000, 20_000, 18_000],
  ])("is derived from the option and the open files limit: %s", (_what, asked, openFiles, limit) => {
    expect(connectionLimit(asked, openFiles)).toBe(limit);
  });

  test.each([
    ["a number", "Max open files            1024                 524288               files     \n", 1024],
    [
      "no limit",
      "Max open files            unlimited            unlimited            files     \n",
      undefined,
    ],
    [
      "another line",
      "Max processes             62500                62500                processes \n",
      undefined,
    ],
  ])("the soft limit of open files is parsed: %s", (_what, text, limit) => {
    expect(readOpenFileLimit(text)).toBe(limit);
  });
});
