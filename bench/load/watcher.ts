import type { TLSSocket } from "node:tls";
import { openSocket } from "./connection.ts";
import type { Address } from "./plan.ts";

const frameEnd = Buffer.from("}\n");
const brace = 0x7d;
const newline = 0x0a;

/** Reads a watch and counts its frames: each is a line of JSON, so it ends in a brace and a newline. */
export class Watcher {
  frames = 0;
  bytes = 0;
  private started = false;
  private endsInBrace = false;
  private lost: string | undefined;

  private constructor(private readonly socket: TLSSocket) {}

  /** Resolves when the watch has begun. */
  static async open(address: Address, text: string): Promise<Watcher> {
    const socket = await openSocket(address);
    const watcher = new Watcher(socket);
    await new Promise<void>((resolve, reject) => {
      socket.on("data", (bytes: Buffer) => {
        if (!watcher.started) {
          watcher.started = true;
          const status = bytes.toString("latin1", 9, 12);
          if (status === "200") resolve();
          else reject(new Error(`the watch was refused: ${bytes.toString("latin1", 0, 2000)}`));
        }
        watcher.count(bytes);
      });
      socket.on("error", reject);
      socket.on("close", () => {
        watcher.lost = "the server ended a watch";
        reject(new Error(watcher.lost));
      });
      socket.write(text);
    });
    return watcher;
  }

  get failure(): string | undefined {
    return this.lost;
  }

  close(): void {
    this.socket.destroy();
  }

  private count(bytes: Buffer): void {
    this.bytes += bytes.length;
    if (this.endsInBrace && bytes[0] === newline) this.frames++;
    for (let at = bytes.indexOf(frameEnd); at !== -1; at = bytes.indexOf(frameEnd, at + 2)) this.frames++;
    this.endsInBrace = bytes[bytes.length - 1] === brace;
  }
}
