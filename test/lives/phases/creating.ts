import type { Life } from "../life.ts";
import { isPlain, type Json } from "../subject.ts";

/** Creations that fail, and those that would change nothing: all of them as dry runs, so that a sample can be sent. */
export async function creating(life: Life): Promise<void> {
  await life.gone();
  await bodies(life);
  await metadata(life);
  await fields(life);
  await withoutMembers(life);
  await options(life);
}

async function bodies(life: Life): Promise<void> {
  const at = `${life.collection}?dryRun=All`;
  const raw = async (step: string, body: string, contentType?: string): Promise<void> => {
    await life.sample(step, "POST", at, { raw: body, ...(contentType === undefined ? {} : { contentType }) });
  };
  await raw("create from nothing", "");
  await raw("create from null", "null");
  await raw("create from {}", "{}");
  await raw("create from a list", "[]");
  await raw("create from half a document", '{"metadata":');
  await raw("create in an unknown form", "<a/>", "text/xml");
  await raw("create from YAML", JSON.stringify(life.object(), undefined, 1), "application/yaml");
  await life.sample("create another kind", "POST", at, { body: { ...life.object(), kind: "Odd" } });
  await life.sample("create of another group", "POST", at, {
    body: { ...life.object(), apiVersion: "odd/v1" },
  });
  const { kind: _kind, apiVersion: _version, ...rest } = life.object();
  await life.sample("create without kind and version", "POST", at, { body: rest });
  await life.sample("create, said twice", "POST", `${at}&fieldValidation=Strict`, {
    raw: JSON.stringify(life.object()).replace('"metadata":{', '"metadata":{"name":"two",'),
  });
  await life.sample("create, said twice, warned", "POST", at, {
    raw: JSON.stringify(life.object()).replace('"metadata":{', '"metadata":{"name":"two",'),
  });
}

async function metadata(life: Life): Promise<void> {
  const at = `${life.collection}?dryRun=All`;
  const withMetadata = (step: string, change: Json): Promise<unknown> => {
    const body = life.object();
    return life.sample(`create with ${step}`, "POST", at, {
      body: { ...body, metadata: { ...body.metadata, ...change } },
    });
  };
  await life.sample("create without metadata", "POST", at, {
    body: { ...life.object(), metadata: undefined },
  });
  await withMetadata("no name", { name: undefined });
  await withMetadata("an empty name", { name: "" });
  await withMetadata("a bad name", { name: "Bad_Name." });
  await withMetadata("a name with a slash", { name: "a/b" });
  await withMetadata("a long name", { name: "n".repeat(254) });
  await withMetadata("a generated name", { name: undefined, generateName: "generated-" });
  await withMetadata("a bad generated name", { name: undefined, generateName: "Bad_" });
  await withMetadata("another namespace", { namespace: "other" });
  await withMetadata("a resource version", { resourceVersion: "1" });
  await withMetadata("labels that are none", { labels: { "a/b/c": "x", ok: "not ok!" } });
  await withMetadata("a label that is a number", { labels: { a: 1 } });
  await withMetadata("labels that are a text", { labels: "a" });
  await withMetadata("annotations that are none", { annotations: { "a b": "x" } });
  await withMetadata("too many annotations", { annotations: { a: "x".repeat(262_145) } });
  await withMetadata("finalizers that are none", { finalizers: ["unqualified", "a/b/c", "example.com/ok"] });
  await withMetadata("contradicting finalizers", { finalizers: ["orphan", "foregroundDeletion"] });
  await withMetadata("an owner without names", { ownerReferences: [{}] });
  const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u", controller: true };
  await withMetadata("two controllers", { ownerReferences: [owner, { ...owner, uid: "w" }] });
  await withMetadata("an event as owner", { ownerReferences: [{ ...owner, kind: "Event" }] });
  await withMetadata("managed fields that are none", {
    managedFields: [
      { operation: "Odd", fieldsType: "FieldsV1", manager: "m", apiVersion: "v1", fieldsV1: {} },
    ],
  });
  await withMetadata("what the server sets", {
    uid: "mine",
    generation: 7,
    selfLink: "/mine",
    creationTimestamp: "2001-01-01T00:00:00Z",
    deletionTimestamp: "2001-01-01T00:00:00Z",
    deletionGracePeriodSeconds: 5,
  });
}

async function fields(life: Life): Promise<void> {
  const at = `${life.collection}?dryRun=All`;
  const odd = { ...life.object(), odd: 1, metadata: { ...life.object().metadata, odd: 1 } };
  for (const mode of ["Strict", "Warn", "Ignore"])
    await life.sample(`create with unknown fields, ${mode}`, "POST", `${at}&fieldValidation=${mode}`, {
      body: odd,
    });
  const faulty = { ...odd, metadata: { ...odd.metadata, labels: { "a b": "c" } } };
  await life.sample("create with unknown fields and a bad label", "POST", at, { body: faulty });
  await life.sample("create with an odd status", "POST", at, { body: { ...life.object(), status: "odd" } });
  if (life.subject.status !== undefined)
    await life.sample("create with a status", "POST", at, {
      body: { ...life.object(), status: life.subject.status },
    });
}

/** The object without each of its members, with a null there, and with a value of another type; in its spec as well. */
async function withoutMembers(life: Life): Promise<void> {
  const at = `${life.collection}?dryRun=All`;
  for (const path of memberPaths(life.object())) {
    const with_ = async (step: string, value: unknown): Promise<void> => {
      const body = life.object();
      put(body, path, value);
      await life.sample(`create with ${path.join(".")} ${step}`, "POST", at, { body });
    };
    await with_("left out", undefined);
    await with_("null", null);
    await with_("of another type", typeof get(life.object(), path) === "object" ? "odd" : { odd: [] });
    await with_("empty", emptyOf(get(life.object(), path)));
  }
}

function memberPaths(object: Json): string[][] {
  const own = Object.keys(object).filter((key) => !["apiVersion", "kind", "metadata"].includes(key));
  return own.flatMap((key) => {
    const inner = key === "spec" && isPlain(object[key]) ? Object.keys(object[key]) : [];
    return [[key], ...inner.map((name) => [key, name])];
  });
}

function emptyOf(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  if (isPlain(value)) return {};
  if (typeof value === "string") return "";
  return typeof value === "number" ? -1 : !value;
}

function get(object: Json, [first, ...rest]: readonly string[]): unknown {
  return rest.length === 0 ? object[first!] : get(object[first!] as Json, rest);
}

function put(object: Json, [first, ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) object[first!] = value;
  else put(object[first!] as Json, rest, value);
}

async function options(life: Life): Promise<void> {
  const body = life.object();
  const post = (step: string, query: string, headers: Record<string, string> = {}): Promise<unknown> =>
    life.sample(`create with ${step}`, "POST", `${life.collection}?${query}`, { body, headers });
  await post("an unknown dry run", "dryRun=Some");
  await post("an unknown validation", "fieldValidation=Odd");
  await post("a long manager", `dryRun=All&fieldManager=${"m".repeat(129)}`);
  await post("a manager that can't be printed", "dryRun=All&fieldManager=%01");
  await post("a manager", "dryRun=All&fieldManager=me");
  await post("an answer that can't be given", "dryRun=All", { accept: "text/xml" });
  await post("an answer in YAML", "dryRun=All", { accept: "application/yaml" });
  await post("an answer as a table", "dryRun=All", {
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
  });
  await post("an answer in part", "dryRun=All", {
    accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  });
}
