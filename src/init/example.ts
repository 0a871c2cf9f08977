/** With which an editor checks the config as it is typed: docs/schema/config.schema.json, copied there. */
export const SCHEMA_LINE = "# yaml-language-server: $schema=tickets.schema.json";

export const ENVIRONMENTS = `# Without an environment everything goes to the built-in sandbox.
#environments:
#  playground:
#    baseUrl: https://…
#    apiKey: {env: TICKETS_PLAYGROUND_API_KEY}
`;

/** What `tickets init` writes without an export to look at. */
export const EXAMPLE = `${SCHEMA_LINE}
# A config of tickets. docs/tutorial.md makes one step by step, docs/recipes/ shows those of
# known systems, docs/mapping.md is the reference; tickets init FILE writes one from an export.

${ENVIRONMENTS}
#sources:
#  orders:
#    match: "orders*.csv"
#    zone: Europe/Berlin
#    fields: {eventId: my-event, ticketId: "{Ticket ID}"}
#    actions:
#      - soldTicket:
#          when: {Status: paid}
#          fields:
#            userId: "{Customer ID}"
#            price: {from: "{Price}", decimal: ","}
#            orderTime: {from: "{Date}", format: "d.M.yyyy HH:mm"}
`;
