const component = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const domainLabel = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?";
const imageForm = new RegExp(
  `^(?:(?:localhost|${domainLabel}(?:\\.${domainLabel})+|${domainLabel}(?=:\\d))(?::\\d+)?/)?` +
    `${component}(?:/${component})*` +
    "(?::(\\w[\\w.-]{0,127}))?" +
    "(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$",
);
/** Longer ones can't be fetched; reading them only costs time. */
const maxLength = 1024;

/** The tag of an image's name: `latest` where neither a tag nor a digest is given; undefined for what is no name. */
export function imageTag(image: string): string | undefined {
  if (image.length > maxLength || /^[0-9a-f]{64}$/.test(image)) return undefined;
  const match = imageForm.exec(image);
  if (match === null) return undefined;
  const [, tag, digest] = match;
  return tag ?? (digest === undefined ? "latest" : undefined);
}

/** An image that may change under its name is fetched each time. Changes the container. */
export function fillPullPolicy(copy: {
  image?: string | undefined;
  imagePullPolicy?: string | undefined;
}): void {
  if ((copy.imagePullPolicy ?? "") !== "") return;
  copy.imagePullPolicy = imageTag(copy.image ?? "") === "latest" ? "Always" : "IfNotPresent";
}
