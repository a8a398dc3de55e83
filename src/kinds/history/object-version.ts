import { kind } from "./v1alpha1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, json, string, time } from "../../schema/types.ts";

/** A version of an object, in the list at the path `history` below the object. It is never stored. */
export const ObjectVersion = kind({
  name: "ObjectVersion",
  resource: "objectversions",
  singular: "objectversion",
  scope: "Namespaced",
  doc: "A version of an object: the effect of one write, and who made it.",
  verbs: [],
  servedByDefault: false,
  fields: {
    metadata: field(
      1,
      ObjectMeta,
      "Name and namespace of the object, and the resource version of the write.",
    ).emitEmpty(),
    time: field(2, time, "Time of the write; absent if it is unknown."),
    user: field(3, string, "Name of the user who made the write."),
    manager: field(4, string, "Name of the field manager."),
    verb: field(5, string, "Verb of the request, such as create, apply or delete."),
    auditID: field(
      6,
      string,
      "Identifies the request, as in its audit events. Objects that a transaction wrote have the same one.",
    ),
    deleted: field(7, bool, "Whether the write deleted the object."),
    previousVersion: field(
      8,
      string,
      "Resource version of the version before; absent if the write created the object, or if it is unknown.",
    ),
    object: field(
      9,
      json,
      "The object after the write, or the last state of a deleted one; only with the parameter `contents`.",
    ),
    error: field(10, string, "Reason why the object can't be read; only with the parameter `contents`."),
  },
  columns: [
    {
      name: "Version",
      type: "string",
      doc: "Resource version of the write.",
      cell: ({ metadata }) => metadata.resourceVersion ?? "",
    },
    { name: "Time", type: "date", doc: "Time of the write.", cell: (version) => version.time ?? null },
    { name: "User", type: "string", doc: "Name of the user.", cell: ({ user }) => user ?? "" },
    {
      name: "Manager",
      type: "string",
      doc: "Name of the field manager.",
      cell: ({ manager }) => manager ?? "",
    },
    { name: "Verb", type: "string", doc: "Verb of the request.", cell: ({ verb }) => verb ?? "" },
    {
      name: "Deleted",
      type: "boolean",
      doc: "Whether the write deleted the object.",
      cell: ({ deleted }) => deleted === true,
    },
  ],
});
export type ObjectVersion = ObjectFor<typeof ObjectVersion>;
