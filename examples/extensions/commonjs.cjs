// A server in a program of the older module format.
const { createServer, StatusError } = require("plinth");

module.exports = async function firstMap() {
  const server = await createServer({ port: false });
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: "settings", namespace: "default" };
  try {
    return await server.client.get(reference);
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== "NotFound") throw error;
    const { apiVersion, kind, ...metadata } = reference;
    return await server.client.create({ apiVersion, kind, metadata, data: { colour: "blue" } });
  } finally {
    await server.close();
  }
};
