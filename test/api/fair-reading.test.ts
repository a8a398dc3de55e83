import { connect, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { TestServer } from "../support/api.ts";
import { grant, ok, startWithUsers } from "./support.ts";

let server: TestServer;
const sockets: TLSSocket[] = [];

beforeEach(async () => {
  server = await startWithUsers([{ name: "noisy" }, { name: "quiet" }]);
  const reads = [{ verbs: ["get", "list"], apiGroups: [""], resources: ["configmaps"] }];
  for (const name of ["noisy", "quiet"]) await grant(server.admin, name, reads);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

const path = "/api/v1/namespaces/default/configmaps?limit=1";

/** A connection of a user that sends requests and counts the responses. */
async function open(user: string): Promise<{ ask(count: number): Promise<void>; socket: TLSSocket }> {
  const { hostname, port } = new URL(server.server.url!);
  const socket = connect({ host: hostname, port: Number(port), ca: server.server.caCertificate! });
  sockets.push(socket);
  await new Promise<void>((resolve, reject) => {
    socket.once("secureConnect", resolve);
    socket.once("error", reject);
  });
  const request = `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${user}\r\n\r\n`;
  let text = "";
  let wake = (): void => undefined;
  socket.on("data", (bytes: Buffer) => {
    text += bytes.toString("latin1");
    wake();
  });
  const answers = () => text.split("HTTP/1.1 200 OK").length - 1;
  const ask = async (count: number): Promise<void> => {
    text = "";
    socket.write(request.repeat(count));
    while (answers() < count) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { ask, socket };
}

test("every request is answered while several users are active, also pipelined requests", async () => {
  const noisy = await Promise.all(Array.from({ length: 24 }, () => open("noisy")));
  const quiet = await open("quiet");
  let working = true;
  const noise = noisy.map(async ({ ask }, index) => {
    for (let round = 0; round < 20; round++) await ask(index % 3 === 0 ? 3 : 1);
  });
  const whisper = (async () => {
    let count = 0;
    while (working) {
      await quiet.ask(1);
      count++;
    }
    return count;
  })();
  await Promise.all(noise);
  working = false;
  // If all connections were read each time, the quiet user would get as many responses as each of them, about 40.
  expect(await whisper).toBeGreaterThan(60);
});

test("closed connections with unread data delay no other user", async () => {
  const noisy = await Promise.all(Array.from({ length: 16 }, () => open("noisy")));
  const quiet = await open("quiet");
  await Promise.all([quiet.ask(1), ...noisy.map(({ ask }) => ask(1))]);
  for (const { socket } of noisy) {
    socket.write("GET /");
    socket.destroy();
  }
  for (let round = 0; round < 50; round++) await quiet.ask(1);
  await ok(server.admin.get(path));
});
