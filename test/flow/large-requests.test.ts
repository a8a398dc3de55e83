import { describe, expect, test } from "vitest";
import { LargeRequests, type LargeRequest } from "../../src/flow/large-requests.ts";

/** A client that the test can disconnect. */
class Client {
  private readonly listeners: (() => void)[] = [];
  onClose = (listener: () => void): void => void this.listeners.push(listener);
  leave(): void {
    for (const listener of this.listeners) listener();
  }
}

const requests = () => new LargeRequests({ server: 100, user: 60 });

/** Takes memory, and says when it has it. */
function take(request: LargeRequest, bytes: number): { admitted: boolean; done: Promise<void> } {
  const state = { admitted: false, done: Promise.resolve() };
  const wait = request.take(bytes);
  if (wait === undefined) state.admitted = true;
  else state.done = wait.then(() => void (state.admitted = true));
  return state;
}

/** Lets promises that can be settled settle. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("the memory of large requests", () => {
  test("a user's requests above the user limit wait in order, and those of another user do not wait", async () => {
    const all = requests();
    const [first, second, third, other] = ["eve", "eve", "eve", "bob"].map((user) =>
      all.request(user, new Client()),
    ) as [LargeRequest, LargeRequest, LargeRequest, LargeRequest];
    expect(take(first, 40).admitted).toBe(true);
    const waits = [take(second, 30), take(third, 10)];
    expect(take(other, 40).admitted).toBe(true);
    await settle();
    // The third would fit, and stays behind the second.
    expect(waits.map(({ admitted }) => admitted)).toEqual([false, false]);
    first.release();
    await settle();
    expect(waits.map(({ admitted }) => admitted)).toEqual([true, true]);
  });

  test("the only request of a user or of the server is admitted regardless of its size", () => {
    const all = requests();
    const large = all.request("eve", new Client());
    expect(take(large, 1000).admitted).toBe(true);
    large.release();
    expect(take(all.request("bob", new Client()), 20).admitted).toBe(true);
    expect(take(all.request("eve", new Client()), 70).admitted).toBe(true);
  });

  test("users above the server limit are admitted in rotation, and new requests do not overtake them", async () => {
    const all = requests();
    const holders = ["a", "b"].map((user) => all.request(user, new Client()));
    for (const holder of holders) take(holder, 50);
    const order: string[] = [];
    const waiting = ["eve", "eve", "bob"].map((user) => {
      const request = all.request(user, new Client());
      const wait = request.take(50)!.then(() => order.push(user));
      return { request, wait };
    });
    const small = take(all.request("tim", new Client()), 1);
    await settle();
    expect([order, small.admitted]).toEqual([[], false]);
    holders[0]!.release();
    await settle();
    expect(order).toEqual(["eve"]);
    holders[1]!.release();
    await settle();
    expect(order).toEqual(["eve", "bob"]);
    waiting[0]!.request.release();
    await settle();
    // The small one's user is before the user who was served already.
    expect([order, small.admitted]).toEqual([["eve", "bob"], true]);
    waiting[2]!.request.release();
    await settle();
    expect(order).toEqual(["eve", "bob", "eve"]);
  });

  test("two requests that need more memory do not deadlock", async () => {
    const all = requests();
    const [one, two] = [all.request("eve", new Client()), all.request("eve", new Client())];
    take(one!, 30);
    take(two!, 30);
    const further = [take(one!, 20), take(two!, 20)];
    await settle();
    expect(further.map(({ admitted }) => admitted)).toEqual([true, false]);
    one!.release();
    await settle();
    expect(further[1]!.admitted).toBe(true);
  });

  test("a waiting request is rejected when its client disconnects, and the next one is admitted", async () => {
    const all = requests();
    const holder = all.request("eve", new Client());
    take(holder, 40);
    const client = new Client();
    const refused = all.request("eve", client).take(50);
    const next = take(all.request("eve", new Client()), 10);
    await settle();
    expect(next.admitted).toBe(false);
    client.leave();
    await expect(refused).rejects.toMatchObject({ reason: "TooManyRequests" });
    await settle();
    expect(next.admitted).toBe(true);
  });
});
