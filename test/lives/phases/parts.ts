import type { Life } from "../life.ts";
import type { Json } from "../subject.ts";

/** The status and the scale are read and written, where the kind has them; where it hasn't, they aren't found. */
export async function parts(life: Life): Promise<void> {
  await life.fresh();
  await life.sample("get the status", "GET", `${life.item}/status`);
  await life.sample("get the scale", "GET", `${life.item}/scale`);
  if (life.subject.status !== undefined) await statusOf(life, life.subject.status);
  if (life.subject.scale === true) await scaleOf(life);
}

async function statusOf(life: Life, status: Json): Promise<void> {
  const at = `${life.item}/status`;
  const read = (await life.quietly("GET", life.item)).body as Json;
  const metadata = read["metadata"] as Json;
  const put = (step: string, body: unknown, query = "?dryRun=All"): Promise<unknown> =>
    life[query === "" ? "ask" : "sample"](`status: ${step}`, "PUT", `${at}${query}`, { body });
  await put("at an old version", { ...read, metadata: { ...metadata, resourceVersion: "1" } });
  await put("under another name", { ...read, metadata: { ...metadata, name: "another" } });
  await put("with another uid", { ...read, metadata: { ...metadata, uid: "another" } });
  await put("that is a text", { ...read, status: "odd" });
  await put("without a version", { ...read, status, metadata: { ...metadata, resourceVersion: undefined } });
  await put("with a label", {
    ...read,
    status,
    metadata: { ...metadata, labels: { life: "here", more: "x" } },
  });
  await put("with bad labels", { ...read, status, metadata: { ...metadata, labels: { "a b": "x" } } });
  await put("with a finalizer", {
    ...read,
    status,
    metadata: { ...metadata, finalizers: ["example.com/a"] },
  });
  await put("with an owner", {
    ...read,
    status,
    metadata: { ...metadata, ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u" }] },
  });
  await put("with a spec of null", { ...read, spec: null, status });
  await put("with an unknown field and a bad label", {
    ...read,
    odd: 1,
    metadata: { ...metadata, labels: { "a b": "x" } },
  });
  await put("left out", { ...read, status: undefined });
  await life.samplePatch(
    "status: merge patch with an unknown field",
    "merge",
    { status: { odd: 1 } },
    `${at}?dryRun=All`,
  );
  await life.samplePatch(
    "status: merge patch of the main part",
    "merge",
    { metadata: { labels: { more: "x" } } },
    `${at}?dryRun=All`,
  );
  await life.samplePatch("status: merge patch of null", "merge", { status: null }, `${at}?dryRun=All`);
  await life.samplePatch(
    "status: JSON patch",
    "json",
    [{ op: "add", path: "/status", value: status }],
    `${at}?dryRun=All`,
  );
  await life.samplePatch(
    "status: applied",
    "apply",
    applied(life, status),
    `${at}?dryRun=All&fieldManager=me`,
  );
  await put("written", { ...read, status }, "");
  await life.patch("status: patched", "merge", { status }, at);
  await life.patch(
    "status: applied by force",
    "apply",
    applied(life, status),
    `${at}?fieldManager=me&force=true`,
  );
  await life.ask("status: not written by the main path", "PATCH", life.item, {
    body: { status: null, metadata: { labels: { more: "y" } } },
    contentType: "application/merge-patch+json",
  });
  await life.patch("status: given up", "apply", applied(life, {}), `${at}?fieldManager=me`);
  await life.patch("status: strategic patch", "strategic", { status }, at);
}

function applied(life: Life, status: Json): Json {
  const { apiVersion, kind, metadata } = life.object();
  return { apiVersion, kind, metadata: { name: metadata.name }, status };
}

async function scaleOf(life: Life): Promise<void> {
  const at = `${life.item}/scale`;
  const read = (await life.quietly("GET", at)).body as Json;
  const metadata = read["metadata"] as Json;
  const put = (step: string, body: unknown, query = "?dryRun=All"): Promise<unknown> =>
    life[query === "" ? "ask" : "sample"](`scale: ${step}`, "PUT", `${at}${query}`, { body });
  await put("below zero", { ...read, spec: { replicas: -1 } });
  await put("of a text", { ...read, spec: { replicas: "odd" } });
  await put("below zero with an unknown field", { ...read, odd: 1, spec: { replicas: -1 } });
  await put("without a spec", { ...read, spec: undefined });
  await put("of another kind", { ...read, kind: "Odd" });
  await put("under another name", { ...read, metadata: { ...metadata, name: "another" } });
  await put("in another namespace", { ...read, metadata: { ...metadata, namespace: "another" } });
  await put("with another uid", { ...read, metadata: { ...metadata, uid: "another" } });
  await put("at an old version", { ...read, metadata: { ...metadata, resourceVersion: "1" } });
  await put("with labels", { ...read, metadata: { ...metadata, labels: { a: "b" } } });
  await life.samplePatch(
    "scale: strategic patch",
    "strategic",
    { spec: { replicas: 3 } },
    `${at}?dryRun=All`,
  );
  await life.samplePatch(
    "scale: JSON patch",
    "json",
    [{ op: "replace", path: "/spec/replicas", value: 3 }],
    `${at}?dryRun=All`,
  );
  const { apiVersion, kind } = read;
  const applied = { apiVersion, kind, metadata: { name: metadata["name"] }, spec: { replicas: 4 } };
  await life.samplePatch("scale: applied", "apply", applied, `${at}?dryRun=All&fieldManager=me`);
  await put("written", { ...read, spec: { replicas: 5 } }, "");
  await life.ask("the object after that", "GET", life.item);
  await life.patch("scale: patched", "merge", { spec: { replicas: 6 } }, at);
  await life.patch("scale: applied by force", "apply", applied, `${at}?fieldManager=me&force=true`);
  await life.ask("the object after an applied scale", "GET", life.item);
}
