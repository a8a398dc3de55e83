import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { HandlerGuard } from "../../src/http/transport/http-exchange.ts";
import { HandshakePace } from "../../src/http/transport/handshake-pace.ts";

class Connection extends EventEmitter {
  destroyed = false;
  constructor(readonly remoteAddress: string) {
    super();
  }
  destroy(): void {
    this.destroyed = true;
  }
}

function fixture() {
  const errors: unknown[] = [];
  const turns: (() => void)[] = [];
  const guard = new HandlerGuard((error) => errors.push(error));
  const pace = new HandshakePace(guard, { nowMs: () => 0, later: (task) => void turns.push(task) });
  const begun: string[] = [];
  const connect = (name: string, address = "10.0.0.1", begin = () => void begun.push(name)): Connection => {
    const connection = new Connection(address);
    pace.add(connection as unknown as Socket, begin);
    return connection;
  };
  const turn = (): void => turns.shift()!();
  return { begun, connect, turn, turns, errors };
}

const names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

test("a few handshakes begin at once, further ones in later turns, in order", () => {
  const { begun, connect, turn, turns } = fixture();
  for (const name of names) connect(name);
  expect(begun).toEqual(names.slice(0, 4));
  turn();
  expect(begun).toEqual(names.slice(0, 8));
  turn();
  expect(begun).toEqual(names);
  turn();
  expect(turns).toEqual([]);
  connect("later");
  expect(begun.at(-1)).toBe("later");
});

test("a client with many connections doesn't delay the handshakes of another", () => {
  const { begun, connect, turn } = fixture();
  for (const name of names) connect(name);
  connect("other", "10.0.0.2");
  turn();
  expect(begun).toContain("other");
});

test("a connection that is closed while it waits has no handshake", () => {
  const { begun, connect, turn } = fixture();
  const connections = names.map((name) => connect(name));
  connections[4]!.destroy();
  connections[5]!.emit("error", new Error("reset"));
  expect(connections[5]!.destroyed).toBe(true);
  turn();
  turn();
  expect(begun).toEqual(["a", "b", "c", "d", "g", "h", "i"]);
});

test("a handshake that can't begin ends its connection and no other", () => {
  const { begun, connect, turn, errors } = fixture();
  for (const name of names.slice(0, 4)) connect(name);
  const failing = connect("failing", "10.0.0.1", () => {
    throw new Error("no handshake");
  });
  connect("next");
  turn();
  expect([failing.destroyed, errors.length, begun.at(-1)]).toEqual([true, 1, "next"]);
});
