import { declareGroup, type ObjectFor } from "../../src/index.ts";

const { kind, struct, field, list, string, int32, quantity, ObjectMeta, nameColumn } = declareGroup(
  "shop.example.com",
  "v1",
);

const Line = struct("Line", "One thing of an order.", {
  item: field(1, string, "Name of the ordered item.").required(),
  count: field(2, int32, "Number of items. Default: 1.").default(1),
});

/** A kind with numbers, and so with a binary form. */
export const Order = kind({
  name: "Order",
  resource: "orders",
  singular: "order",
  shortNames: ["ord"],
  scope: "Namespaced",
  doc: "An order of a customer.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the order.").emitEmpty(),
    lines: field(2, list(Line), "Ordered items.").mapBy("item"),
    customer: field(3, string, "Who buys.").required(),
    weight: field(4, quantity, "How heavy it is."),
    state: field(5, string, "How far it is.").oneOf("Open", "Sent").default("Open"),
  },
  selectable: { customer: (order) => order.customer },
  validate(order, report) {
    if (order.customer.includes(" ")) report.at("customer").invalid(order.customer, "must be one word");
  },
  columns: [
    nameColumn,
    {
      name: "Customer",
      type: "string",
      doc: "Who buys.",
      jsonPath: ".customer",
      cell: (order) => order.customer,
    },
  ],
});
export type Order = ObjectFor<typeof Order>;

/** A kind without numbers: it has no binary form. */
export const Shelf = kind({
  name: "Shelf",
  resource: "shelves",
  singular: "shelf",
  scope: "Cluster",
  doc: "Where things lie.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the shelf."),
    place: field(undefined, string, "Where it stands."),
  },
});

export const orders = "/apis/shop.example.com/v1/namespaces/default/orders";
export const anOrder = (name: string, more: object = {}) => ({
  apiVersion: "shop.example.com/v1" as const,
  kind: "Order" as const,
  metadata: { name, namespace: "default" },
  customer: "ada",
  ...more,
});
