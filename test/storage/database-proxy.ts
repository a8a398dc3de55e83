import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** What happens to the next commit of a client: its answer is lost, or it arrives only after {@link DatabaseProxy.release}. */
export type Fate = "loseAnswer" | "delayRequest";

/** Forwards connections to a database, and loses or delays chosen commits. */
export class DatabaseProxy {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly delayed: (() => void)[] = [];
  /** Fates of the next commits. */
  readonly fates: Fate[] = [];
  /** Whether error messages have the severity of a database with another language. */
  translates = false;
  /** Whether nothing is forwarded to the database, as if it didn't answer. */
  stalls = false;
  /** Resolves when a commit has met its fate. */
  met: () => void = () => undefined;

  private constructor(private readonly databasePort: number) {
    this.server = createServer((client) => this.forward(client));
  }

  static async start(databasePort: number): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(databasePort);
    proxy.server.listen(0, "127.0.0.1");
    await once(proxy.server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Sends the delayed commits to the database; the connections to it end after their answers. */
  release(): void {
    for (const send of this.delayed.splice(0)) send();
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, "close");
  }

  private forward(client: Socket): void {
    const database = connect(this.databasePort, "127.0.0.1");
    let loses = false;
    let delays = false;
    for (const socket of [client, database]) {
      this.sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => this.sockets.delete(socket));
    }
    client.on("data", (chunk) => {
      if (this.stalls) return;
      const fate = /commit_\d/.test(chunk.toString("latin1")) ? this.fates.shift() : undefined;
      loses ||= fate === "loseAnswer";
      delays ||= fate === "delayRequest";
      if (!delays) return void database.write(chunk);
      this.delayed.push(() => database.write(chunk));
      this.met();
    });
    database.on("data", (chunk) => {
      if (!loses && !delays) return void client.write(this.translates ? translated(chunk) : chunk);
      client.destroy();
      if (loses) this.met();
    });
    client.once("close", () => {
      if (!delays) database.end();
    });
    database.once("close", () => client.destroy());
  }
}

/** Replaces the severity ERROR by another word of the same length. */
function translated(chunk: Buffer): Buffer {
  return Buffer.from(chunk.toString("latin1").replaceAll("SERROR\0", "SFALLO\0"), "latin1");
}
