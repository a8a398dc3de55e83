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
const maxNameLength = 255;

/** The tag of an image's name: `latest` where neither a tag nor a digest is given; undefined for what is no name. */
export function imageTag(image: string): string | undefined {
  if (image.length > maxLength || /^[0-9a-f]{64}$/.test(image)) return undefined;
  const match = imageForm.exec(image);
  if (match === null) return undefined;
  const [, tag, digest] = match;
  if (fullName(image, tag, digest).length > maxNameLength) return undefined;
  return tag ?? (digest === undefined ? "latest" : undefined);
}

/** The name without tag and digest, in the registry and under the account that are meant where none are said. */
function fullName(image: string, tag: string | undefined, digest: string | undefined): string {
  const name = image.slice(
    0,
    image.length - (digest?.length ?? 0) - (tag === undefined ? 0 : tag.length + 1),
  );
  const [first = "", ...rest] = name.split("/");
  if (rest.length > 0 && (/[.:]/.test(first) || first === "localhost")) return name;
  return `docker.io/${rest.length === 0 ? "library/" : ""}${name}`;
}

/** An image that may change under its name is fetched each time. Changes the container. */
export function fillPullPolicy(copy: {
  image?: string | undefined;
  imagePullPolicy?: string | undefined;
}): void {
  if ((copy.imagePullPolicy ?? "") !== "") return;
  copy.imagePullPolicy = imageTag(copy.image ?? "") === "latest" ? "Always" : "IfNotPresent";
}
