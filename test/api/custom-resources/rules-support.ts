import { type Answer } from "../../support/api.ts";
import { version } from "./support.ts";

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
