import type { Life } from "../life.ts";

/** The object is patched in three ways: in vain as dry runs, then in earnest. */
export async function patching(life: Life): Promise<void> {
  await life.fresh();
  await merged(life);
  await listed(life);
  await strategic(life);
  await life.fresh();
  await life.patch("merge patch with a label", "merge", { metadata: { labels: { more: "x" } } });
  await life.patch("merge patch of nothing", "merge", {});
  await life.patch("merge patch that takes the label away", "merge", {
    metadata: { labels: { more: null } },
  });
  await life.patch("JSON patch with a label", "json", [
    { op: "add", path: "/metadata/labels/more", value: "y" },
  ]);
  await life.patch("JSON patch that takes the label away", "json", [
    { op: "remove", path: "/metadata/labels/more" },
  ]);
  await life.patch("strategic patch with a finalizer", "strategic", {
    metadata: { finalizers: ["example.com/a"] },
  });
  await life.patch("strategic patch with another finalizer", "strategic", {
    metadata: { finalizers: ["example.com/b"] },
  });
  await life.patch("strategic patch that takes a finalizer away", "strategic", {
    metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/a"] },
  });
  await life.patch("merge patch without finalizers", "merge", { metadata: { finalizers: null } });
}

async function merged(life: Life): Promise<void> {
  const at = `${life.item}?dryRun=All`;
  const merge = (step: string, body: unknown, query = ""): Promise<unknown> =>
    life.samplePatch(`merge patch ${step}`, "merge", body, `${at}${query}`);
  await merge("of the kind", { kind: "Odd" });
  await merge("of the version", { apiVersion: "odd/v1" });
  await merge("of the name", { metadata: { name: "another" } });
  await merge("of the namespace", { metadata: { namespace: "another" } });
  await merge("of the uid", { metadata: { uid: "another" } });
  await merge("at an old version", { metadata: { resourceVersion: "1" } });
  await merge("with labels that are a text", { metadata: { labels: "odd" } });
  await merge("with metadata of null", { metadata: null });
  await merge("with a bad label", { metadata: { labels: { "a b": "x" } } });
  await merge("with an unknown field", { odd: 1 });
  await merge("with an unknown field, strictly", { odd: 1 }, "&fieldValidation=Strict");
  await merge("with an unknown field and a bad label", { odd: 1, metadata: { labels: { "a b": "x" } } });
  await merge("that is a list", []);
  await merge("that is null", null);
  await merge("by an unknown manager", { metadata: { labels: { a: "b" } } }, "&fieldManager=me");
  await merge("by force", { metadata: { labels: { a: "b" } } }, "&force=true");
  await life.samplePatch(
    "merge patch of what isn't there",
    "merge",
    {},
    `${life.collection}/absent?dryRun=All`,
  );
  await life.sample("patch from nothing", "PATCH", at, {
    raw: "",
    contentType: "application/merge-patch+json",
  });
  await life.sample("patch in an unknown form", "PATCH", at, { body: {}, contentType: "application/json" });
  for (const member of ["spec", "status"])
    if (member in life.subject.object || (member === "status" && life.subject.status !== undefined)) {
      await merge(`with a ${member} of null`, { [member]: null });
      await merge(`with a ${member} that is a text`, { [member]: "odd" });
    }
}

async function listed(life: Life): Promise<void> {
  const json = (step: string, body: unknown): Promise<unknown> =>
    life.samplePatch(`JSON patch ${step}`, "json", body, `${life.item}?dryRun=All`);
  await json("of nothing", []);
  await json("that is no list", {});
  await json("with an unknown operation", [{ op: "odd", path: "/metadata" }]);
  await json("with a test that fails", [{ op: "test", path: "/metadata/name", value: "another" }]);
  await json("that takes away what isn't there", [{ op: "remove", path: "/metadata/labels/absent" }]);
  await json("below what isn't there", [{ op: "add", path: "/metadata/absent/a", value: 1 }]);
  await json("of the kind", [{ op: "replace", path: "/kind", value: "Odd" }]);
  await json("of the whole", [{ op: "replace", path: "", value: {} }]);
  await json("that takes the metadata away", [{ op: "remove", path: "/metadata" }]);
  await json("with labels that are a number", [{ op: "add", path: "/metadata/labels", value: 1 }]);
  await json("that copies", [{ op: "copy", from: "/metadata/labels/life", path: "/metadata/labels/copied" }]);
  await json("that moves", [{ op: "move", from: "/metadata/labels/life", path: "/metadata/labels/moved" }]);
}

async function strategic(life: Life): Promise<void> {
  const patch = (step: string, body: unknown): Promise<unknown> =>
    life.samplePatch(`strategic patch ${step}`, "strategic", body, `${life.item}?dryRun=All`);
  await patch("of nothing", {});
  await patch("with other labels in place", {
    metadata: { labels: { $patch: "replace", other: "x", life: "here" } },
  });
  await patch("that deletes the labels", { metadata: { labels: { $patch: "delete" } } });
  await patch("with an unknown field", { odd: 1 });
  await patch("with labels that are a list", { metadata: { labels: ["a"] } });
  await patch("that is a list", []);
  await patch("with owners", {
    metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u" }] },
  });
}
