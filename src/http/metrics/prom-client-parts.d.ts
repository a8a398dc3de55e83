// Parts of the library, because loading it as a whole takes longer and loads unused code.
declare module "prom-client/lib/registry.js" {
  export { Registry as default } from "prom-client";
}
declare module "prom-client/lib/cluster.js" {
  export { AggregatorRegistry as default } from "prom-client";
}
