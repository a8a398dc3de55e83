import type { World } from "../world.ts";

/** Watches the servers' logs: a server becomes leader only when no other one that runs leads. */
export function checkLeadership(world: World): void {
  /** The lives of servers that lead, by name of the server. */
  const leaders = new Map<string, string>();
  world.onLog(({ server, text }) => {
    if (text.startsWith("controllers stopped")) leaders.delete(server.name);
    if (!text.startsWith("controllers started")) return;
    for (const [name, life] of leaders) {
      const other = world.servers.find((one) => one.name === name)!;
      // A frozen process can't stop itself; its writes are refused when it continues.
      if (
        name !== server.name &&
        other.lifeName === life &&
        other.isUp &&
        !other.clock!.hasThawedWithin(noticeMs)
      )
        world.violations.add("one server leads", `${server.name} leads while ${name} leads`);
    }
    leaders.set(server.name, server.lifeName);
  });
}

/** Time in which a process that continues notices that its leadership has ended, in milliseconds. */
const noticeMs = 5000;
