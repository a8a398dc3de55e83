import { execFile, execFileSync, spawn, type ChildProcess } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, it } from "vitest";

/** A kubectl program that was found. */
export interface KubectlProgram {
  readonly path: string;
  /** As it says itself: `v1.20.2`. */
  readonly version: string;
  readonly minor: number;
}

/** The programs to test with: those of PLINTH_KUBECTL (separated by `:`), else the one on PATH. */
function findKubectl(): readonly KubectlProgram[] {
  const named = process.env["PLINTH_KUBECTL"] ?? "";
  if (named !== "") return named.split(":").map(describeProgram);
  const found = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "kubectl"));
  const path = found.find(isExecutable);
  return path === undefined ? [] : [describeProgram(path)];
}

/** The paths of the programs to test with. */
export function kubectls(): readonly string[] {
  return findKubectl().map((program) => program.path);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function describeProgram(path: string): KubectlProgram {
  const text = execFileSync(path, ["version", "--client", "-o", "json"], { encoding: "utf8", stdio: "pipe" });
  const { clientVersion } = JSON.parse(text) as { clientVersion: { gitVersion: string } };
  const version = clientVersion.gitVersion;
  return { path, version, minor: Number(/^v1\.(\d+)/.exec(version)?.[1] ?? 0) };
}

/** Describes tests for each kubectl; without any they are skipped, and the title says why. */
export function describeKubectl(title: string, tests: (program: KubectlProgram) => void): void {
  const programs = findKubectl();
  if (programs.length === 0) {
    describe.skip(`${title}: skipped, because there is no kubectl on PATH or in PLINTH_KUBECTL`, () => {
      it("needs kubectl", () => undefined);
    });
  }
  for (const program of programs) describe(`${title}, kubectl ${program.version}`, () => tests(program));
}

export interface RunOptions {
  /** Text for standard input. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A kubectl with a configuration, a home and a cache of its own in a temporary folder. */
export class Kubectl {
  readonly folder = mkdtempSync(join(tmpdir(), "plinth-kubectl-"));
  private readonly running = new Set<ChildProcess>();

  constructor(
    private readonly program: KubectlProgram,
    kubeconfig: string,
  ) {
    this.file("config", kubeconfig);
  }

  /** Writes a file into the temporary folder and gives its path. */
  file(name: string, text: string, mode = 0o600): string {
    const path = join(this.folder, name);
    writeFileSync(path, text, { mode });
    return path;
  }

  /** Runs a command to its end, whatever comes of it. */
  run(args: readonly string[], { input, env }: RunOptions = {}): Promise<RunResult> {
    return new Promise((resolve, reject) => {
      const child = execFile(
        this.program.path,
        this.arguments(args),
        { env: this.environment(env), encoding: "utf8", timeout: 55_000, maxBuffer: 32 * 1024 * 1024 },
        (error, stdout, stderr) => {
          if (error !== null && typeof error.code !== "number")
            return reject(new Error(`${args.join(" ")}: ${error.message}`));
          resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
        },
      );
      child.stdin!.on("error", () => undefined);
      child.stdin!.end(input ?? "");
    });
  }

  /** Runs a command that must succeed, and gives what it prints. */
  async ok(args: readonly string[], options?: RunOptions): Promise<string> {
    const result = await this.run(args, options);
    if (result.code === 0) return result.stdout;
    throw new Error(`kubectl ${args.join(" ")} ended with ${result.code}:\n${result.stderr}${result.stdout}`);
  }

  /** Runs a command that must fail, and gives what it complains of. */
  async fails(args: readonly string[], options?: RunOptions): Promise<string> {
    const result = await this.run(args, options);
    if (result.code !== 0) return result.stderr + result.stdout;
    throw new Error(`kubectl ${args.join(" ")} should have failed, but printed:\n${result.stdout}`);
  }

  /** What a command prints with `-o json`, parsed. */
  // Tests look into objects of any shape; a wrong shape fails the test.
  // oxlint-disable-next-line typescript/no-explicit-any
  async json(args: readonly string[]): Promise<any> {
    return JSON.parse(await this.ok([...args, "-o", "json"]));
  }

  /** Starts a command that goes on until it is stopped. */
  start(args: readonly string[]): RunningKubectl {
    const child = spawn(this.program.path, this.arguments(args), {
      env: this.environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.running.add(child);
    child.once("close", () => this.running.delete(child));
    return new RunningKubectl(child);
  }

  /** Ends what still runs and removes the temporary folder. */
  async close(): Promise<void> {
    await Promise.all([...this.running].map((child) => end(child)));
    rmSync(this.folder, { recursive: true, force: true });
  }

  private arguments(args: readonly string[]): string[] {
    return [`--cache-dir=${join(this.folder, "cache")}`, ...args];
  }

  private environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const path = process.env["PATH"] ?? "";
    return {
      PATH: path,
      HOME: this.folder,
      TMPDIR: this.folder,
      // Runs are too short for a garbage collection to be worth its time.
      GOGC: "off",
      KUBECONFIG: join(this.folder, "config"),
      ...more,
    };
  }
}

/** A command under way, with the lines that it has printed so far. */
export class RunningKubectl {
  private text = "";
  private ended = false;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly child: ChildProcess) {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding("utf8");
      stream.on("data", (text: string) => {
        this.text += text;
        this.wake();
      });
    }
    child.once("close", () => {
      this.ended = true;
      this.wake();
    });
  }

  /** Waits for a line that matches. */
  async line(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = this.text.split("\n").find((line) => pattern.test(line));
      if (found !== undefined) return found;
      if (this.ended)
        throw new Error(`kubectl ended without a line like ${pattern}; it printed:\n${this.text}`);
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  stop(): Promise<void> {
    return end(this.child);
  }

  private wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("close", () => resolve());
    child.kill("SIGTERM");
  });
}
