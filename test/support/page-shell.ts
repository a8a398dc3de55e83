import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import type { CodeBlock } from "./pages.ts";
import { program, root, shortRun } from "./root.ts";
import { serveCommand } from "./serve-command.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A server that a command of a page has started. */
export interface PageServer {
  readonly url: string;
  /** What it has written to standard error so far. */
  readonly log: () => string;
  /** Asks it to stop and waits for its end. @returns the exit code, null if a signal ended it */
  stop(): Promise<number | null>;
}

/** Absolute paths of pages, which are below the folder of the shell instead. */
const absolutePath = /(?<=^|[\s='">])\/(?=(?:backups|etc|run|var)\/)/gm;
const separator = "--- next block ---\n";

/** The programs by which pages run the product, with the text of the script that is run instead. */
const programs: Readonly<Record<string, string>> = {
  plinth: `exec "${process.execPath}" ${shortRun.join(" ")} "${program}" "$@"`,
  // `npm start` is `plinth serve` after a build; other scripts run in the checkout.
  npm: `case "$1" in
start) shift; [ "\${1:-}" != -- ] || shift; exec plinth serve "$@" ;;
*) cd "${root}" && PATH="$OUTER_PATH" exec npm "$@" ;;
esac`,
  npx: `[ "$1" = plinth ] || exit 127; shift; exec plinth "$@"`,
  // "plinth console" opens a file in the browser.
  "xdg-open": 'cp "$1" opened.html',
};

/**
 * Runs the shell blocks of documentation pages, word for word, in a folder of its own which is also the home folder. Servers listen
 * on free ports, whatever ports the page names, and log warnings only. `dist`, `examples` and `node_modules/plinth` are those of the project.
 */
export class PageShell {
  private readonly temporary = temporaryFolder();
  /** The servers that run, in the order of their start. */
  readonly servers: PageServer[] = [];
  private readonly children: ChildProcess[] = [];
  readonly folder = this.temporary.path;

  /**
   * @param kubectl path of the program
   * @param env variables besides PATH and HOME, which may be changed
   */
  constructor(
    kubectl?: string,
    readonly env: Record<string, string> = {},
  ) {
    for (const [name, text] of Object.entries(programs))
      this.file(`bin/${name}`, `#!/bin/sh\n${text}\n`, 0o755);
    if (kubectl !== undefined) symlinkSync(kubectl, path.join(this.folder, "bin/kubectl"));
    mkdirSync(path.join(this.folder, "node_modules"));
    symlinkSync(root, path.join(this.folder, "node_modules/plinth"));
    for (const name of ["dist", "examples"]) symlinkSync(path.join(root, name), path.join(this.folder, name));
  }

  /** Writes a file below the folder. @returns its path */
  file(name: string, text: string, mode = 0o600): string {
    const file = path.join(this.folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, mode);
    return file;
  }

  /**
   * Runs the commands of a script, which must succeed. A command that starts a server returns when the server is ready; variables and
   * functions of the commands before it don't reach those after it.
   *
   * @returns the standard output, without that of servers
   */
  async run(script: string): Promise<string> {
    const start = serveCommand.exec(script);
    if (start === null) return this.bash(script);
    const before = await this.run(script.slice(0, start.index));
    await this.serve(start[0]);
    return before + (await this.run(script.slice(start.index + start[0].length)));
  }

  /** Runs blocks as one script, and compares the output of each with the one that the page shows. @returns the outputs */
  async show(blocks: readonly CodeBlock[]): Promise<string[]> {
    const out = await this.run(blocks.map(({ text }) => text).join(`printf '%s' '${separator}'\n`));
    const outputs = out.split(separator);
    expect(outputs).toHaveLength(blocks.length);
    for (const [index, { output, text }] of blocks.entries()) {
      if (output === undefined) continue;
      if (output.startsWith("{")) expect(JSON.parse(outputs[index]!), text).toEqual(JSON.parse(output));
      else expect(outputs[index]!.trimEnd(), text).toBe(output.trimEnd());
    }
    return outputs;
  }

  /** Starts a server by a command of a page and waits until it is ready. */
  serve(command: string): Promise<PageServer> {
    const words = `exec ${this.local(command).replace(/--secure-port=\d+/, "--secure-port=0")}`;
    const child = spawn("bash", ["-c", words], {
      cwd: this.folder,
      env: this.environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.children.push(child);
    let out = "";
    let err = "";
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    return new Promise((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`${command} ended with ${code}: ${err}${out}`)));
      child.stdout.on("data", (chunk: Buffer) => {
        out += chunk.toString();
        const url = /at (https:\/\/\S+)/.exec(out)?.[1];
        if (url === undefined || !/^administrator: .+$/m.test(out)) return;
        const server = { url, log: () => err, stop: () => end(child, "SIGTERM") };
        this.servers.push(server);
        resolve(server);
      });
    });
  }

  /** Stops the servers that run. */
  async stop(): Promise<void> {
    for (const server of this.servers.splice(0)) await server.stop();
  }

  /** Ends the servers at once and removes the folder. */
  async close(): Promise<void> {
    for (const child of this.children) await end(child, "SIGKILL");
    this.temporary.remove();
  }

  private bash(script: string): Promise<string> {
    if (script.trim() === "") return Promise.resolve("");
    const words = ["--norc", "-euo", "pipefail", "-c", this.local(script)];
    const options = { cwd: this.folder, env: this.environment(), timeout: 150_000 };
    return new Promise((resolve, reject) => {
      const child = execFile("bash", words, options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`${script}\nended with ${error.code}:\n${stderr}${stdout}`));
      });
      child.stdin!.end();
    });
  }

  private local(script: string): string {
    return script.replaceAll(absolutePath, `${this.folder}/`);
  }

  private environment(): Record<string, string> {
    const outer = process.env["PATH"]!;
    return {
      PATH: `${this.folder}/bin:${path.dirname(process.execPath)}:${outer}`,
      OUTER_PATH: outer,
      HOME: this.folder,
      PLINTH_SECURE_PORT: "0",
      PLINTH_LOG_LEVEL: "warn",
      ...this.env,
    };
  }
}

/** Sends a signal and waits for the end. @returns the exit code, null if a signal ended it */
async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = once(child, "exit");
  child.kill(signal);
  const [code] = (await ended) as [number | null];
  return code;
}
