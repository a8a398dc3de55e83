// An admission plugin that fills in who made an object, and refuses Pods with images that nobody pinned to a version.
import { createServer, StatusError } from "plinth";

const owners = {
  name: "Owners",
  concerns: (operation, { subresource }) => operation === "CREATE" && subresource === "",
  mutate({ object, user }) {
    object.metadata.annotations = { ...object.metadata.annotations, "example.com/created-by": user.name };
  },
};

const pinnedImages = {
  name: "PinnedImages",
  concerns: (operation, { resource }) => operation !== "DELETE" && resource.name === "pods",
  validate({ object }) {
    for (const { image } of object.spec.containers) {
      if (!/[:@]/.test(image)) throw new StatusError("Forbidden", `image ${image} has no version`);
    }
  },
};

export default await createServer({ admissionPlugins: [owners, pinnedImages] });
