import type { Dice } from "../../support/dice.ts";
import type { RecordingClient } from "./client.ts";
import type { Recorder } from "./recorder.ts";

/** Connects a client with a name to a server, as a user, and to a workspace unless it is undefined. */
type Connect = (name: string, user: string, workspace: string | undefined) => RecordingClient;

/** The servers that clients may use at present, and the connections of the clients to them. */
export class Fleet {
  private readonly servers = new Map<string, Connect>();
  private readonly clients = new Map<string, RecordingClient>();

  constructor(readonly recorder: Recorder) {}

  /** Adds a server, or replaces the one with the same name. */
  add(server: string, connect: Connect): void {
    this.remove(server);
    this.servers.set(server, connect);
  }

  /** Removes a server; its clients' connections end. */
  remove(server: string): void {
    this.servers.delete(server);
    for (const [name, client] of this.clients) {
      if (!name.startsWith(`${server} `)) continue;
      client.close();
      this.clients.delete(name);
    }
  }

  /** Returns a client's connection to a random server, and to a workspace if one is named; undefined if there is none. */
  client(name: string, user: string, dice: Dice, workspace?: string): RecordingClient | undefined {
    const servers = [...this.servers];
    if (servers.length === 0) return undefined;
    const [server, connect] = dice.pick(servers);
    const id = `${server} ${user} ${name} ${workspace ?? ""}`;
    let client = this.clients.get(id);
    if (client === undefined) {
      client = connect(name, user, workspace);
      this.clients.set(id, client);
    }
    return client;
  }

  /** Ends the connections to a workspace. */
  leave(workspace: string): void {
    for (const [name, client] of this.clients) {
      if (!name.endsWith(` ${workspace}`)) continue;
      client.close();
      this.clients.delete(name);
    }
  }

  close(): void {
    for (const name of this.servers.keys()) this.remove(name);
  }
}
