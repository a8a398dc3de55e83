import type { Life } from "../life.ts";
import { chosen, collection, namespaced } from "../subject.ts";

const table = "application/json;as=Table;v=v1;g=meta.k8s.io";
const part = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const parts = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

/** The object is created and read in all forms, alone and in lists. */
export async function reading(life: Life): Promise<void> {
  await life.gone();
  await life.ask("create", "POST", life.collection, { body: life.object() });
  await life.ask("create again", "POST", life.collection, { body: life.object() });
  await life.ask("create again with an unknown field", "POST", life.collection, {
    body: { ...life.object(), odd: 1 },
  });
  await one(life);
  await many(life);
  await watched(life);
  await otherVerbs(life);
}

async function one(life: Life): Promise<void> {
  const get = (step: string, query = "", accept?: string): Promise<unknown> =>
    life.sample(step, "GET", `${life.item}${query}`, accept === undefined ? {} : { accept });
  await get("get");
  await get("get of any version", "?resourceVersion=0");
  await get("get of a version that is none", "?resourceVersion=odd");
  await get("get, pretty", "?pretty=true");
  await get("get as a table", "", table);
  await get("get as a table with objects", "?includeObject=Object", table);
  await get("get in part", "", part);
  await get("get in YAML", "", "application/yaml");
  await get("get as a list", "", parts);
  await get("get in an unknown form", "", "text/xml");
  await get("get in an unknown form or JSON", "", "text/xml, application/json;q=0.5");
  await life.sample("get what isn't there", "GET", `${life.collection}/absent`);
  await life.sample("get what can't be there", "GET", `${life.collection}/Bad_%20Name`);
}

async function many(life: Life): Promise<void> {
  const list = (step: string, query: string, accept?: string): Promise<unknown> =>
    life.sample(step, "GET", `${life.collection}?${query}`, accept === undefined ? {} : { accept });
  await list("list", chosen);
  await life.sample("list everywhere", "GET", `${collection(life.subject, true)}?${chosen}`);
  await list("list as a table", chosen, table);
  await list("list as a table without objects", `${chosen}&includeObject=None`, table);
  await list("list in parts", chosen, parts);
  await list("list as one part", chosen, part);
  await list("list by name", `${chosen}&fieldSelector=metadata.name%3D${life.subject.object.metadata.name}`);
  await list(
    "list by another name",
    `${chosen}&fieldSelector=metadata.name!%3D${life.subject.object.metadata.name}`,
  );
  await list(
    "list by namespace",
    `${chosen}&fieldSelector=metadata.namespace%3D${namespaced(life.subject) ? "lives" : ""}`,
  );
  await list("list by an unknown field", "fieldSelector=odd%3D1");
  await list("list by fields that are none", "fieldSelector=odd");
  await list("list by labels that are none", "labelSelector=a+b");
  await list("list by a set of labels", "labelSelector=life+in+(here,there),!other");
  await list("list with a limit", `${chosen}&limit=1`);
  await list("list with a limit that is none", `${chosen}&limit=odd`);
  await list("list with a continuation that is none", "continue=odd");
  await list("list at a version that is none", "resourceVersion=odd");
  await list("list at version zero", `${chosen}&resourceVersion=0`);
  await list("list at version zero exactly", `${chosen}&resourceVersion=0&resourceVersionMatch=Exact`);
  await list("list with a match alone", `${chosen}&resourceVersionMatch=Exact`);
  await list("list with an unknown match", `${chosen}&resourceVersion=1&resourceVersionMatch=Odd`);
}

async function watched(life: Life): Promise<void> {
  const watch = (step: string, query: string, accept?: string): Promise<unknown> =>
    life.sample(
      step,
      "GET",
      `${life.collection}?watch=true&${query}`,
      accept === undefined ? {} : { accept },
    );
  await watch("watch with a match", "resourceVersion=1&resourceVersionMatch=Exact");
  await watch("watch at a version that is none", "resourceVersion=odd");
  await watch("watch by an unknown field", "fieldSelector=odd%3D1");
  await watch("watch in an unknown form", "timeoutSeconds=1", "text/xml");
}

async function otherVerbs(life: Life): Promise<void> {
  const wrong = (step: string, method: string, path: string): Promise<unknown> =>
    life.sample(
      step,
      method,
      path,
      method === "PATCH" ? { body: {}, contentType: "application/merge-patch+json" } : {},
    );
  await wrong("post to the object", "POST", life.item);
  await wrong("put to the collection", "PUT", life.collection);
  await wrong("patch the collection", "PATCH", life.collection);
  await wrong("get a part that isn't there", "GET", `${life.item}/odd`);
  await wrong("put a part that isn't there", "PUT", `${life.item}/odd`);
  await wrong("get below a part", "GET", `${life.item}/status/odd`);
  await wrong("delete the status", "DELETE", `${life.item}/status`);
  await wrong("post a status", "POST", `${life.item}/status`);
  if (!namespaced(life.subject)) return;
  await wrong("post to all namespaces", "POST", collection(life.subject, true));
  await wrong("delete from all namespaces", "DELETE", `${collection(life.subject, true)}/absent`);
}
