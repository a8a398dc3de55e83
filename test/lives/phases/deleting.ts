import type { Life } from "../life.ts";
import { chosen, type Json } from "../subject.ts";

/** The object is deleted: in vain, held by a finalizer, at once, and with its collection. */
export async function deleting(life: Life): Promise<void> {
  await life.fresh();
  await refused(life);
  await held(life);
  await atOnce(life);
  await collected(life);
}

async function refused(life: Life): Promise<void> {
  const del = (step: string, options: { body?: Json; raw?: string; query?: string }): Promise<unknown> =>
    life.sample(
      `delete ${step}`,
      "DELETE",
      `${life.item}?${options.query ?? "dryRun=All"}`,
      options.body === undefined ? options : { body: { dryRun: ["All"], ...options.body } },
    );
  await del("as a dry run", {});
  await del("with another uid", { body: { preconditions: { uid: "another" } } });
  await del("with another version", { body: { preconditions: { resourceVersion: "1" } } });
  await del("with an unknown policy", { query: "dryRun=All&propagationPolicy=Odd" });
  await del("with two policies", { query: "dryRun=All&propagationPolicy=Orphan&orphanDependents=true" });
  await del("with half a document", { raw: '{"a' });
  await del("with options of another kind", { body: { kind: "Odd", apiVersion: "v1" } });
  await del("in the foreground", { query: "dryRun=All&propagationPolicy=Foreground" });
  await del("leaving orphans", { query: "dryRun=All&propagationPolicy=Orphan" });
  await del("in the background", { body: { propagationPolicy: "Background" } });
  await del("with time", { query: "dryRun=All&gracePeriodSeconds=10" });
  await del("with time before now", { query: "dryRun=All&gracePeriodSeconds=-5" });
  await life.sample("delete what isn't there", "DELETE", `${life.collection}/absent`);
}

async function held(life: Life): Promise<void> {
  await life.patch("hold by a finalizer", "merge", { metadata: { finalizers: ["example.com/hold"] } });
  await life.ask("delete what is held", "DELETE", `${life.item}?gracePeriodSeconds=0`);
  await life.ask("get what is held", "GET", life.item);
  await life.ask("delete what is held again", "DELETE", `${life.item}?gracePeriodSeconds=0`);
  await life.ask("create in place of what is held", "POST", life.collection, { body: life.object() });
  const more = { metadata: { finalizers: ["example.com/hold", "example.com/more"] } };
  await life.patch("add a finalizer to what is held", "merge", more);
  await life.patch("label what is held", "merge", { metadata: { labels: { more: "x" } } });
  await life.patch("take the time of deletion away", "merge", { metadata: { deletionTimestamp: null } });
  const read = (await life.quietly("GET", life.item)).body as { metadata: Json };
  const freed = { ...read, metadata: { ...read.metadata, finalizers: undefined } };
  await life.ask("free what is held, as a dry run", "PUT", `${life.item}?dryRun=All`, { body: freed });
  await life.ask("free what is held", "PUT", life.item, { body: freed });
  if ("finalizers" in ((life.object()["spec"] as Json | undefined) ?? {})) return;
  await life.ask("get what was freed", "GET", life.item);
}

async function atOnce(life: Life): Promise<void> {
  await life.fresh();
  await life.ask("delete", "DELETE", `${life.item}?gracePeriodSeconds=0`);
  await life.ask("delete again", "DELETE", `${life.item}?gracePeriodSeconds=0`);
}

async function collected(life: Life): Promise<void> {
  await life.fresh();
  const del = (step: string, query: string, options: { body?: unknown } = {}): Promise<unknown> =>
    life.sample(`delete the collection ${step}`, "DELETE", `${life.collection}?${query}`, options);
  await del("as a dry run", `${chosen}&dryRun=All`);
  await del("by labels that are none", "labelSelector=a+b");
  await del("by an unknown field", "fieldSelector=odd%3D1");
  await del("with options of another kind", chosen, { body: { kind: "Odd", apiVersion: "v1" } });
  await del("where nothing is", "labelSelector=life%3Dnowhere");
  const all = `${life.collection}?${chosen}`;
  await life.ask("delete the collection by label", "DELETE", `${all}&gracePeriodSeconds=0`);
  await life.ask("list what is left", "GET", all);
  await life.gone();
}
