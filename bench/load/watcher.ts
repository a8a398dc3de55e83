import type { TLSSocket } from "node:tls";
import { openSocket } from "./connection.ts";
import type { Address } from "./plan.ts";

const lineEnd = "}\n";

/** Reads a watch and counts its frames by a mark that each has once; the default is the end of a JSON line. */
export class Watcher {
  frames = 0;
  bytes = 0;
  private started = false;
  /** The last bytes, one fewer than the mark has. */
  private tail = Buffer.alloc(0);
  private lost: string | undefined;

  private constructor(
    private readonly socket: TLSSocket,
    private readonly mark: Buffer,
  ) {}

  /** Resolves when the watch has begun. */
  static async open(address: Address, text: string, mark = lineEnd): Promise<Watcher> {
    const socket = await openSocket(address);
    const watcher = new Watcher(socket, Buffer.from(mark));
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
    const { mark } = this;
    const tailLength = mark.length - 1;
    // A mark may be split between two chunks.
    if (Buffer.concat([this.tail, bytes.subarray(0, tailLength)]).includes(mark)) this.frames++;
    for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) this.frames++;
    this.tail =
      bytes.length >= tailLength
        ? Buffer.from(bytes.subarray(bytes.length - tailLength))
        : Buffer.concat([this.tail, bytes]).subarray(-tailLength);
  }
}
