export const port = { port: 80 };
export const service = (spec: object, metadata: object = {}) => ({
  metadata: { name: "web", ...metadata },
  spec,
});
