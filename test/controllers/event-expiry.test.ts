import { expect, test } from "vitest";
import { createServer } from "../../src/index.ts";
import { ManualClock } from "../api/support.ts";

const hour = 60 * 60 * 1000;

test("an Event is deleted when its lastTimestamp, or creation, is older than eventLifeMs", async () => {
  const clock = new ManualClock();
  const server = await createServer({ port: false, clock, eventLifeMs: hour });
  const { client } = server;
  const at = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
  const make = (name: string, lastTimestamp?: string) =>
    client.create({
      apiVersion: "v1",
      kind: "Event",
      metadata: { name, namespace: "default" },
      involvedObject: { namespace: "default" },
      ...(lastTimestamp === undefined ? {} : { lastTimestamp }),
    });
  const names = async () =>
    (await client.list({ apiVersion: "v1", kind: "Event" })).items.map(({ metadata }) => metadata.name);
  await make("old");
  await make("again", at(clock.now() + hour / 2));
  await clock.advance(hour * 0.9);
  expect(await names()).toEqual(["again", "old"]);
  await clock.advance(hour * 0.3);
  await expect.poll(names).toEqual(["again"]);
  await clock.advance(hour);
  await expect.poll(names).toEqual([]);
  await server.close();
});
