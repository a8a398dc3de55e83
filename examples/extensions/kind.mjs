// A kind of one's own and a controller for it: each Greeting gets a status with its text.
import { createServer, declareGroup, WorkQueue } from "plinth";

const { kind, field, string, ObjectMeta } = declareGroup("demo.example.com", "v1");
const fields = {
  metadata: field(1, ObjectMeta, "Metadata of the greeting."),
  whom: field(2, string, "Name of the person to greet.").required(),
  text: field(3, string, "The greeting, written by the controller."),
};
const names = { name: "Greeting", resource: "greetings", singular: "greeting", scope: "Cluster" };
const Greeting = kind({ ...names, doc: "Greets somebody.", fields });

const greeter = {
  name: "greeter",
  start({ client, clock, informer, registry, failed }) {
    const work = async (name) => {
      const reference = { apiVersion: "demo.example.com/v1", kind: "Greeting", name };
      const greeting = await client.find(reference);
      if (greeting && !greeting.text) await client.patch(reference, { text: `Hello, ${greeting.whom}!` });
    };
    const queue = new WorkQueue(clock, work, (key, error) => failed("greeter", key, error));
    informer(registry.require(Greeting)).listen(
      (_, greeting) => greeting && queue.add(greeting.metadata.name),
    );
    return { close: () => queue.close() };
  },
};

export default await createServer({ kinds: [Greeting], controllers: [greeter] });
