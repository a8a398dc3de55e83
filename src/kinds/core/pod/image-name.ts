const component = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const domainLabel = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?";
const imageForm = new RegExp(
  `^(?:(?:localhost|${domainLabel}(?:\\.${domainLabel})+|${domainLabel}(?=:\\d))(?::\\d+)?/)?` +
    `${component}(?:/${component})*` +
    "(?::(\\w[\\w.-]{0,127}))?" +
    "(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$",
);
/** Longer names can't be pulled; the limit bounds the time of parsing. */
const maxLength = 1024;
const maxNameLength = 255;

/** Returns the tag of an image name: `latest` without tag and digest; undefined for an invalid name. */
export function imageTag(image: string): string | undefined {
  if (image.length > maxLength || /^[0-9a-f]{64}$/.test(image)) return undefined;
  const match = imageForm.exec(image);
  if (match === null) return undefined;
  const [, tag, digest] = match;
  if (fullName(image, tag, digest).length > maxNameLength) return undefined;
  return tag ?? (digest === undefined ? "latest" : undefined);
}

/** Returns the name with default registry and account, without tag and digest. */
function fullName(image: string, tag: string | undefined, digest: string | undefined): string {
  const name = image.slice(
    0,
    image.length - (digest?.length ?? 0) - (tag === undefined ? 0 : tag.length + 1),
  );
  const [first = "", ...rest] = name.split("/");
  if (rest.length > 0 && (/[.:]/.test(first) || first === "localhost")) return name;
  return `docker.io/${rest.length === 0 ? "library/" : ""}${name}`;
}

/** Sets the pull policy: Always for the tag `latest`, else IfNotPresent. Changes the container. */
export function fillPullPolicy(copy: {
  image?: string | undefined;
  imagePullPolicy?: string | undefined;
}): void {
  if ((copy.imagePullPolicy ?? "") === "") copy.imagePullPolicy = defaultPullPolicy(copy.image ?? "");
}

/** Returns the pull policy of an image that has none. */
export function defaultPullPolicy(image: string): "Always" | "IfNotPresent" {
  return imageTag(image) === "latest" ? "Always" : "IfNotPresent";
}
