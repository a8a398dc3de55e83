import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { shortRun, typeScript } from "../support/root.ts";

/** A TypeScript file run in a process of its own; its lines are read as they come. */
export class Child {
  readonly lines: string[] = [];
  private readonly process: ChildProcess;
  private readonly exited: Promise<unknown>;
  private readonly read: Promise<unknown>;
  errors = "";

  /** @param through a command put before node, for instance to set limits. */
  constructor(file: string, args: readonly string[], through: readonly string[] = []) {
    const script = fileURLToPath(new URL(file, import.meta.url));
    const [command = "", ...rest] = [
      ...through,
      process.execPath,
      ...shortRun,
      ...typeScript,
      script,
      ...args,
    ];
    this.process = spawn(command, rest, { stdio: ["pipe", "pipe", "pipe"] });
    this.exited = once(this.process, "exit");
    this.process.stderr!.on("data", (chunk: Buffer) => (this.errors += chunk.toString()));
    const reader = createInterface({ input: this.process.stdout! });
    reader.on("line", (line) => this.lines.push(line));
    this.read = once(reader, "close");
  }

  get pid(): number {
    return this.process.pid!;
  }

  /** Lets a process go on that was stopped. */
  continue(): void {
    this.process.kill("SIGCONT");
  }

  get running(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  /** Waits until a condition on the lines holds. */
  async until(condition: (lines: readonly string[]) => boolean): Promise<void> {
    while (!condition(this.lines)) {
      if (!this.running) throw new Error(`the child ended: ${this.errors}`);
      // Not without a pause: the child needs the processor.
      await setTimeout(2);
    }
  }

  send(line: string): void {
    this.process.stdin!.write(`${line}\n`);
  }

  /** Kills the process at once; resolves when all that it wrote has been read. */
  async kill(): Promise<void> {
    if (this.running) this.process.kill("SIGKILL");
    await this.ended();
  }

  /** Resolves when the process has ended by itself. */
  async ended(): Promise<void> {
    await Promise.all([this.exited, this.read]);
  }
}
