import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Api } from "../support/api.ts";
import { program, ServerProcess, shortRun } from "../support/process.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const names = Array.from({ length: 40 }, (_, i) => `map-${i}`);

/** What a server answers: to gets of all objects, to a list, to a list at an earlier revision, and to a watch from it. */
type Answers = ReadonlyMap<string, readonly [status: number, text: string]>;

/** The result of a program. */
interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** What became of a damage. */
export type DamageOutcome =
  /** The check finds no damage, and the server answers everything as before. */
  | "harmless"
  /** The check reports it, and the server does not start. */
  | "refused"
  /** The check reports it, and reads that meet it fail. */
  | "failed reads"
  /** The check reports it, and no read of the test meets it. */
  | "checked only";

/** How the server of the undamaged store ended. */
export type StoreEnd = "clean" | "killed";

/** A store of a server, as it is after an orderly end and after a kill, to be damaged in copies. */
export class DamagedStore {
  private readonly tokens: string;
  /** The data file before the updates. */
  earlier = Buffer.alloc(0);
  private earlierRevision = "";
  private lastRevision = "";
  private answers: Answers = new Map();

  private constructor(private readonly folder: string) {
    this.tokens = path.join(folder, "tokens.csv");
  }

  /** Creates the store in an empty folder. */
  static async create(folder: string): Promise<DamagedStore> {
    const store = new DamagedStore(folder);
    await store.fill();
    return store;
  }

  /** The data folder after an orderly end or a kill. */
  dataDir(end: StoreEnd): string {
    return path.join(this.folder, end);
  }

  /** Starts a server on a data folder. */
  start(dataDir: string): Promise<ServerProcess> {
    return ServerProcess.start(dataDir, `--token-auth-file=${this.tokens}`, "--history-retention=48h");
  }

  /**
   * Damages a copy of the store, checks and serves it.
   *
   * @param damage receives the bytes of the data file and those of an earlier copy.
   * @throws {Error} if a process ends by a signal, a damage is served as data, or the check misses one that a read meets.
   */
  async examine(end: StoreEnd, damage: (bytes: Buffer, earlier: Buffer) => Buffer): Promise<DamageOutcome> {
    const dataDir = path.join(this.folder, "damaged");
    rmSync(dataDir, { recursive: true, force: true });
    cpSync(this.dataDir(end), dataDir, { recursive: true });
    const file = path.join(dataDir, "store/data.mdb");
    const bytes = damage(readFileSync(file), this.earlier);
    writeFileSync(file, bytes);
    truncateSync(file, bytes.length);
    const check = await checkApart(dataDir);
    if (check.signal !== null || check.output.includes("ended a process by SIG"))
      throw new Error(`the check ended by a signal: ${check.signal} ${check.output}`);
    const answers = await this.serve(dataDir);
    if (typeof answers !== "string") return this.compare(answers, check);
    if (!refusal.test(answers)) throw new Error(`the server did not start: ${answers}`);
    if (check.code !== 1)
      throw new Error(`the check missed the damage for which the server refuses: ${answers}`);
    return "refused";
  }

  private async fill(): Promise<void> {
    writeFileSync(this.tokens, "admin,root,1,system:masters\n");
    const dataDir = this.dataDir("clean");
    const server = await this.start(dataDir);
    const admin = server.as("admin");
    const put = async (method: "POST" | "PUT", name: string, text: string) => {
      const at = method === "POST" ? maps : `${maps}/${name}`;
      const { status, body } = await admin.ask(method, at, { body: { metadata: { name }, data: { text } } });
      if (status !== 200 && status !== 201) throw new Error(`${name}: ${status}`);
      return body.metadata.resourceVersion as string;
    };
    for (const [i, name] of names.entries()) {
      this.earlierRevision = await put("POST", name, `${name} `.repeat(i % 10 === 0 ? 3000 : 100));
    }
    this.earlier = readFileSync(path.join(dataDir, "store/data.mdb"));
    for (const name of names.filter((_, i) => i % 4 === 1)) {
      this.lastRevision = await put("PUT", name, `${name} changed `.repeat(80));
    }
    this.answers = await this.read(admin);
    await server.stop();
    cpSync(dataDir, this.dataDir("killed"), { recursive: true });
    const killed = await this.start(this.dataDir("killed"));
    await killed.stop("SIGKILL");
  }

  /** What a server over the folder answers, or the error if it refuses to start. */
  private async serve(dataDir: string): Promise<Answers | string> {
    let server: ServerProcess;
    try {
      server = await this.start(dataDir);
    } catch (error) {
      return (error as Error).message;
    }
    let answers: Answers;
    try {
      answers = await this.read(server.as("admin"));
    } finally {
      await server.stop();
    }
    const code = await server.ended();
    if (code !== 0) throw new Error(`the server ended with ${code}: ${server.log()}`);
    return answers;
  }

  private async read(admin: Api): Promise<Answers> {
    const answers = new Map<string, readonly [number, string]>();
    for (const name of names) {
      const { status, text } = await admin.get(`${maps}/${name}`);
      answers.set(name, [status, text]);
    }
    const exact = `?resourceVersion=${this.earlierRevision}&resourceVersionMatch=Exact`;
    for (const query of ["", exact]) {
      const { status, body, text } = await admin.get(`${maps}${query}`);
      answers.set(`list${query}`, [status, status === 200 ? JSON.stringify(body.items) : text]);
    }
    answers.set("watch", await this.watched(admin));
    return answers;
  }

  /** The events after the earlier revision; those of an error count as a failed read. */
  private async watched(admin: Api): Promise<readonly [status: number, text: string]> {
    const watch = await admin.watch(`${maps}?resourceVersion=${this.earlierRevision}&timeoutSeconds=5`);
    try {
      const frames = await watch.through(
        ({ type, object }) => type === "ERROR" || object.metadata?.resourceVersion === this.lastRevision,
      );
      const last = frames.at(-1)!;
      if (last.type === "ERROR") return [(last.object as { code: number }).code, JSON.stringify(last.object)];
      return [200, JSON.stringify(frames)];
    } catch (error) {
      // A refused request has no events; a watch without the last event is a wrong answer.
      return [watch.status, String(error)];
    } finally {
      watch.close();
    }
  }

  /** Compares the answers over the damaged store with those over the sound one. */
  private compare(answers: Answers, { code, output }: Exit): DamageOutcome {
    let failures = 0;
    for (const [what, [status, text]] of this.answers) {
      const [actualStatus, actualText] = answers.get(what)!;
      if (actualStatus === status && actualText === text) continue;
      failures++;
      if (actualStatus === 200)
        throw new Error(`the damaged answer to ${what} is served: ${actualText.slice(0, 500)}`);
      if (actualStatus !== 500 && actualStatus !== 410)
        throw new Error(`the answer to ${what} is ${actualStatus}: ${actualText}`);
      if (code !== 1)
        throw new Error(`the check missed what the read of ${what} met: ${output} ${actualText}`);
    }
    if (code === 0) return "harmless";
    return failures > 0 ? "failed reads" : "checked only";
  }
}

const refusal = /^the server ended with 1: .*(damaged|CORRUPTED|cut off|format version|can't be)/s;

/** Runs `plinth check`. */
export async function checkApart(dataDir: string): Promise<Exit> {
  return run("check", `--data-dir=${dataDir}`);
}

/** Runs the program to its end. */
export async function run(...words: readonly string[]): Promise<Exit> {
  const child = spawn(process.execPath, [...shortRun, program, ...words]);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => (output += text.toString()));
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code, signal, output };
}
