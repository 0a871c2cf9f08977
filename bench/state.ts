/**
 * The state that the checks keep of every ticket of an input: `node --expose-gc state.ts <tickets>` fills it as a file of sales does
 * and prints JSON: what the tables say they hold, and by how much the process grew.
 */

import { TicketStates } from "../src/checks/ticket-states.ts";
import { saleAction } from "./generate.ts";

const tickets = Number(process.argv[2]);
/** Bytes of all typed arrays that are in use. */
const held = (): number => {
  globalThis.gc?.(); // behind --expose-gc
  return process.memoryUsage().arrayBuffers;
};
const before = held();
const states = new TicketStates();
for (let n = 0; n < tickets; n += 1) {
  const { data } = saleAction(1, n);
  const ticket = states.locate("ticketId", data.ticketId);
  states.setStatus(ticket, "sold");
  states.setSoldHere(ticket);
  states.setHolder(ticket, data.userId);
  states.setEvent(ticket, n % 200);
  states.setPlace(ticket, { source: "sales.csv", line: n + 2 });
}
console.log(JSON.stringify({ tickets: states.size, bytes: states.bytes, grown: held() - before }));
