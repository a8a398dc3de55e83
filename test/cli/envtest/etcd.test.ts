import { once } from "node:events";
import { connect, constants } from "node:http2";
import { connect as connectSocket } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client, credentials, status, type ServiceError } from "../../../src/storage/etcd/grpc.ts";
import { freePort } from "../../support/process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { AssetProcess, install } from "./support.ts";

const folder = temporaryFolder();
let assets: string;
beforeAll(() => {
  assets = install(path.join(folder.path, "assets"));
});
afterAll(() => folder.remove());

async function start(url: string, ...more: readonly string[]): Promise<AssetProcess> {
  const words = [
    `--advertise-client-urls=${url}`,
    `--data-dir=${folder.path}`,
    `--listen-client-urls=${url}`,
    `--listen-peer-urls=http://127.0.0.1:${await freePort()}`,
    "--unsafe-no-fsync=true",
    ...more,
  ];
  const running = AssetProcess.start(path.join(assets, "etcd"), words);
  await running.untilHealthy(async () => (await fetch(`${url}/health`)).status === 200);
  return running;
}

describe("the program etcd of an assets folder", () => {
  test("answers health checks and ends on SIGTERM while connections are open", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const running = await start(url);
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ health: "true", reason: "" });
    expect(await running.stop()).toBe(0);
  });

  test("answers requests of etcd clients with UNIMPLEMENTED and a reason", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const running = await start(url);
    const client = new Client(url.slice("http://".length), credentials.createInsecure());
    const bytes = (value: Buffer) => value;
    const error = await new Promise<ServiceError | null>((resolve) =>
      client.makeUnaryRequest("/etcdserverpb.KV/Range", bytes, bytes, Buffer.from([0x0a, 1, 0]), resolve),
    );
    client.close();
    expect([error?.code, error?.details]).toEqual([
      status.UNIMPLEMENTED,
      expect.stringContaining("this is not etcd"),
    ]);
    const overHttp = await fetch(`${url}/v3/kv/range`, { method: "POST", body: "{}" });
    expect([overHttp.status, await overHttp.text()]).toEqual([
      501,
      expect.stringContaining("this is not etcd"),
    ]);
    await running.stop();
  });

  test("keeps running when clients reset their streams and connections", async () => {
    const port = await freePort();
    const running = await start(`http://127.0.0.1:${port}`);
    for (let round = 0; round < 20; round++) {
      const session = connect(`http://127.0.0.1:${port}`);
      session.on("error", () => undefined);
      const stream = session.request({ ":method": "POST", ":path": "/etcdserverpb.KV/Range" });
      stream.on("error", () => undefined);
      stream.close(constants.NGHTTP2_CANCEL);
      const socket = connectSocket(port, "127.0.0.1", () => {
        socket.write(round % 2 === 0 ? "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0" : "GET /hea");
        setTimeout(() => socket.resetAndDestroy(), 5);
      });
      socket.on("error", () => undefined);
      await new Promise((resolve) => setTimeout(resolve, 20));
      session.destroy();
    }
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
    expect(await running.stop()).toBe(0);
  });

  test("accepts a flag in two words, several URLs, and flags that it doesn't know", async () => {
    const [one, other] = [await freePort(), await freePort()];
    const urls = `http://127.0.0.1:${one},http://127.0.0.1:${other}`;
    const words = ["--listen-client-urls", urls, "--quota-backend-bytes=1000", "--name", "test"];
    const running = AssetProcess.start(path.join(assets, "etcd"), words);
    for (const port of [one, other])
      await running.untilHealthy(async () => (await fetch(`http://127.0.0.1:${port}/health`)).ok);
    await running.stop();
  });

  test.each(["https://127.0.0.1:2379", "unix://socket", "localhost"])(
    "exits with code 2 and names the flag when the URL is %s",
    async (url) => {
      const running = AssetProcess.start(path.join(assets, "etcd"), [`--listen-client-urls=${url}`]);
      let log = "";
      running.child.stderr!.on("data", (part) => (log += String(part)));
      await once(running.child, "close");
      expect([running.child.exitCode, log]).toEqual([2, expect.stringContaining("--listen-client-urls: ")]);
    },
  );
});
