import { format } from "prettier";
import { expect, test } from "vitest";
import prettierOptions from "../../.prettierrc.json" with { type: "json" };
import { builtInKinds } from "../../src/kinds/all.ts";
import { read, sources } from "../tidy/source-files.ts";
import { enforcementPage } from "./enforcement-page.ts";

test("docs/enforcement.md states for every kind what the server does with its objects", async () => {
  const page = await format(enforcementPage(), { ...prettierOptions, parser: "markdown" });
  await expect(page).toMatchFileSnapshot("../../docs/enforcement.md");
});

/** Folders of the server whose code acts on objects. */
const acting = ["admission", "authentication", "authorization", "controllers", "http/connect", "resources"];
/** Kinds whose pod templates PodSecurity checks for warnings; this effect is documented at Namespace. */
const templates = new Set([
  "PodTemplate",
  "ReplicationController",
  "DaemonSet",
  "Deployment",
  "ReplicaSet",
  "StatefulSet",
  "CronJob",
]);

test("every kind that code of the server imports declares its effect", () => {
  const parts = sources.filter((file) => acting.some((folder) => file.startsWith(`src/${folder}/`)));
  const imported = new Set<string>();
  for (const file of parts) {
    for (const [, names] of read(file).matchAll(/^import \{([^}]*)\} from "[^"]*\/kinds\/[^"]*";/gm)) {
      for (const name of names!.split(",")) imported.add(name.replace(/^\s*type /, "").trim());
    }
  }
  const silent = builtInKinds
    .filter(({ verbs, conversion }) => verbs.includes("get") && conversion === undefined)
    .filter(({ name, effect }) => effect === undefined && imported.has(name))
    .map(({ name }) => name)
    .filter((name) => !templates.has(name));
  expect(imported.size).toBeGreaterThan(20);
  // The default class of an Ingress is documented at IngressClass.
  expect([...new Set(silent)]).toEqual(["Ingress"]);
});
