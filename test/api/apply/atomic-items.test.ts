import { describe, expect, test } from "vitest";
import { useServer } from "../../support/use-server.ts";
import { ok } from "../support.ts";

const server = useServer({ enabledControllers: [] });

const accounts = "/api/v1/namespaces/default/serviceaccounts";
const apply = (manager: string, name: string, fields: object) =>
  server.admin.ask("PATCH", `${accounts}/${name}?fieldManager=${manager}`, {
    body: { apiVersion: "v1", kind: "ServiceAccount", ...fields },
    contentType: "application/apply-patch+yaml",
  });

interface Case {
  readonly title: string;
  /** The service account with the item; `more` has the other members of the item. */
  readonly fields: (name: string, more: object) => object;
  readonly more: readonly [object, object];
  readonly owned: object;
  readonly contested: string;
}

const cases: readonly Case[] = [
  {
    title: "owner references",
    fields: (name, more) => ({
      metadata: { name, ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "u1", ...more }] },
    }),
    more: [{ controller: true }, { controller: false }],
    owned: { "f:metadata": { "f:ownerReferences": { 'k:{"uid":"u1"}': {} } } },
    contested: '.metadata.ownerReferences[uid="u1"]',
  },
  {
    title: "secrets",
    fields: (name, more) => ({ metadata: { name }, secrets: [{ name: "s", ...more }] }),
    more: [{ namespace: "a" }, { namespace: "b" }],
    owned: { "f:secrets": { 'k:{"name":"s"}': {} } },
    contested: '.secrets[name="s"]',
  },
];

describe.each(cases)(
  "$title with the same key are owned as one item each",
  ({ title, fields, more, owned, contested }) => {
    const name = title.replace(" ", "-");

    test("in managed fields, and a second manager that changes a member gets a conflict on the item", async () => {
      const { body } = await ok(apply("one", name, fields(name, more[0])));
      const entry = body.metadata.managedFields.find((each: { manager: string }) => each.manager === "one");
      expect(entry.fieldsV1).toEqual(owned);
      const refused = await apply("two", name, fields(name, more[1]));
      expect(refused.status).toBe(409);
      expect(refused.body.details.causes.map(({ field }: { field: string }) => field)).toEqual([contested]);
      // The same item is shared.
      await ok(apply("two", name, fields(name, more[0])));
    });
  },
);
