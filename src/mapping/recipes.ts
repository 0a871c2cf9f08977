/**
 * Whole sources for the exports of known systems, as YAML: `tickets init` recognises a file by its headers and starts from
 * one of these, and docs/mapping.md shows them. A line that ends in `# FILL IN: …` holds an example of what no export says;
 * `tickets init` writes it as a comment. What is the same in all rows can be taken from
 * the file (`# FILL IN as {Column}: …`). A line that ends in `# FILL IN for each {Column}: …` stands for one line per value.
 */

export interface Recipe {
  /** Name of the source. */
  readonly name: string;
  /** The system and the export, in words. */
  readonly title: string;
  /** Headers (of JSON rows: keys) that together occur in no other export. */
  readonly headers: readonly string[];
  /** What a user should know before trusting it. */
  readonly notes: readonly string[];
  /** The body of the source, not indented. */
  readonly yaml: string;
}

export const RECIPES: readonly Recipe[] = [
  {
    name: "pretix-positions",
    title: "pretix, order data, sheet of order positions",
    headers: ["Event slug", "Order code", "Position ID", "Status", "Order date", "Order time", "Product", "Price"],
    notes: [
      "Headers and statuses follow the language of the user who exports; this is the English layout.",
      "A cancelled position has no time of cancellation, so its invalidation gets the time of sending.",
    ],
    yaml: `match: "*positions*.csv"
csv: {guards: strip}                 # pretix puts an apostrophe before = + - @ | %
zone: Europe/Berlin                  # FILL IN: the event's time zone, which the export does not name
fields:
  eventId: "{Event slug}"
  ticketId: "{Order code}-{Position ID}"
actions:
  - soldTicket:
      when: {Status: [paid, canceled]}
      fields:
        userId: ["{External customer ID}", "{Email}"]
        price: {from: "{Price}", decimal: "."}
        orderTime: {from: "{Order date} {Order time}", format: "yyyy-MM-dd HH:mm:ss"}
        name: "{Product}"
        metadataAttributes:
          Ticket type: "{Product}"
          Variation: "{Variation}"
          Section: "{Seat zone}"
          Row: "{Seat row}"
          Seat: "{Seat number}"
          Voucher: "{Voucher}"
  - invalidatedTicket:
      when: {Status: canceled}
`,
  },
  {
    name: "pretix-scans",
    title: "pretix, check-in log",
    headers: ["Check-in list", "Scan type", "Order code", "Position ID", "Result", "Device"],
    notes: [
      "The values of Scan type and Result, and how date and time are written, follow the exporting user's language: look at them with tickets plan FILE --preview.",
    ],
    yaml: `match: "*scans*.csv"
csv: {guards: strip}
zone: Europe/Berlin                  # FILL IN: the event's time zone, which the export does not name
fields:
  ticketId: "{Order code}-{Position ID}"
actions:
  - scannedTicket:
      when: {Scan type: Entry, Result: Successful}
      fields:
        orderTime: {from: "{Date} {Time}", format: ["yyyy-MM-dd H:mm", "yyyy-MM-dd H:mm:ss"]}
`,
  },
  {
    name: "alfio-tickets",
    title: "alf.io, tickets",
    headers: ["ID", "Category", "Event", "Status", "PaidPrice", "ReservationID", "Confirmation"],
    notes: ["Cancelled tickets never appear in this export.", "It has no time of check-in."],
    yaml: `match: "*tickets*.csv"
fields:
  eventId: "{Event}"
  ticketId: "{ID}"
actions:
  - soldTicket:
      when: {Status: [ACQUIRED, CHECKED_IN]}
      fields:
        userId: "{E-Mail}"
        price: "{PaidPrice}"
        orderTime: {from: "{Confirmation}", format: iso}   # the offset counts, not the zone in brackets
        name: "{Category}"
        metadataAttributes:
          Ticket type: "{Category}"
          Seat: "{Seat}"
          Promo code: "{Promo Code}"
          External reference: "{External Reference}"
  - checkedInTicket:
      when: {Status: CHECKED_IN}
`,
  },
  {
    name: "hievents-attendees",
    title: "Hi.Events, attendees, saved in Excel as CSV UTF-8",
    headers: ["Public ID", "Short ID", "Check Ins", "Product Name", "Event ID", "Status", "Created Date"],
    notes: ["The export holds no price: the table says it by product.", "All times are UTC."],
    yaml: `match: "*attendees*.csv"
zone: UTC
fields:
  eventId: "hievents-{Event ID}"
  ticketId: "{Public ID}"
actions:
  - soldTicket:
      when: {Status: [ACTIVE, CANCELLED]}
      fields:
        userId: "{Email}"
        price:
          from: "{Product Name}"
          map:
            General Admission: 35.00   # FILL IN for each {Product Name}: its price
        orderTime: {from: "{Created Date}", format: "yyyy-MM-dd HH:mm:ss"}
        name: "{Product Name}"
        metadataAttributes: {Ticket type: "{Product Name}"}
  - scannedTicket:
      when: {Status: [ACTIVE, CANCELLED]}
      each: {in: "{Check Ins}", match: '(?<list>.+?) \\((?<at>\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d)\\)'}
      fields:
        orderTime: {from: "{item.at}", format: "yyyy-MM-dd HH:mm:ss"}
  - invalidatedTicket:
      when: {Status: CANCELLED}
      fields:
        orderTime: {from: "{Last Updated Date}", format: "yyyy-MM-dd HH:mm:ss"}
`,
  },
  {
    name: "hievents-events",
    title: "Hi.Events, events report",
    headers: ["Event ID", "Event Name", "Currency", "Start Date", "End Date", "Status", "Event State"],
    notes: ["All times are UTC."],
    yaml: `match: "*events*.csv"
zone: UTC
fields:
  eventId: "hievents-{Event ID}"
  eventName: "{Event Name}"
  currency: "{Currency}"
  startTime: {from: "{Start Date}", format: "yyyy-MM-dd HH:mm:ss"}
  endTime: {from: "{End Date}", format: "yyyy-MM-dd HH:mm:ss"}
actions:
  - newEvent: {when: {Status: LIVE}}
  - updateEvent: {when: {Status: ARCHIVED}}
`,
  },
  {
    name: "eventbrite-attendees",
    title: "Eventbrite, attendee report of one event",
    headers: ["Order #", "Order Date", "Attendee #", "Ticket Type", "Total Paid", "Attendee Status"],
    notes: [
      "The report names neither the event nor its zone.",
      "Dates follow the account's country: this is the US layout, month first.",
    ],
    yaml: `match: "*attendees*.csv"
zone: America/Los_Angeles            # FILL IN: the event's time zone, which the export does not name
expect: {Currency: USD}              # FILL IN as {Currency}: the event's currency; another one is a problem
fields:
  eventId: eb-900100200              # FILL IN: the id of the event, which the export does not name
  ticketId: "{Order #}-{Attendee #}"
actions:
  - newEvent:
      fields:
        eventName: Café Ünïcode Live   # FILL IN: what the event is called; public
        currency: USD                # FILL IN as {Currency}: the event's currency
  - soldTicket:
      when: {Attendee Status: [Attending, Checked In, Refunded, Not Attending, Transferred]}
      fields:
        userId: "{Email}"
        price: {from: "{Total Paid}", thousands: ","}
        orderTime: {from: "{Order Date}", format: "M/d/yy H:mm"}
        name: "{Ticket Type}"
        metadataAttributes: {Ticket type: "{Ticket Type}", Price tier: "{Price Tier}"}
  - checkedInTicket: {when: {Attendee Status: Checked In}}
  - invalidatedTicket: {when: {Attendee Status: [Refunded, Not Attending, Transferred]}}
`,
  },
  {
    name: "openevent-orders",
    title: "Open Event (eventyay), orders",
    headers: ["Order#", "Order Date", "Status", "Payment Type", "Total Amount", "Quantity"],
    notes: ["One row is one order of Quantity tickets, which share its total equally."],
    yaml: `match: "*orders*.csv"
each: {count: "{Quantity}"}
fields:
  eventId: oe-summit-26              # FILL IN: the id of the event, which the export does not name
  ticketId: "{Order#}-{n}"
actions:
  - soldTicket:
      when: {Status: [completed, cancelled]}
      fields:
        userId: "{Email}"
        price: {from: "{Total Amount}", blank: "0", divide: "{Quantity}", places: 2}
        orderTime: {from: "{Order Date}", format: iso}
        metadataAttributes: {Discount code: "{Discount Code}"}
  - invalidatedTicket: {when: {Status: cancelled}}
`,
  },
  {
    name: "attendize-attendees",
    title: "Attendize, attendees, joined with the orders export",
    headers: ["Ticket ID", "Reference", "Ticket Type", "Order Date", "Has Arrived", "Arrival Time"],
    notes: [
      "The attendees export holds no price, and the orders export only that of the whole order: the table says it by ticket type.",
      "Export the orders of the same event too; a row whose Reference is not among them is a problem.",
      "Cancelled attendees never appear. YES and NO follow the language of the user interface.",
    ],
    yaml: `match: "*attendees*.csv"
zone: UTC                            # FILL IN: the time zone of the installation (UTC unless its admin changed it)
lookup:
  order: {file: orders.csv, where: {Reference: "{Reference}"}}
fields:
  eventId: attendize-1               # FILL IN: the id of the event, which the export does not name
  ticketId: "{Ticket ID}"
actions:
  - soldTicket:
      fields:
        userId: "{order.Email}"
        price:
          from: "{Ticket Type}"
          map:
            Standard: 25.00          # FILL IN for each {Ticket Type}: its price
        orderTime: {from: "{Order Date}", format: "yyyy-MM-dd HH:mm:ss"}
        name: "{Ticket Type}"
  - checkedInTicket:
      when: {Has Arrived: "YES"}
      fields:
        orderTime: {from: "{Arrival Time}", format: "yyyy-MM-dd HH:mm:ss"}
`,
  },
  {
    name: "tickettailor-tickets",
    title: "Ticket Tailor, tickets",
    headers: ["Order ID", "Event ID", "Event", "Event start", "Ticket reference", "Ticket type", "Ticket price"],
    notes: [
      "The export has no time of sale, so the service takes the time of sending.",
      "The check-in column is called Check-in or Checked in, and its words follow the account's language.",
    ],
    yaml: `match: "*tickets*.csv"
zone: Europe/London                  # FILL IN: the time zone of the events, which the export does not name
columns: {checkin: [Checked in, Check-in]}
fields:
  eventId: "tt-{Event ID}"
  ticketId: "{Ticket reference}"
actions:
  - newEvent:                        # with the first row of each event
      fields:
        eventName: "{Event}"
        startTime: {from: "{Event start}", format: "EEE d MMM yyyy HH:mm"}
        currency: GBP                # FILL IN: the currency of the events
  - soldTicket:
      fields:
        userId: "{Order ID}"         # the export holds no other id of the buyer
        price: {from: "{Ticket price}", thousands: ",", sign: "£", blank: "0"}
        name: "{Ticket type}"
  - checkedInTicket:
      when: {checkin: ["Yes", "TRUE", "1"]}
`,
  },
  {
    name: "weeztix-tickets",
    title: "Weeztix (Eventix), tickets",
    headers: ["order_id", "barcode", "order_status", "ticket_invalidated", "ticket_value", "paid_currency"],
    notes: [
      "One row carries the whole life of a ticket. Its dates and its yes and no are not documented: look at them with tickets plan FILE --preview.",
    ],
    yaml: `match: "*tickets*.csv"
zone: Europe/Amsterdam               # FILL IN: the time zone of the export's times
expect: {paid_currency: EUR}         # FILL IN as {paid_currency}: the event's currency; another one is a problem
fields:
  eventId: wave-26                   # FILL IN: the id of the event, which the export does not hold
  ticketId: "{barcode}"
actions:
  - soldTicket:
      when: {order_status: paid}
      fields:
        userId: "{email}"
        price: {from: "{ticket_value}", thousands: ","}
        orderTime: {from: "{created_at}", format: iso}
        name: "{ticket_name}"
        metadataAttributes: {Seat: "{seat}"}
  - scannedTicket:
      when: {order_status: paid, is_scanned: ["true", "1", "yes"]}
      fields: {orderTime: {from: "{first_scanned_at}", format: iso}}
  - invalidatedTicket:
      when:
        - {order_status: paid, ticket_invalidated: ["true", "1", "yes"]}
        - {order_status: paid, order_invalidated: ["true", "1", "yes"]}
      fields: {orderTime: {from: ["{ticket_invalidated_at}", "{order_invalidated_at}"], format: iso}}
`,
  },
  {
    name: "tito-tickets",
    title: "Tito, tickets",
    headers: ["Number", "Ticket Created Date", "Ticket", "Event", "Void Status", "Price", "Ticket Reference"],
    notes: [
      "How Tito writes dates and voided tickets is not documented: look at them with tickets plan FILE --preview.",
    ],
    yaml: `match: "*tickets*.csv"
zone: Europe/Dublin                  # FILL IN: the time zone of the export's times
fields:
  eventId: "{Event}"
  ticketId: "{Ticket Reference}"
actions:
  - soldTicket:
      fields:
        userId: ["{Ticket Email}", "{Order Reference}"]
        price: {from: "{Price}", thousands: ","}
        orderTime: {from: "{Ticket Created Date}", format: ["yyyy-MM-dd", iso]}
        name: "{Ticket}"
  - invalidatedTicket:
      when: {Void Status: [void, voided, "true", "Yes"]}
`,
  },
  {
    name: "access-control-scans",
    title: "access control, scans of one evening",
    headers: ["Time", "Event", "Gate", "Barcode", "Section", "Row", "Seat", "Entry Mode"],
    notes: [
      "The file has times without a date. Times before the rollover belong to the day after.",
      "Its column Price is a code, not an amount.",
    ],
    yaml: `match: "*scans*.csv"
zone: America/New_York               # FILL IN: the time zone of the venue
fields:
  ticketId: "{Barcode}"
actions:
  - scannedTicket:
      fields:
        orderTime: {from: "2026-05-09 {Time}", format: "yyyy-MM-dd H:mm", rollover: "06:00"}   # FILL IN: the date on which the evening began
`,
  },
  {
    name: "stubhub-sales",
    title: "StubHub, sales, one JSON object a line",
    headers: ["created_at", "proceeds", "number_of_tickets", "status", "barcodes"],
    notes: [
      "The sale names no buyer: each sale is taken for one.",
      "That proceeds are those of the whole sale, and that CONFIRMED means sold, is assumed.",
    ],
    yaml: `match: "*sales*.ndjson"
each: {path: barcodes}               # one resale per barcode
expect: {proceeds.currency_code: USD}   # FILL IN: the currency of the event
fields:
  ticketId: "{item.barcode_values.0}"
actions:
  - resoldTicket:
      when: {status: CONFIRMED}
      fields:
        userId: "stubhub-{id}"
        price: {from: "{proceeds.amount}", divide: "{number_of_tickets}", places: 2}
        orderTime: "{created_at}"
`,
  },
];
