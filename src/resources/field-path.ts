/** The path of a field of a set as messages write it: `.spec.ports[port=80,protocol="TCP"].name`. */
export function fieldPath(elements: readonly string[]): string {
  return elements.map(textOf).join("");
}

function textOf(element: string): string {
  const rest = element.slice(2);
  switch (element.slice(0, 2)) {
    case "f:":
      return `.${rest}`;
    case "k:": {
      const keys = Object.entries(JSON.parse(rest) as Record<string, unknown>);
      return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(",")}]`;
    }
    case "v:":
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}
