import { describe, expect, test } from "vitest";
import {
  type EndedConnection,
  ResponseBacklogs,
  unreadBytesOfProcess,
} from "../../src/http/transport/response-backlog.ts";

const mib = 1024 * 1024;
const anna = { caller: "anna", exempt: false };
const ben = { caller: "ben", exempt: false };

function fixture(limit = 800) {
  const ended: EndedConnection[] = [];
  const gone: string[] = [];
  const backlog = new ResponseBacklogs((connection) => ended.push(connection), limit);
  const connection = (name: string) => backlog.connection(() => void gone.push(name));
  return { ended, gone, backlog, connection };
}

describe("answers that aren't taken", () => {
  test("beyond a user's share, the user's connection that holds most is ended", () => {
    const { ended, gone, connection } = fixture();
    const [small, large, others] = [connection("small"), connection("large"), connection("others")];
    others.answer(ben).set(170);
    small.answer(anna).set(50);
    large.answer(anna).set(150);
    small.answer(anna).set(100);
    expect(gone).toEqual(["large"]);
    expect(ended).toEqual([{ reason: "caller", caller: "anna", backlogBytes: 150 }]);
    expect([small.bytes, large.bytes, others.bytes]).toEqual([150, 0, 170]);
  });

  test("beyond what the server has, the connection that holds most is ended", () => {
    const { gone, connection } = fixture();
    const admin = { caller: "admin", exempt: true };
    const [one, two] = [connection("one"), connection("two")];
    one.answer(admin).set(500);
    two.answer(anna).set(90);
    two.answer(admin).set(300);
    expect(gone).toEqual(["one"]);
    expect(two.bytes).toBe(390);
  });

  test("an answer larger than everything ends its own connection, and a later one there is free", () => {
    const { gone, connection } = fixture();
    const one = connection("one");
    const answer = one.answer(anna);
    answer.set(801);
    one.answer(anna).set(10);
    expect([gone, one.bytes, answer.bytes]).toEqual([["one"], 0, 0]);
  });

  test("of one connection are bounded, and let no further request begin before some are taken", async () => {
    const { ended, connection } = fixture(1024 * mib);
    const one = connection("one");
    const [first, second] = [one.answer(anna), one.answer(ben)];
    first.set(15 * mib);
    expect(one.room()).toBeUndefined();
    second.set(5 * mib);
    let roomy = false;
    const room = one.room()!.then(() => (roomy = true));
    second.set(3 * mib);
    await Promise.resolve();
    expect(roomy).toBe(false);
    second.set(0);
    await room;
    second.set(120 * mib);
    expect(ended.map(({ reason }) => reason)).toEqual(["connection"]);
    expect(one.room()).toBeUndefined();
  });

  test("share the limit of the server when several processes serve the same port", () => {
    const mebibytes = (processes: number) => unreadBytesOfProcess(processes) / 1024 ** 2;
    expect([1, 2, 4, 64].map(mebibytes)).toEqual([256, 128, 64, 64]);
  });

  test("tell when they are taken, also by the end of their connection", () => {
    const { connection } = fixture();
    const told: string[] = [];
    const one = connection("one");
    const [first, second] = [one.answer(anna), one.answer(anna)];
    for (const [name, answer] of [
      ["first", first],
      ["second", second],
    ] as const) {
      answer.set(100);
      answer.onTaken(() => told.push(name));
    }
    first.set(40);
    first.set(0);
    one.answer(ben).set(2000);
    expect(told).toEqual(["first", "second"]);
  });

  test("with the same bytes are held once", () => {
    const { backlog, connection } = fixture(100 * mib);
    const body = () => Buffer.alloc(20_000, "x");
    const held = body();
    const answer = connection("one").answer(anna);
    const other = body();
    expect(backlog.shared(other)).toBe(other);
    answer.hold(held);
    expect(backlog.shared(other)).toBe(held);
    expect(backlog.shared(Buffer.alloc(20_000, "y")).includes("x")).toBe(false);
    answer.set(0);
    expect(backlog.shared(other)).toBe(other);
  });
});
