import { randomInt } from "node:crypto";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { createServer } from "node:net";
import path from "node:path";
import { Api } from "./api.ts";
import { program, shortRun } from "./root.ts";

export { isInstalled } from "./installed.ts";
export { program, root, shortRun } from "./root.ts";

/** What a program that ran to its end did. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `plinth` with these words to its end; a server that starts in spite of wrong flags is killed after 2 minutes. */
export function plinth(...words: readonly string[]): Finished {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...shortRun, program, ...words], {
    encoding: "utf8",
    timeout: 120_000,
    cwd: tmpdir(),
  });
  return { code: status, stdout, stderr };
}

/** A `plinth serve` in a process of its own. */
export class ServerProcess {
  private readonly apis: Api[] = [];
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    readonly dataDir: string,
    /** The administrator's client configuration. */
    readonly administrator: string,
    /** What it has written to standard error so far. */
    readonly log: () => string,
  ) {}

  /** Starts it on a free port and waits until it serves. */
  static start(dataDir: string, ...flags: readonly string[]): Promise<ServerProcess> {
    return ServerProcess.startProgram(program, dataDir, ...flags);
  }

  /** As {@link ServerProcess.start}. @param file path of the program. */
  static startProgram(file: string, dataDir: string, ...flags: readonly string[]): Promise<ServerProcess> {
    const words = ["serve", "--secure-port=0", `--data-dir=${dataDir}`, "--log-level=warn", ...flags];
    const child = spawn(process.execPath, [...shortRun, file, ...words], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    let err = "";
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    return new Promise((resolve, reject) => {
      child.stdout.on("data", (chunk: Buffer) => {
        out += chunk.toString();
        const url = /at (https:\/\/\S+)/.exec(out)?.[1];
        const administrator = /^administrator: (.+)$/m.exec(out)?.[1];
        if (url !== undefined && administrator !== undefined) {
          resolve(new ServerProcess(child, url, dataDir, administrator, () => err));
        }
      });
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${err}${out}`)));
    });
  }

  get pid(): number {
    return this.child.pid!;
  }

  get caFile(): string {
    return path.join(this.dataDir, "pki/ca.crt");
  }

  /** A client with a bearer token of the server's token file. */
  as(token: string): Api {
    const api = new Api(this.url, readFileSync(this.caFile, "utf8"), `Bearer ${token}`);
    this.apis.push(api);
    return api;
  }

  /** Asks it to stop and waits for its end; gives the exit code. */
  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    if (this.child.exitCode === null) this.child.kill(signal);
    return this.ended();
  }

  /** Waits for the end of a server that was asked to stop; gives the exit code, null where a signal ended it. */
  async ended(): Promise<number | null> {
    for (const api of this.apis) api.close();
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    return new Promise<number | null>((resolve) => this.child.once("exit", resolve));
  }
}

/** The ports of {@link freePort}: below those that systems give to whoever asks for any port. */
const [firstPort, lastPort] = [15_000, 32_000];
/** No port is tried twice soon, and two processes rarely try the same ones. */
let nextPort = randomInt(firstPort, lastPort);

/** A port that was free a moment ago. Whoever listens on any port doesn't get it meanwhile. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = nextPort;
    nextPort = port + 1 < lastPort ? port + 1 : firstPort;
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
