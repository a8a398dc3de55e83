/**
 * The circles of a graph: its strongly connected components of more than one node, and nodes with an edge to themselves
 * (Tarjan's algorithm). Nodes of a circle are in alphabetical order.
 */
export function circlesOf(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = [];
  const stack: string[] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const onStack = new Set<string>();
  const visit = (node: string): void => {
    order.set(node, order.size);
    lowest.set(node, order.get(node)!);
    stack.push(node);
    onStack.add(node);
    for (const next of edges.get(node) ?? []) {
      if (!order.has(next)) {
        visit(next);
        lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!));
      } else if (onStack.has(next)) {
        lowest.set(node, Math.min(lowest.get(node)!, order.get(next)!));
      }
    }
    if (lowest.get(node) !== order.get(node)) return;
    const circle = stack.splice(stack.indexOf(node));
    for (const one of circle) onStack.delete(one);
    if (circle.length > 1 || edges.get(node)?.includes(node) === true) circles.push(circle.toSorted());
  };
  for (const node of edges.keys()) if (!order.has(node)) visit(node);
  return circles;
}
