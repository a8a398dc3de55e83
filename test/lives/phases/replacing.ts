import type { Life } from "../life.ts";
import type { Json } from "../subject.ts";

/** The object is replaced: in vain as dry runs, then in earnest. */
export async function replacing(life: Life): Promise<void> {
  const read = await life.fresh();
  await refused(life, read);
  await accepted(life);
}

const metadataOf = (object: Json): Json => object["metadata"] as Json;
const withMetadata = (object: Json, change: Json): Json => ({
  ...object,
  metadata: { ...metadataOf(object), ...change },
});

async function refused(life: Life, read: Json): Promise<void> {
  const put = (step: string, body: unknown, at = life.item): Promise<unknown> =>
    life.sample(`replace ${step}`, "PUT", `${at}?dryRun=All`, { body });
  await put("by the same", read);
  await put("by what was declared", life.object());
  await put("at an old version", withMetadata(read, { resourceVersion: "1" }));
  await put("at a version that is none", withMetadata(read, { resourceVersion: "odd" }));
  await put("at version zero", withMetadata(read, { resourceVersion: "0" }));
  await put("without a version", withMetadata(read, { resourceVersion: undefined }));
  await put("under another name", withMetadata(read, { name: "another" }));
  await put("without a name", withMetadata(read, { name: undefined }));
  await put("in another namespace", withMetadata(read, { namespace: "other" }));
  await put("with another uid", withMetadata(read, { uid: "another" }));
  await put("without a uid", withMetadata(read, { uid: undefined }));
  await put("by another kind", { ...read, kind: "Odd" });
  await put("by another version", { ...read, apiVersion: "odd/v1" });
  await put("by nothing but names", { metadata: { name: metadataOf(read)["name"] } });
  await put(
    "with what the server sets",
    withMetadata(read, {
      generation: 77,
      selfLink: "/mine",
      creationTimestamp: "2001-01-01T00:00:00Z",
    }),
  );
  await put("with a time of deletion", withMetadata(read, { deletionTimestamp: "2001-01-01T00:00:00Z" }));
  await put("with bad labels", withMetadata(read, { labels: { "a b": "c d" } }));
  await put("with an odd status", { ...read, status: "odd" });
  await put("with an unknown field", { ...read, odd: 1 });
  await put("with an unknown field and a bad label", {
    ...withMetadata(read, { labels: { "a b": "x" } }),
    odd: 1,
  });
  await life.sample(
    "replace with an unknown field, strictly",
    "PUT",
    `${life.item}?dryRun=All&fieldValidation=Strict`,
    {
      body: { ...read, odd: 1 },
    },
  );
  const absent = { ...life.object(), metadata: { name: "lives-absent" } };
  await put("what isn't there", absent, `${life.collection}/lives-absent`);
  await put(
    "what isn't there at a version",
    withMetadata(absent, { resourceVersion: "5" }),
    `${life.collection}/lives-absent`,
  );
  await life.sample("replace by nothing", "PUT", life.item, { raw: "" });
  await life.sample("replace in an unknown form", "PUT", life.item, { raw: "<a/>", contentType: "text/xml" });
}

async function accepted(life: Life): Promise<void> {
  const again = async (step: string, change: (object: Json) => Json): Promise<void> => {
    const read = (await life.quietly("GET", life.item)).body as Json;
    await life.ask(`replace ${step}`, "PUT", life.item, { body: change(read) });
  };
  await again("with a label", (read) => withMetadata(read, { labels: { life: "here", more: "x" } }));
  await again("with annotations", (read) => withMetadata(read, { annotations: { "example.com/a": "x" } }));
  await again("with no change", (read) => read);
  await again("without managed fields", (read) => withMetadata(read, { managedFields: undefined }));
  await again("with another label", (read) => withMetadata(read, { labels: { life: "here", more: "y" } }));
  if (life.subject.status !== undefined)
    await again("with a status", (read) => ({ ...read, status: life.subject.status }));
  await again("resetting managed fields", (read) => withMetadata(read, { managedFields: [{}] }));
}
