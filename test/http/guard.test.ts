import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { HandlerGuard } from "../../src/http/transport/http-exchange.ts";

function fixture() {
  const reports: string[] = [];
  const ended: string[] = [];
  const guard = new HandlerGuard((error, event) => reports.push(`${event}: ${String(error)}`));
  const endable = (name: string) =>
    Object.assign(new EventEmitter(), { destroy: () => void ended.push(name) });
  return { reports, ended, guard, endable };
}

test("a handler that throws ends its connection, is reported, and leaves the other handlers alone", () => {
  const { reports, ended, guard, endable } = fixture();
  const socket = endable("socket");
  let others = 0;
  guard.on(
    socket,
    "data",
    () => {
      throw new Error("bytes");
    },
    socket,
  );
  guard.on(socket, "data", () => others++, socket);
  socket.emit("data", Buffer.from("x"));
  expect([reports, ended, others]).toEqual([["data: Error: bytes"], ["socket"], 1]);
});

test("a handler whose promise rejects ends its connection and is reported too", async () => {
  const { reports, ended, guard, endable } = fixture();
  const socket = endable("socket");
  guard.once(socket, "end", () => Promise.reject(new Error("later")), socket);
  socket.emit("end");
  await new Promise((resolve) => setImmediate(resolve));
  expect([reports, ended]).toEqual([["end: Error: later"], ["socket"]]);
});

test("without `ends`, the first parameter that can be closed is closed", () => {
  const { reports, ended, guard, endable } = fixture();
  const server = new EventEmitter();
  guard.on(server, "connection", () => {
    throw new Error("new");
  });
  server.emit("connection", "no stream", endable("first"), endable("second"));
  expect([reports.length, ended]).toEqual([1, ["first"]]);
});

test("a connection that can't be closed is reported too", () => {
  const { reports, guard, endable } = fixture();
  const socket = Object.assign(endable("socket"), {
    destroy: () => {
      throw new Error("stuck");
    },
  });
  guard.run(
    "request",
    () => {
      throw new Error("bytes");
    },
    socket,
  );
  expect(reports).toEqual(["request: Error: bytes", "request: Error: stuck"]);
});
