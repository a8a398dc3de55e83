import { readFileSync } from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { writePrivateFile } from "../../src/base/files/private-file.ts";
import { administratorFile } from "../../src/cli/serve/administrator-file.ts";
import { prepareDataFolder } from "../../src/cli/serve/data-folder.ts";
import { FlagReader, parseFlags } from "../../src/cli/flags/flag-reader.ts";
import { serveFlags } from "../../src/cli/flags/flags.ts";
import { serveOptions } from "../../src/cli/serve/serve-options.ts";
import type { ServerOptions } from "../../src/server/options/server-options.ts";
import { startServer, type Server } from "../../src/server/server.ts";
import { Api } from "./api.ts";

/**
 * Starts a server in this process with the options of `plinth serve` with these flags.
 *
 * @param changes options that no flag can set.
 */
export async function startByFlags(
  words: readonly string[],
  changes: (flags: FlagReader) => Partial<ServerOptions> = () => ({}),
): Promise<{ readonly server: Server; readonly flags: FlagReader; readonly dataDir: string }> {
  const values = parseFlags(serveFlags, words);
  const flags = new FlagReader(serveFlags, values);
  const { server: options, dataDir } = await serveOptions(values, {});
  return { server: await startServer({ ...options, ...changes(flags) }), flags, dataDir };
}

/**
 * A `plinth serve` in this process, for tests that aren't about the process, its start or its end: a process of its own takes five times the
 * time. Commands that ask it must not block this process; see `plinthHere`.
 */
export class ServerHere {
  private readonly apis: Api[] = [];
  private constructor(
    private readonly server: Server,
    readonly dataDir: string,
    /** The log entries so far, one line of JSON each. */
    readonly log: () => string,
  ) {}

  /** Starts it on a free port; the flags are those that a `ServerProcess` has, and more of them. */
  static async start(dataDir: string, ...more: readonly string[]): Promise<ServerHere> {
    let lines = "";
    const words = ["--secure-port=0", `--data-dir=${dataDir}`, "--log-level=warn", ...more];
    prepareDataFolder(dataDir);
    const { server } = await startByFlags(words, (flags) => ({
      log: pino({ level: flags.text("log-level") }, { write: (line) => void (lines += line) }),
    }));
    writePrivateFile(administratorFile(dataDir), server.durableKubeconfig());
    return new ServerHere(server, dataDir, () => lines);
  }

  get url(): string {
    return this.server.url!;
  }

  /** The file of the administrator's client configuration. */
  get administrator(): string {
    return administratorFile(this.dataDir);
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

  async stop(): Promise<void> {
    for (const api of this.apis) api.close();
    await this.server.close();
  }
}
