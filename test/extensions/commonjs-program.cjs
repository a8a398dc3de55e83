// Run by commonjs.test.ts: a program of the older module format that uses every entry of the package.
const { createServer, declareGroup, OptionsError, StatusError } = require("plinth");
const { ConfigMap } = require("plinth/kinds");
const { StoreError } = require("plinth/storage");
const { storeConformance } = require("plinth/storage-conformance");

const { kind, field, string, ObjectMeta } = declareGroup("shop.example.com", "v1");
const Order = kind({
  name: "Order",
  resource: "orders",
  singular: "order",
  scope: "Cluster",
  doc: "An order of a customer.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the order."),
    item: field(2, string, "Name of the ordered item.").required(),
  },
});

async function main() {
  const modules = await import("plinth");
  const storage = await import("plinth/storage");
  const same = [
    modules.StatusError === StatusError,
    modules.OptionsError === OptionsError,
    storage.StoreError === StoreError,
  ];
  const forbidden = {
    name: "No",
    concerns: (_, { resource }) => resource.name === "configmaps",
    validate() {
      throw new StatusError("Forbidden", "no maps");
    },
  };
  const server = await createServer({ port: false, kinds: [Order], admissionPlugins: [forbidden] });
  const { item } = await server.client.create({
    apiVersion: "shop.example.com/v1",
    kind: "Order",
    metadata: { name: "one" },
    item: "tea",
  });
  const refused = await server.client
    .create({ apiVersion: "v1", kind: ConfigMap.name, metadata: { name: "m", namespace: "default" } })
    .catch((error) => error instanceof StatusError && error.message);
  await server.close();
  const wrong = await createServer({ port: "x" }).catch((error) => error instanceof OptionsError);
  console.log(JSON.stringify({ same, item, refused, wrong, cases: storeConformance().length > 20 }));
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
