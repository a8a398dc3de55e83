import type { Life } from "../life.ts";
import type { Json } from "../subject.ts";

const me = "fieldManager=me";
const other = "fieldManager=other";

/** The object is applied: to nothing, to an object that others own, and again and again. */
export async function applying(life: Life): Promise<void> {
  await life.fresh();
  await refused(life);
  await life.gone();
  await life.ask("applied to nothing", "PATCH", `${life.item}?${me}`, apply(life.object()));
  await life.ask("applied again", "PATCH", `${life.item}?${me}`, apply(life.object()));
  const labels = (labels?: Json): Json => ({
    apiVersion: life.object()["apiVersion"],
    kind: life.object()["kind"],
    metadata: { name: life.object().metadata.name, ...(labels && { labels }) },
  });
  await life.ask("applied by another", "PATCH", `${life.item}?${other}`, apply(labels({ more: "x" })));
  await life.ask(
    "applied against the first",
    "PATCH",
    `${life.item}?${other}`,
    apply(labels({ life: "there" })),
  );
  await life.ask("applied in agreement", "PATCH", `${life.item}?${other}`, apply(labels({ life: "here" })));
  await life.ask(
    "applied by force",
    "PATCH",
    `${life.item}?${other}&force=true`,
    apply(labels({ life: "there", more: "y" })),
  );
  await life.ask("applied by the first against another", "PATCH", `${life.item}?${me}`, apply(life.object()));
  await life.ask("given up by another", "PATCH", `${life.item}?${other}`, apply(labels()));
  await life.ask("applied by the first again", "PATCH", `${life.item}?${me}`, apply(life.object()));
  await life.ask("given up by the first", "PATCH", `${life.item}?${me}`, apply(labels()));
  await life.patch("patched after that", "merge", { metadata: { labels: { life: "here" } } });
}

async function refused(life: Life): Promise<void> {
  const at = `${life.item}?dryRun=All`;
  const ask = (step: string, query: string, body: unknown): Promise<unknown> =>
    life.sample(`apply ${step}`, "PATCH", `${at}${query}`, apply(body));
  const object = life.object();
  const withMetadata = (change: Json): Json => ({ ...object, metadata: { ...object.metadata, ...change } });
  await ask("without a manager", "", object);
  await ask("with an empty manager", "&fieldManager=", object);
  await ask("what is declared", `&${me}`, object);
  await ask("what is declared, by force", `&${me}&force=true`, object);
  await ask("another kind", `&${me}`, { ...object, kind: "Odd" });
  await ask("another version", `&${me}`, { ...object, apiVersion: "odd/v1" });
  await ask("without a kind", `&${me}`, { ...object, kind: undefined });
  await ask("under another name", `&${me}`, withMetadata({ name: "another" }));
  await ask("in another namespace", `&${me}`, withMetadata({ namespace: "another" }));
  await ask("with managed fields", `&${me}`, withMetadata({ managedFields: [{ manager: "a" }] }));
  await ask("at an old version", `&${me}`, withMetadata({ resourceVersion: "1" }));
  await ask("with another uid", `&${me}`, withMetadata({ uid: "another" }));
  await ask("with an unknown field", `&${me}`, { ...object, odd: 1 });
  await ask("with an unknown field, strictly", `&${me}&fieldValidation=Strict`, { ...object, odd: 1 });
  await ask("with labels that are a text", `&${me}`, withMetadata({ labels: "odd" }));
  await ask("with bad labels", `&${me}`, withMetadata({ labels: { "a b": "c" } }));
  await ask("a list", `&${me}`, []);
  await ask("null", `&${me}`, null);
  await ask("nothing but names", `&${me}`, {
    apiVersion: object["apiVersion"],
    kind: object["kind"],
    metadata: { name: object.metadata.name },
  });
  await life.sample("apply from nothing", "PATCH", `${at}&${me}`, {
    raw: "",
    contentType: "application/apply-patch+yaml",
  });
  if (life.subject.status !== undefined)
    await ask("a status", `&${me}&force=true`, { ...object, status: life.subject.status });
}

function apply(body: unknown): { body: unknown; contentType: string } {
  return { body, contentType: "application/apply-patch+yaml" };
}
