// The library's parts one by one: as a whole it also loads what a server has no use for, at each start.
declare module "prom-client/lib/registry.js" {
  export { Registry as default } from "prom-client";
}
