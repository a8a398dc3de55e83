import type { Dice } from "../../support/dice.ts";
import { RecordingClient } from "./client.ts";
import type { Endpoint } from "./http.ts";
import type { Recorder } from "./recorder.ts";

/** The servers that clients may use at present, and the connections of the clients to them. */
export class Fleet {
  /** Whether the workload has ended and watches only have to receive the remaining events. */
  isSettling = false;
  private readonly endpoints = new Map<string, Endpoint>();
  private readonly clients = new Map<string, RecordingClient>();

  constructor(
    readonly recorder: Recorder,
    /** Time after which a client gives a request up, in milliseconds. */
    private readonly timeoutMs: number,
  ) {}

  /** Adds a server, or replaces the one with the same name. */
  add(endpoint: Endpoint): void {
    this.remove(endpoint.name);
    this.endpoints.set(endpoint.name, endpoint);
  }

  /** Removes a server; its clients' connections end. */
  remove(server: string): void {
    this.endpoints.delete(server);
    for (const [name, client] of this.clients) {
      if (!name.startsWith(`${server} `)) continue;
      client.close();
      this.clients.delete(name);
    }
  }

  /** Returns a client's connection to a random server; undefined if there is none. */
  client(name: string, user: string, dice: Dice): RecordingClient | undefined {
    const endpoints = [...this.endpoints.values()];
    if (endpoints.length === 0) return undefined;
    const endpoint = dice.pick(endpoints);
    const id = `${endpoint.name} ${user} ${name}`;
    let client = this.clients.get(id);
    if (client === undefined) {
      client = new RecordingClient(name, user, endpoint, this.recorder, this.timeoutMs);
      this.clients.set(id, client);
    }
    return client;
  }

  close(): void {
    for (const name of this.endpoints.keys()) this.remove(name);
  }
}
