import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSocketServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { OptionsError } from "../../server/options/options-error.ts";
import type { Command } from "../command.ts";
import { productVersion } from "../product-version.ts";
import { parentEnd, stopSignal } from "../serve/stop.ts";

const notEtcd =
  "this is not etcd: the program of plinth envtest answers health checks only, and its kube-apiserver keeps the objects in memory";

const urlsFlag = "listen-client-urls";
const defaultUrls = "http://localhost:2379";

/** Written out, because this program must start fast and the modules of the other commands take longer to load. */
const help = `Answers envtest's health checks of etcd until SIGINT or SIGTERM, or until its parent process ends.

This is not etcd and stores nothing: the kube-apiserver beside it keeps all objects in memory. Requests of etcd clients fail
with UNIMPLEMENTED. Flags of etcd that aren't listed here have no effect either.

Usage: etcd [FLAGS]

Flags:
  --${urlsFlag}=LIST
        URLs to answer health checks on, http only, comma separated. (default ${defaultUrls})
  --advertise-client-urls=LIST
        Accepted without effect.
  --listen-peer-urls=LIST
        Accepted without effect: there are no peers.
  --data-dir=STRING
        Accepted without effect: nothing is stored.
  --unsafe-no-fsync
        Accepted without effect.
`;

/** The program `etcd` of an assets folder. */
export const etcdCommand: Command = {
  flags: [],
  help: () => help,
  async run(words) {
    if (words.includes("--version")) {
      process.stdout.write(`plinth ${productVersion}; ${notEtcd}\n`);
      return 0;
    }
    const stop = Promise.race([stopSignal(), parentEnd()]);
    const urls = (valueOf(words, urlsFlag) ?? defaultUrls).split(",");
    for (const url of urls) await listen(healthServer(), addressOf(url));
    await stop;
    // Open connections would keep the process running.
    process.exit(0);
  },
};

/** Returns the value of a flag; unlike in other commands, all others are accepted, as etcd has very many. */
function valueOf(words: readonly string[], name: string): string | undefined {
  for (const [index, word] of words.entries()) {
    const [, flag, value] = /^--?([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (flag === name) return value ?? words[index + 1];
  }
  return undefined;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

function addressOf(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" || url.hostname === "")
    throw new OptionsError(`--listen-client-urls: ${JSON.stringify(text)} is not a URL http://HOST:PORT`);
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || 80) };
}

async function listen(server: Server, { host, port }: Address): Promise<void> {
  server.listen(port, host);
  await once(server, "listening").catch((error: unknown) => {
    throw new OptionsError(
      `--listen-client-urls: can't listen on ${host}:${port}: ${(error as Error).message}`,
    );
  });
}

/** A server for HTTP/1.1 and, because etcd clients speak it, HTTP/2 without TLS. */
function healthServer(): Server {
  const http = createHttpServer(answer);
  return createSocketServer((socket) => {
    // A client that resets its connection must not end the process.
    socket.on("error", () => socket.destroy());
    socket.once("data", (chunk: Buffer) => {
      socket.pause();
      socket.unshift(chunk);
      if (chunk.subarray(0, 3).equals(http2Preface)) {
        answerHttp2(socket).catch(() => socket.destroy());
        return;
      }
      http.emit("connection", socket);
      socket.resume();
    });
  });
}

/** The first bytes of a connection with HTTP/2. */
const http2Preface = Buffer.from("PRI");

function answer({ url }: IncomingMessage, response: ServerResponse): void {
  const path = url?.split("?")[0];
  const isHealth = path === "/health" || path === "/livez" || path === "/readyz";
  response.writeHead(isHealth ? 200 : 501, { "content-type": "application/json" });
  response.end(JSON.stringify(isHealth ? { health: "true", reason: "" } : { code: 12, message: notEtcd }));
}

/** Answers each request of a gRPC client with the status UNIMPLEMENTED. */
async function answerHttp2(socket: Socket): Promise<void> {
  const { createServer } = await import("node:http2");
  const server = createServer();
  server.on("stream", (stream) => {
    // A client that resets a stream must not end the process.
    stream.on("error", () => stream.destroy());
    if (stream.destroyed) return;
    stream.respond(
      {
        ":status": 200,
        "content-type": "application/grpc",
        "grpc-status": "12",
        "grpc-message": encodeURIComponent(notEtcd),
      },
      { endStream: true },
    );
  });
  server.emit("connection", socket);
  socket.resume();
}
