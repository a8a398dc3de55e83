import fc from "fast-check";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { builtInKinds } from "../../src/kinds/all.ts";
import { decode, TypeFault } from "../../src/schema/decode.ts";
import { groupName, type Kind } from "../../src/schema/kind.ts";
import { encodeMessage } from "../../src/schema/protobuf/encode-message.ts";
import { sealEnvelope } from "../../src/schema/protobuf/envelope.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { TestServer, type Answer } from "../support/api.ts";
import { arbitraryStruct } from "../support/arbitrary-value.ts";
import { stillAnswers } from "./support.ts";
import { Dice } from "../support/dice.ts";
import { effort } from "../support/effort.ts";

/** Duration and seed; a failure reports the last requests. */
const seconds = Number(process.env["PLINTH_FUZZ_SECONDS"] ?? effort(2, 15));
const seed = Number(process.env["PLINTH_FUZZ_SEED"] ?? "20");
const maxAnswerMs = 5000;

type JsonObject = Record<string, unknown>;

/** Manifests of real programs, if the folder exists beside the project. */
const manifests = path.resolve(import.meta.dirname, "../../../shared/manifests");

const stored = builtInKinds.filter((kind) => kind.verbs.includes("create") && kind.verbs.includes("get"));
const apiVersionOf = (kind: Kind) => {
  const group = groupName(kind.group, platform);
  return group === "" ? kind.version : `${group}/${kind.version}`;
};

/** Valid objects by kind, to be mutated. */
function goodObjects(): Map<Kind, JsonObject[]> {
  const found = new Map<Kind, JsonObject[]>();
  if (!existsSync(manifests)) return found;
  const files = readdirSync(manifests, { recursive: true, encoding: "utf8" }).filter((one) =>
    /\.ya?ml$/.test(one),
  );
  for (const file of files) {
    const text = readFileSync(path.join(manifests, file), "utf8").replaceAll("k8s.io", "platform.io");
    if (text.length > 50_000) continue;
    for (const document of parseAllDocuments(text)) {
      const object = document.toJS() as JsonObject | null;
      const kind = stored.find(
        (one) => one.name === object?.["kind"] && apiVersionOf(one) === object["apiVersion"],
      );
      if (kind !== undefined) found.set(kind, [...(found.get(kind) ?? []), object!]);
    }
  }
  return found;
}

const good = goodObjects();

const strange: readonly unknown[] = [
  null,
  "",
  0,
  -1,
  1e308,
  2 ** 53,
  true,
  [],
  {},
  [null],
  { a: null },
  "x".repeat(5000),
  "\u0000",
  "../..",
  "%s%d",
  "99999999999999999999",
  "-1Mi",
  ["", ""],
];

/** A copy of the value with a member changed, removed, duplicated or moved. */
function spoil(dice: Dice, value: unknown, depth = 0): unknown {
  if (depth > 6 || dice.chance(0.15)) return dice.pick(strange);
  if (Array.isArray(value)) {
    if (value.length === 0) return dice.chance(0.5) ? [dice.pick(strange)] : value;
    const at = dice.below(value.length);
    const copy = [...(value as unknown[])];
    if (dice.chance(0.2)) copy.push(copy[at]);
    else copy[at] = spoil(dice, copy[at], depth + 1);
    return copy;
  }
  if (typeof value !== "object" || value === null) return dice.pick(strange);
  const keys = Object.keys(value);
  const copy: JsonObject = { ...(value as JsonObject) };
  if (keys.length === 0 || dice.chance(0.1))
    copy[dice.pick(["x", "__proto__x", "$patch", "a.b/c"])] = dice.pick(strange);
  else {
    const key = dice.pick(keys);
    if (dice.chance(0.2)) delete copy[key];
    else copy[key] = spoil(dice, copy[key], depth + 1);
  }
  return copy;
}

const names = ["a", "b", "c", "x.y", "system:z", "12", "catch-all"];

class Fuzzer {
  private readonly dice = new Dice(seed);
  private readonly samples = new Map<Kind, JsonObject[]>();
  last = "";
  readonly codes = new Map<number, number>();

  constructor(private readonly server: TestServer) {}

  async step(): Promise<void> {
    const { dice } = this;
    const kind = dice.pick(stored);
    const name = dice.pick(names);
    const group = groupName(kind.group, platform);
    const base = group === "" ? `/api/${kind.version}` : `/apis/${group}/${kind.version}`;
    const collection = `${base}${kind.scope === "Namespaced" ? "/namespaces/default" : ""}/${kind.resource}`;
    const place = `${collection}/${name}`;
    // Leaves terminating namespaces and the administrator's roles unchanged.
    if (kind.name === "Namespace" && name === "default") return;
    const before = await this.server.admin.get(place);
    const [method, target] = this.operation(kind, collection, place);
    const answer = await this.send(method, target, kind, name, before.body as JsonObject);
    if (answer.status < 400 || method === "GET") return;
    const after = await this.server.admin.get(place);
    expect(after.text, `${this.last} was refused with ${answer.status} and changed something`).toBe(
      before.text,
    );
  }

  private operation(kind: Kind, collection: string, place: string): [method: string, path: string] {
    const { dice } = this;
    const query = dice.pick(["", "", "?dryRun=All", "?fieldValidation=Strict", "?fieldValidation=Ignore"]);
    const below = dice.pick(["", "", "", ...Object.keys(kind.subresources).map((one) => `/${one}`)]);
    return dice.pick<() => [string, string]>([
      () => ["POST", collection + query],
      () => ["POST", collection + query],
      () => ["POST", place + below + query],
      () => ["PUT", place + below + query],
      () => ["PUT", place + query],
      () => ["PATCH", place + below + query],
      () => ["PATCH", place + query],
      () => ["GET", place + below],
      () => [
        "GET",
        collection + dice.pick(["", "?limit=1", "?labelSelector=a,!b", "?fieldSelector=metadata.name=a"]),
      ],
      () => ["DELETE", place + query],
    ])();
  }

  private async send(
    method: string,
    target: string,
    kind: Kind,
    name: string,
    live: JsonObject,
  ): Promise<Answer> {
    const { dice } = this;
    const accept = dice.pick([
      "application/json",
      "application/yaml",
      platform.protobufMediaType,
      "application/json;as=Table;g=meta.platform.io;v=v1",
      "application/json;as=PartialObjectMetadata;g=meta.platform.io;v=v1",
    ]);
    const body = method === "GET" || method === "DELETE" ? {} : this.body(method, kind, name, live);
    this.last = `${method} ${target} ${JSON.stringify(body).slice(0, 2000)}`;
    const start = performance.now();
    const answer = await this.server.admin.ask(method, target, { accept, ...body });
    const took = performance.now() - start;
    this.codes.set(answer.status, (this.codes.get(answer.status) ?? 0) + 1);
    const unreachable = [502, 503, 504].includes(answer.status);
    expect(
      answer.status < 500 || unreachable,
      `${this.last}: ${answer.status} ${answer.text.slice(0, 500)}`,
    ).toBe(true);
    expect(took, this.last).toBeLessThan(maxAnswerMs);
    return answer;
  }

  private body(
    method: string,
    kind: Kind,
    name: string,
    live: JsonObject,
  ): { raw: string | Buffer; contentType: string } {
    const { dice } = this;
    const object = this.object(kind, name, live);
    if (method === "PATCH") return this.patch(object);
    const form = dice.pick(["json", "json", "yaml", "binary"]);
    if (form === "yaml") return { raw: stringify(object), contentType: "application/yaml" };
    if (form === "binary") {
      const raw = this.binary(kind, object);
      if (raw !== undefined) return { raw, contentType: platform.protobufMediaType };
    }
    return { raw: JSON.stringify(object), contentType: "application/json" };
  }

  private object(kind: Kind, name: string, live: JsonObject): JsonObject {
    const { dice } = this;
    const exists = live["kind"] === kind.name;
    const real = good.get(kind);
    const start =
      exists && dice.chance(0.5)
        ? live
        : real !== undefined && dice.chance(0.7)
          ? dice.pick(real)
          : this.sample(kind);
    const spoilt = dice.chance(0.6) ? (spoil(dice, start) as JsonObject | null) : start;
    if (typeof spoilt !== "object" || spoilt === null || Array.isArray(spoilt))
      return spoilt as unknown as JsonObject;
    if (dice.chance(0.1)) return spoilt;
    const { namespace: _, ...meta } = (spoilt["metadata"] ?? {}) as JsonObject;
    const metadata = {
      ...(exists && dice.chance(0.3) ? {} : meta),
      name,
      resourceVersion: undefined,
      uid: undefined,
    };
    return { ...spoilt, apiVersion: apiVersionOf(kind), kind: kind.name, metadata };
  }

  private sample(kind: Kind): JsonObject {
    let known = this.samples.get(kind);
    if (known === undefined) {
      known = fc.sample(arbitraryStruct(kind.type), { numRuns: 20, seed });
      this.samples.set(kind, known);
    }
    return this.dice.pick(known);
  }

  private binary(kind: Kind, object: JsonObject): Buffer | undefined {
    try {
      const { value } = decode(kind.type, object);
      const sealed = sealEnvelope(
        { apiVersion: apiVersionOf(kind), kind: kind.name },
        encodeMessage(kind.type, value),
      );
      if (this.dice.chance(0.2)) sealed[this.dice.below(sealed.length)]! ^= 1 << this.dice.below(8);
      return sealed;
    } catch (error) {
      if (error instanceof TypeFault) return undefined;
      throw error;
    }
  }

  private patch(object: JsonObject): { raw: string; contentType: string } {
    const { dice } = this;
    const kind = dice.pick(["merge-patch", "strategic-merge-patch", "json-patch"]);
    if (kind !== "json-patch")
      return { raw: JSON.stringify(object), contentType: `application/${kind}+json` };
    const operations = Array.from({ length: 1 + dice.below(3) }, () => {
      const [field = "x", value] = dice.pick(Object.entries(object ?? { x: 1 }).concat([["spec", {}]]));
      const below = typeof value === "object" && value !== null ? Object.keys(value) : [];
      const pointer = `/${field}${below.length > 0 && dice.chance(0.7) ? `/${dice.pick(below)}` : ""}`;
      const from = dice.pick(["/metadata/labels", "/spec", "/metadata"]);
      return {
        op: dice.pick(["add", "remove", "replace", "move", "copy", "test"]),
        path: pointer,
        from,
        value: dice.pick(strange),
      };
    });
    return { raw: JSON.stringify(operations), contentType: "application/json-patch+json" };
  }
}

test(
  "random requests of every kind, verb, encoding and patch type cause no server failure, and a rejected write changes nothing",
  { timeout: seconds * 1000 + 60_000 },
  async () => {
    const server = await TestServer.start({ runtimeConfig: "api/all", featureGates: "AllAlpha=true" });
    const fuzzer = new Fuzzer(server);
    const end = performance.now() + seconds * 1000;
    let steps = 0;
    while (performance.now() < end) {
      await fuzzer.step();
      steps++;
    }
    await stillAnswers(server);
    // Both accepted and rejected requests occurred.
    expect(steps).toBeGreaterThan(seconds * 5);
    for (const code of [200, 201, 400, 404, 422])
      expect(fuzzer.codes.get(code) ?? 0, `${code}`).toBeGreaterThan(0);
    await server.close();
  },
);
