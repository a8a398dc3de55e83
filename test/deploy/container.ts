import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { chmodSync, chownSync, cpSync, lstatSync, mkdirSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { healthCommandOf, lastOf, variablesOf, type Instruction, type Stage } from "./containerfile.ts";

/** Folders of the image that exist in the temporary folder only; other paths are of this machine. */
const imagePath = /(^|[\s=:])(?=\/(?:opt|data|tmp)\b)/g;

/**
 * An image without a container engine: each stage is a folder, and absolute paths of the image are paths in it. Base images are this
 * machine with its Node.
 */
export class Image {
  private readonly stages = new Map<string, string>();
  private readonly final: Stage;
  /** The file system of the image. */
  private readonly tree: string;

  /**
   * Runs the instructions.
   *
   * @param context folder whose files `COPY` copies
   * @throws {Error} if a step fails; the message has its output.
   */
  constructor(stages: readonly Stage[], context: string, folder: string) {
    for (const [at, stage] of stages.entries()) {
      const tree = path.join(folder, `stage-${at}`);
      mkdirSync(tree);
      this.stages.set(stage[0]!.words[2] ?? String(at), tree);
      for (const step of stage) this.runStep(step, tree, context);
    }
    this.final = stages.at(-1)!;
    this.tree = path.join(folder, `stage-${stages.length - 1}`);
    setWritable(this.tree, false, this.volumes);
  }

  /** Returns where a path of the image lies. */
  at(file: string): string {
    return path.join(this.tree, file);
  }

  /** Starts a command with the entry point; `CMD` without words. */
  start(...words: readonly string[]): ChildProcess {
    const entry = lastOf(this.final, "ENTRYPOINT").words;
    const command = words.length > 0 ? words : lastOf(this.final, "CMD").words;
    const [program, ...args] = [...entry, ...command].map((word) => within(this.tree, word));
    return spawn(program!, args, { ...this.processOptions(), stdio: ["ignore", "pipe", "pipe"] });
  }

  /** Runs a command as the user of the image. @returns its exit code and output */
  run(command: readonly string[]): { readonly code: number | null; readonly output: string } {
    const [program, ...args] = command.map((word) => within(this.tree, word));
    const options = { ...this.processOptions(), encoding: "utf8" } as const;
    const { status, stdout, stderr, error } = spawnSync(program!, args, options);
    if (error !== undefined) throw error;
    return { code: status, output: stdout + stderr };
  }

  /** Runs the health check. */
  checkHealth(): { readonly code: number | null; readonly output: string } {
    return this.run(healthCommandOf(this.final));
  }

  get stopSignal(): NodeJS.Signals {
    return lastOf(this.final, "STOPSIGNAL").text as NodeJS.Signals;
  }

  /** Paths of the files outside of the volumes. */
  files(): string[] {
    return readdirSync(this.tree, { recursive: true, encoding: "utf8" })
      .filter((file) => !this.volumes.some((volume) => `/${file}`.startsWith(volume)))
      .toSorted();
  }

  /** Makes the folders writable again, so that they can be removed. */
  close(): void {
    setWritable(this.tree, true, []);
  }

  private get volumes(): readonly string[] {
    return lastOf(this.final, "VOLUME").words;
  }

  private processOptions(): { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number } {
    const hostPath = process.env["PATH"] ?? "";
    // The temporary folder is one of the image, which is read-only.
    const env: NodeJS.ProcessEnv = { PATH: hostPath, TMPDIR: within(this.tree, "/tmp") };
    for (const [name, value] of variablesOf(this.final))
      env[name] = within(this.tree, value).replace("${PATH}", hostPath);
    const [uid, gid] = lastOf(this.final, "USER").text.split(":").map(Number) as [number, number];
    const cwd = this.at(lastOf(this.final, "WORKDIR").text);
    return process.getuid?.() === 0 ? { cwd, env, uid, gid } : { cwd, env };
  }

  private runStep(step: Instruction, tree: string, context: string): void {
    switch (step.name) {
      case "WORKDIR":
        mkdirSync(path.join(tree, step.text), { recursive: true });
        return;
      case "COPY":
        this.copy(step, tree, context);
        return;
      case "RUN":
        runShell(within(tree, step.text), tree);
        return;
      case "FROM":
      case "LABEL":
      case "ENV":
      case "USER":
      case "VOLUME":
      case "EXPOSE":
      case "STOPSIGNAL":
      case "HEALTHCHECK":
      case "ENTRYPOINT":
      case "CMD":
        return;
      default:
        throw new Error(`${step.name} is not supported`);
    }
  }

  private copy({ words, options }: Instruction, tree: string, context: string): void {
    const source = options["from"] === undefined ? context : this.stages.get(options["from"])!;
    const target = path.join(tree, words.at(-1)!);
    for (const file of words.slice(0, -1).flatMap((word) => expand(source, word))) {
      const into = words.at(-1)!.endsWith("/") ? path.join(target, path.basename(file)) : target;
      cpSync(file, into, { recursive: true, verbatimSymlinks: true });
    }
    const [uid, gid] = (options["chown"] ?? "").split(":").map(Number);
    if (gid !== undefined && process.getuid?.() === 0) chownSync(target, uid!, gid);
  }
}

/** Replaces paths of the image in a text by their places in a folder. */
function within(tree: string, text: string): string {
  return text.replaceAll(imagePath, `$1${tree}`);
}

/** Returns the files of a path whose last name may have one `*`. */
function expand(folder: string, word: string): string[] {
  const [before, after] = path.basename(word).split("*") as [string, string?];
  const parent = path.join(folder, path.dirname(word));
  if (after === undefined) return [path.join(parent, before)];
  const names = readdirSync(parent).filter((name) => name.startsWith(before) && name.endsWith(after));
  if (names.length === 0) throw new Error(`COPY ${word}: no such file`);
  return names.map((name) => path.join(parent, name));
}

function runShell(command: string, tree: string): void {
  const env = { ...process.env, npm_config_prefer_offline: "true", NODE_ENV: "" };
  const { status, stdout, stderr } = spawnSync("sh", ["-ec", command], { cwd: tree, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`RUN ${command}: exit code ${status}: ${stderr}${stdout}`);
}

/** Sets or takes the write permission of everything below a folder, without some paths in it. */
function setWritable(tree: string, isWritable: boolean, without: readonly string[], below = tree): void {
  if (without.includes(below.slice(tree.length)) || lstatSync(below).isSymbolicLink()) return;
  const { mode } = statSync(below);
  const readable = below === tree ? mode | 0o555 : mode;
  chmodSync(below, isWritable ? readable | 0o200 : readable & ~0o222);
  if (!statSync(below).isDirectory()) return;
  for (const name of readdirSync(below)) setWritable(tree, isWritable, without, path.join(below, name));
}
