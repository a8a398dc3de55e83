import { BinaryReader } from "@bufbuild/protobuf/wire";
import { beforeAll, expect, test } from "vitest";
import { SharedBudget } from "../../src/flow/shared-budget.ts";
import { BufferedParts, bufferedListsOfProcess } from "../../src/http/verbs/buffered-parts.ts";
import { openEnvelope } from "../../src/schema/protobuf/envelope.ts";
import { configMap, ok } from "../api/support.ts";
import { useServer } from "../support/use-server.ts";

const mebibyte = 1024 * 1024;
const part = new Uint8Array(mebibyte);

function buffered(budget: SharedBudget, caller: string, parts: number): BufferedParts {
  const list = new BufferedParts(budget, caller);
  for (let count = 0; count < parts; count++) list.add(part);
  return list;
}

test("a short list is buffered without the budget", () => {
  const budget = new SharedBudget(0, 0);
  expect(buffered(budget, "anna", 4).all).toHaveLength(4);
  const longer = buffered(budget, "anna", 5);
  expect([longer.all, longer.length]).toEqual([undefined, 5 * mebibyte]);
});

test("a list above the share of its user is dropped and counted to its end", () => {
  const budget = new SharedBudget(16 * mebibyte, 0);
  const long = buffered(budget, "anna", 12);
  expect(long.all).toHaveLength(12);
  const second = buffered(budget, "anna", 8);
  expect([second.all, second.length]).toEqual([undefined, 8 * mebibyte]);
  expect(buffered(budget, "bert", 8).all).toHaveLength(8);
  long.drop();
  expect(buffered(budget, "anna", 9).all).toHaveLength(9);
});

test("dropping a list releases its bytes once", () => {
  const budget = new SharedBudget(16 * mebibyte, 0);
  const list = buffered(budget, "anna", 10);
  expect(budget.taken).toBe(6 * mebibyte);
  list.drop();
  list.drop();
  expect(budget.taken).toBe(0);
});

test("processes that serve the same port share the budget", () => {
  expect([1, 2, 4].map((processes) => bufferedListsOfProcess(processes).limit / mebibyte)).toEqual([
    128, 64, 32,
  ]);
});

const configMaps = "/api/v1/namespaces/default/configmaps";
const server = useServer();
/** With its kind's own bytes an object has a little more than this. */
const textBytes = 1_000_000;
const count = 72;

beforeAll(async () => {
  for (let index = 0; index < count; index++) {
    const { metadata, ...rest } = configMap(nameOf(index), { text: textOf(index).toString() });
    await ok(
      server.admin.post(configMaps, { ...rest, metadata: { ...metadata, labels: { some: partOf(index) } } }),
    );
  }
});

const texts = Array.from({ length: 10 }, (_, index) => Buffer.from(String(index).repeat(textBytes)));
const textOf = (index: number) => texts[index % 10]!;
const nameOf = (index: number) => `map-${String(index).padStart(2, "0")}`;
const partOf = (index: number) => (index < 10 ? "first" : "last");

test.each([
  ["buffered", "?labelSelector=some%3Dfirst", 10],
  ["too long to be buffered", "", count],
])("a binary list that is %s has every object once, in order", async (_, query, length) => {
  const accept = "application/vnd.platform.protobuf";
  const { bytes } = await ok(server.admin.get(`${configMaps}${query}`, { accept }));
  const { kind, message } = openEnvelope(bytes);
  expect(kind).toBe("ConfigMapList");
  const items: Buffer[] = [];
  for (const reader = new BinaryReader(message); reader.pos < reader.len;) {
    const [field, type] = reader.tag();
    if (field === 2) items.push(Buffer.from(reader.bytes()));
    else reader.skip(type);
  }
  expect(items).toHaveLength(length);
  for (const [index, item] of items.entries()) {
    expect(item.includes(nameOf(index))).toBe(true);
    expect(item.includes(textOf(index))).toBe(true);
  }
});
