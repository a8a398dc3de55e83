import { createServer } from "node:https";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createServingCertificates } from "../../../src/base/certificates/serving-certificates.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import { WebhookConverter } from "../../../src/custom-resources/conversion/webhook-converter.ts";
import { WebhookCaller } from "../../../src/remote/webhook-caller.ts";
import type { ApiObject } from "../../../src/schema/kind.ts";
import { platform } from "../../../src/vocabulary/platform.ts";

const { serving, caCertificate } = createServingCertificates(["127.0.0.1"]);
let respond: (response: ServerResponse, objects: readonly ApiObject[], uid: string) => void;
const sizes: number[] = [];
const webhook = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const text = Buffer.concat(chunks).toString();
    const { request: asked } = JSON.parse(text) as { request: { objects: ApiObject[]; uid: string } };
    sizes.push(text.length);
    respond(response, asked.objects, asked.uid);
  });
});
const caller = new WebhookCaller(systemClock, () => Promise.reject(new Error("no services here")));
beforeAll(() => new Promise<void>((resolve) => void webhook.listen(0, "127.0.0.1", resolve)));
afterAll(async () => {
  await caller.close();
  webhook.closeAllConnections();
  webhook.close();
});

const converter = (timeoutMs: number) =>
  new WebhookConverter(
    {
      definition: "things.example.com",
      clientConfig: {
        url: `https://127.0.0.1:${(webhook.address() as AddressInfo).port}/`,
        caBundle: Buffer.from(caCertificate).toString("base64"),
      },
      reviewVersions: ["v1"],
    },
    { caller, newUid: () => "uid", vocabulary: platform, timeoutMs },
  );
const thing = (name: string, version = "v1", more: object = {}): ApiObject => ({
  apiVersion: `example.com/${version}`,
  kind: "Thing",
  metadata: { name },
  ...more,
});
const answer = (objects: readonly ApiObject[], uid: string) => ({
  apiVersion: "apiextensions.platform.io/v1",
  kind: "ConversionReview",
  response: {
    uid,
    result: { status: "Success" },
    convertedObjects: objects.map((one) => ({ ...one, apiVersion: "example.com/v2" })),
  },
});

test("objects already in the target version are not sent, and all objects are returned in order", async () => {
  respond = (response, objects, uid) => response.end(JSON.stringify(answer(objects, uid)));
  const objects = [thing("a"), thing("b", "v2"), thing("c", "v0")];
  const converted = await converter(5000).convert(objects, "example.com/v2");
  expect(converted.map(({ apiVersion, metadata }) => [apiVersion, metadata.name])).toEqual([
    ["example.com/v2", "a"],
    ["example.com/v2", "b"],
    ["example.com/v2", "c"],
  ]);
  expect(converted[1]).toBe(objects[1]);
});

test("conversion requests have a limited size, except for a single larger object", async () => {
  respond = (response, objects, uid) => response.end(JSON.stringify(answer(objects, uid)));
  sizes.length = 0;
  const data = "x".repeat(100_000);
  const objects = Array.from({ length: 20 }, (_, index) => thing(`n${index}`, "v1", { data }));
  objects.push(thing("large", "v1", { data: data.repeat(10) }));
  expect(await converter(5000).convert(objects, "example.com/v2")).toHaveLength(21);
  expect(sizes.length).toBe(11);
  expect(sizes.toSorted((a, b) => a - b).at(-2)).toBeLessThan(300_000);
});

test.each<[string, typeof respond]>([
  ["never answers", () => undefined],
  [
    "answers late",
    (response, objects, uid) =>
      void setTimeout(() => response.end(JSON.stringify(answer(objects, uid))), 1000),
  ],
  [
    "answers byte by byte",
    (response) => {
      const timer = setInterval(() => response.write(" "), 5);
      response.on("close", () => clearInterval(timer));
    },
  ],
])("a webhook that %s fails in time", async (_, attack) => {
  respond = attack;
  const start = performance.now();
  await expect(converter(200).convert([thing("a")], "example.com/v2")).rejects.toMatchObject({
    reason: "InternalError",
    message: expect.stringMatching(
      /^conversion webhook for example.com\/v1, Kind=Thing failed: .*things.example.com\)$/,
    ),
  });
  expect(performance.now() - start).toBeLessThan(900);
});

test("an invalid conversion webhook returns the reason", async () => {
  const wrong = (clientConfig: object, reviewVersions = ["v1"]) =>
    new WebhookConverter(
      { definition: "things.example.com", clientConfig, reviewVersions },
      { caller, newUid: () => "uid", vocabulary: platform },
    ).convert([thing("a")], "example.com/v2");
  await expect(wrong({ url: "ftp://x" })).rejects.toThrow(/must begin with https/);
  await expect(wrong({ url: "https://x" }, ["v3"])).rejects.toThrow(/known ConversionReview versions/);
});
