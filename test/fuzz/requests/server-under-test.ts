import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { patchedModules, type Patch } from "../../support/patched-modules.ts";
import { root } from "../../support/root.ts";
import type { FromServer, ServerSettings, ToServer } from "./messages.ts";
import type { Turn } from "./turn-meter.ts";

/** Options of {@link ServerUnderTest.start}. */
export interface ServerUnderTestOptions extends Omit<ServerSettings, "folder"> {
  readonly patch?: Patch;
  readonly onTurn: (turn: Turn) => void;
  /** Is called for uncaught exceptions, unhandled rejections and logged errors. */
  readonly onDefect: (text: string) => void;
}

/** A server in another process, bundled from the sources. */
export class ServerUnderTest {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    readonly url: string,
    readonly ca: string,
    readonly adminToken: string,
  ) {}

  /** Bundles and starts a server. */
  static async start({
    patch,
    onTurn,
    onDefect,
    ...settings
  }: ServerUnderTestOptions): Promise<ServerUnderTest> {
    // Below the installed packages, so that the bundle can import them.
    const folder = mkdtempSync(path.join(root, "node_modules/.plinth-fuzz-"));
    try {
      await bundle(folder, patch);
      const child = fork(path.join(folder, "server-process.js"), [JSON.stringify({ ...settings, folder })], {
        execArgv: ["--expose-gc"],
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      });
      child.on("message", (message: FromServer) => {
        if (message.type === "turn") onTurn(message);
        if (message.type === "defect") onDefect(message.text);
      });
      child.once("exit", (code, signal) => {
        if (code !== 0) onDefect(`the server ended: ${signal ?? `code ${code}`}`);
      });
      const { url, ca, adminToken } = await nextMessage(child, "ready");
      return new ServerUnderTest(child, folder, url, ca, adminToken);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Collects garbage. @returns the used heap in bytes. */
  async heapBytes(): Promise<number> {
    return (await this.ask("memory")).heapBytes;
  }

  /** Returns the processor time of the longest turn since the last call, in milliseconds. */
  async longestTurnMs(): Promise<number> {
    return (await this.ask("longest")).ms;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, "exit");
    if (this.child.connected) this.child.send({ type: "stop" } satisfies ToServer);
    if (this.child.exitCode === null && this.child.signalCode === null) await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }

  private ask<T extends "memory" | "longest">(type: T) {
    const answer = nextMessage(this.child, type);
    this.child.send({ type } satisfies ToServer);
    return answer;
  }
}

/** Waits for a message of a type. @throws {Error} if the process ends first. */
function nextMessage<T extends FromServer["type"]>(
  child: ChildProcess,
  type: T,
): Promise<Extract<FromServer, { type: T }>> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: FromServer) => {
      if (message.type !== type) return;
      child.off("message", onMessage);
      child.off("exit", onExit);
      resolve(message as Extract<FromServer, { type: T }>);
    };
    const onExit = () => reject(new Error("the server ended unexpectedly"));
    child.on("message", onMessage);
    child.once("exit", onExit);
  });
}

async function bundle(folder: string, patch: Patch | undefined): Promise<void> {
  await build({
    entryPoints: [path.join(import.meta.dirname, "server-process.ts")],
    outdir: folder,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    logLevel: "error",
    plugins: [patchedModules(patch === undefined ? [] : [patch])],
  });
}
