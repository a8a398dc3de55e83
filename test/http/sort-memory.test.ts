import { expect, test } from "vitest";
import { storeConfigMaps } from "../support/stored-config-maps.ts";
import { SharedBudget } from "../../src/flow/shared-budget.ts";
import { RequestSortMemory, sortedListsOfProcess } from "../../src/http/verbs/sort-memory.ts";
import { ok } from "../api/support.ts";
import type { TestServer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";

const mebibyte = 1024 * 1024;
const refusal = (who: string) =>
  expect.objectContaining({ code: 429, message: expect.stringContaining(who) });
const attempt = (memory: RequestSortMemory, bytes: number) => {
  try {
    memory.reserve(bytes);
  } catch (error) {
    return error;
  }
  return undefined;
};

test("a sorted list takes nothing of the budget up to one mebibyte", () => {
  const budget = new SharedBudget(0, 0);
  const memory = new RequestSortMemory(budget, "anna");
  expect(attempt(memory, mebibyte)).toBeUndefined();
  expect(attempt(memory, mebibyte + 1)).toEqual(refusal("all users"));
});

test("the sorted lists of a user take at most half of the budget, and release it once", () => {
  const budget = new SharedBudget(16 * mebibyte, 0);
  const [one, two] = [new RequestSortMemory(budget, "anna"), new RequestSortMemory(budget, "anna")];
  for (let bytes = 0; bytes <= 6 * mebibyte; bytes += 1000) one.reserve(bytes);
  expect(budget.taken).toBe(5 * mebibyte);
  expect(attempt(two, 5 * mebibyte)).toEqual(refusal("this user"));
  expect(attempt(new RequestSortMemory(budget, "bert"), 5 * mebibyte)).toBeUndefined();
  // A second sort of the same list uses the same bytes.
  one.reserve(6 * mebibyte);
  expect(budget.taken).toBe(9 * mebibyte);
  one.release();
  one.release();
  expect(budget.taken).toBe(4 * mebibyte);
});

test("a user of one of several processes can sort the largest list", () => {
  expect([1, 2, 8].map((processes) => sortedListsOfProcess(processes).limit / mebibyte)).toEqual([
    128, 64, 64,
  ]);
});

const server = useServer();
const configMaps = "/api/v1/namespaces/default/configmaps";
/** The budget of the server; the items of the test's list take more than a mebibyte. */
const budgetOf = (of: TestServer): SharedBudget =>
  (of.server as unknown as { parts: { service: { sortedLists: SharedBudget } } }).parts.service.sortedLists;

test("a sorted list of a server without free memory is TooManyRequests; in chunks it is served", async () => {
  const { admin } = server;
  const name = (index: number) => `${"n".repeat(230)}-${index}`;
  await storeConfigMaps(
    server,
    "default",
    Array.from({ length: 2600 }, (_, index) => ({ name: name(index) })),
  );
  const sorted = `${configMaps}?sort=-metadata.name`;
  const budget = budgetOf(server);
  const whole = await ok(admin.get(sorted));
  expect([whole.body.items.length, budget.taken]).toEqual([2600, 0]);
  const other = { caller: "other", exempt: true };
  budget.take(other, budget.limit);
  const { status, body, headers } = await admin.get(sorted);
  expect([status, body.reason, headers["retry-after"]]).toEqual([429, "TooManyRequests", "1"]);
  expect(body.message).toContain("parameter sort: the sorted lists of all users need too much memory");
  expect((await ok(admin.get(`${sorted}&limit=500`))).body.items).toHaveLength(500);
  budget.give(other, budget.limit);
  expect([(await admin.get(sorted)).status, budget.taken]).toEqual([200, 0]);
});
