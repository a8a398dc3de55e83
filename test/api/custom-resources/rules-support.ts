import { useServer } from "../../support/use-server.ts";
import { type Answer } from "../../support/api.ts";
import { definition, order, served, version } from "./support.ts";

export const validations = (...rules: readonly (string | { rule: string; message?: string })[]) => ({
  "x-platform-validations": rules.map((rule) => (typeof rule === "string" ? { rule } : rule)),
});

/** A version whose schema has these properties in `spec`, and rules for the whole object. */
export const ruled = (properties: object, spec: object = {}, root: object = {}, more: object = {}) =>
  version("v1", {
    schema: {
      openAPIV3Schema: {
        type: "object",
        ...root,
        properties: {
          spec: { type: "object", ...spec, properties },
          status: { type: "object", properties: { ready: { type: "integer" } } },
        },
      },
    },
    ...more,
  });
export const causesOf = ({ status, body }: Answer) => [
  status,
  ...(body.details?.causes ?? []).map((cause: { field: string; reason: string; message: string }) => [
    cause.field,
    cause.reason.replace("FieldValue", ""),
    cause.message,
  ]),
];
export const integer = { type: "integer" };
export const text = { type: "string", maxLength: 20 };

/** Starts a server; `kind` serves a kind with one version. */
export function useRules() {
  const server = useServer({ enabledControllers: [] });
  let count = 0;

  async function kind(one: object) {
    const plural = `kind${++count}s`;
    const name = `Kind${count}`;
    const orders = await served(server.admin, definition({ versions: [one] }, plural, name));
    const object = (named: string, spec: object, more: object = {}) => ({
      ...order(named, spec, more),
      kind: name,
    });
    return {
      orders,
      object,
      create: (spec: object, more = {}) => server.admin.post(orders, object("one", spec, more)),
    };
  }
  return { server, kind };
}
