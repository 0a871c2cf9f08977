/** The exports of known systems that `tickets init` recognises by their headers, each with its source. docs/recipes/ shows them. */

export interface Recipe {
  /** Name of the source: its system and the export. */
  readonly name: string;
  /** The system and the export, in words. */
  readonly title: string;
  /** Headers (for JSON rows: keys) that together occur in no other export. */
  readonly headers: readonly string[];
  /** What a user should know before trusting it. */
  readonly notes: readonly string[];
  /**
   * The source as YAML. `# FILL IN: what` is beside an example of what no export says, which is asked; `as {Column}`: unless
   * that column has the same text in all rows; `for each {Column}`: once for each of its texts.
   */
  readonly source: string;
}

/** The page that shows a recipe. */
export const pageOf = ({ name }: Recipe): string => `docs/recipes/${name.replace(/-\w+$/, "")}.md`;

/** The first whose headers a file has is taken. */
export const RECIPES: readonly Recipe[] = [
  {
    name: "pretix-positions",
    title: "pretix, order data, sheet of order positions",
    headers: ["Event slug", "Order code", "Position ID", "Status", "Order date", "Order time", "Product", "Price"],
    notes: [
      "Headers and statuses follow the language of the user who exports; this is the English layout.",
      "Pending and expired orders are not paid, so they give nothing; a pending one that is paid is sold in a later export.",
      "A canceled position has no time of cancellation, so its invalidation gets the time of sending; order-time-missing warns of that and can stay.",
    ],
    source: `
      match: "*positions*.csv"
      csv: {guards: strip}   # pretix puts an apostrophe before = + - @ | %
      zone: Europe/Vienna   # FILL IN: the event's time zone, which the export does not name
      fields:
        eventId: "{Event slug}"
        ticketId: "{Order code}-{Position ID}"
      skip: {Status: [pending, expired]}
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
      "Leaving is no action of a ticket, so exits give nothing; nor do refused entries.",
    ],
    source: `
      match: "*scans*.csv"
      csv: {guards: strip}
      zone: Europe/Vienna   # FILL IN: the event's time zone, which the export does not name
      fields:
        ticketId: "{Order code}-{Position ID}"
      skip: {Scan type: Exit}
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
    notes: [
      "Cancelled tickets never appear in this export, so nothing tells that a ticket was cancelled.",
      "A ticket TO_BE_PAID is reserved, not sold, and gives nothing until it is paid.",
      "It has no time of check-in, so the service takes the time of sending; order-time-missing warns of that and can stay.",
    ],
    source: `
      match: "*tickets*.csv"
      fields:
        eventId: "{Event}"
        ticketId: "{ID}"
      skip: {Status: TO_BE_PAID}
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
    notes: [
      "The export holds no price, so the table gives prices by product. All times are UTC.",
      "A cancelled ticket was sold before, so it gives its sale, its scans and then its invalidation, at the time of its last change. AWAITING_PAYMENT is no sale yet.",
    ],
    source: String.raw`
      match: "*attendees*.csv"
      zone: UTC
      fields:
        eventId: "hievents-{Event ID}"
        ticketId: "{Public ID}"
      skip: {Status: AWAITING_PAYMENT}
      actions:
        - soldTicket:
            when: {Status: [ACTIVE, CANCELLED]}
            fields:
              userId: "{Email}"
              price:
                from: "{Product Name}"
                map:
                  Standing: 20.00   # FILL IN for each {Product Name}: its price
              orderTime: {from: "{Created Date}", format: "yyyy-MM-dd HH:mm:ss"}
              name: "{Product Name}"
              metadataAttributes:
                Ticket type: "{Product Name}"
        - scannedTicket:
            when: {Status: [ACTIVE, CANCELLED]}
            each: {in: "{Check Ins}", match: '(?<list>.+?) \((?<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\)'}
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
    notes: [
      "All times are UTC. A draft is not public yet, so it gives nothing; an archived event was registered when it was live, and is only updated.",
    ],
    source: `
      match: "*events*.csv"
      zone: UTC
      fields:
        eventId: "hievents-{Event ID}"
        eventName: "{Event Name}"
        currency: "{Currency}"
        startTime: {from: "{Start Date}", format: "yyyy-MM-dd HH:mm:ss"}
        endTime: {from: "{End Date}", format: "yyyy-MM-dd HH:mm:ss"}
      skip: {Status: DRAFT}
      actions:
        - newEvent:
            when: {Status: LIVE}
        - updateEvent:
            when: {Status: ARCHIVED}
    `,
  },
  {
    name: "eventbrite-attendees",
    title: "Eventbrite, attendee report of one event",
    headers: ["Order #", "Order Date", "Attendee #", "Ticket Type", "Total Paid", "Attendee Status"],
    notes: [
      "The report names neither the event nor its zone, and dates follow the account's country. It has no time of check-in or refund, so the service takes the time of sending; order-time-missing warns of that and can stay.",
      "Each row is one ticket. The orders report is another one: there, Quantity may be more than 1.",
      "Refunded, Transferred and Not Attending (taken off the list by the organiser) end a ticket that was sold, so they give the sale and the invalidation. A transferred ticket comes again, as a row of its own, for its new holder.",
      "Deleted rows were removed by the organiser, such as tests, and give nothing. A ticket that was sent and is Deleted later stays valid. To have such tickets invalidated, move Deleted from skip to both lists.",
    ],
    source: `
      match: "*attendees*.csv"
      zone: America/Chicago   # FILL IN: the event's time zone, which the export does not name
      expect:
        Quantity: 1
        Currency: USD   # FILL IN as {Currency}: the event's currency; another one is a problem
      fields:
        eventId: eb-spring-gala   # FILL IN: the id of the event, which the export does not name
        ticketId: "{Order #}-{Attendee #}"
      skip: {Attendee Status: Deleted}
      actions:
        - newEvent:
            fields:
              eventName: "Spring Gala #7"   # FILL IN: what the event is called; public
              currency: USD   # FILL IN as {Currency}: the event's currency
        - soldTicket:
            when: {Attendee Status: [Attending, Checked In, Refunded, Not Attending, Transferred]}
            fields:
              userId: "{Email}"
              price: {from: "{Total Paid}", thousands: ","}
              orderTime: {from: "{Order Date}", format: "M/d/yy H:mm"}   # the US layout, month first
              name: "{Ticket Type}"
              metadataAttributes:
                Ticket type: "{Ticket Type}"
                Price tier: "{Price Tier}"
        - checkedInTicket:
            when: {Attendee Status: Checked In}
        - invalidatedTicket:
            when: {Attendee Status: [Refunded, Not Attending, Transferred]}
    `,
  },
  {
    name: "openevent-orders",
    title: "Open Event (eventyay), orders",
    headers: ["Order#", "Order Date", "Status", "Payment Type", "Total Amount", "Quantity"],
    notes: [
      "One row is one order of Quantity tickets, which share its total equally. Use this or the attendees export of an event, not both: their ids differ.",
      "A cancelled order was sold before, so it gives its sales and their invalidations. Orders that are placed, pending, initializing or expired are not paid, and give nothing.",
      "There is no time of cancellation, so invalidations get the time of sending; order-time-missing warns of that and can stay.",
    ],
    source: `
      match: "*orders*.csv"
      each: {count: "{Quantity}"}
      fields:
        eventId: oe-meetup   # FILL IN: the id of the event, which the export does not name
        ticketId: "{Order#}-{n}"
      skip: {Status: [initializing, pending, placed, expired]}
      actions:
        - soldTicket:
            when: {Status: [completed, cancelled]}
            fields:
              userId: "{Email}"
              price: {from: "{Total Amount}", blank: "0", divide: "{Quantity}", places: 2}
              orderTime: {from: "{Order Date}", format: iso}
              metadataAttributes:
                Discount code: "{Discount Code}"
        - invalidatedTicket:
            when: {Status: cancelled}
    `,
  },
  {
    name: "openevent-attendees",
    title: "Open Event (eventyay), attendees",
    headers: ["Order#", "Order Date", "Status", "Ticket Name", "Ticket ID", "Ticket Price", "Ticket Type"],
    notes: [
      "Its column Ticket ID holds the order's, the same for all tickets of an order. So a ticket is known by order, kind and e-mail address. Where one address has two of a kind, ticket-sold-twice stops the run: use the orders export then.",
      "Use this or the orders export of an event, not both: their ids differ. Ticket Price is the list price, before discounts.",
      "A cancelled order was sold before, so it gives the sale and the invalidation, which has no time of its own. Orders that are placed, pending, initializing or expired are not paid, and give nothing.",
      "virtual_event_checkin_times are visits to the rooms of an online event, which do not end a ticket.",
    ],
    source: String.raw`
      match: "*attendees*.csv"
      fields:
        eventId: oe-meetup   # FILL IN: the id of the event, which the export does not name
        ticketId: "{Ticket ID}-{Ticket Name}-{Email}"
      skip: {Status: [initializing, pending, placed, expired]}
      actions:
        - soldTicket:
            when: {Status: [completed, cancelled]}
            fields:
              userId: "{Email}"
              price: "{Ticket Price}"
              orderTime: {from: "{Order Date}", format: "MMMM d, yyyy HH:mm Z"}
              name: "{Ticket Name}"
              metadataAttributes:
                Ticket type: "{Ticket Name}"
        - scannedTicket:
            when: {Status: [completed, cancelled]}
            each: {in: "{virtual_event_checkin_times}", match: '(?<at>\d{4}-[^'']+)'}
            fields:
              orderTime: {from: "{item.at}", format: iso}
        - invalidatedTicket:
            when: {Status: cancelled}
    `,
  },
  {
    name: "attendize-attendees",
    title: "Attendize, attendees, joined with the orders export",
    headers: ["Ticket ID", "Reference", "Ticket Type", "Order Date", "Has Arrived", "Arrival Time"],
    notes: [
      "The attendees export holds no price, and the orders export only that of the whole order, so the table gives prices by ticket type.",
      "Export the orders of the same event too; a row whose Reference is not among them is a problem.",
      "Cancelled attendees never appear, so nothing tells that a ticket was cancelled. YES and NO follow the language of the user interface.",
    ],
    source: `
      match: "*attendees*.csv"
      zone: UTC   # FILL IN: the time zone of the installation (UTC unless its admin changed it)
      lookup:
        order: {file: orders.csv, where: {Reference: "{Reference}"}}
      fields:
        eventId: garden-party   # FILL IN: the id of the event, which the export does not name
        ticketId: "{Ticket ID}"
      actions:
        - soldTicket:
            fields:
              userId: "{order.Email}"
              price:
                from: "{Ticket Type}"
                map:
                  Standard: 25.00   # FILL IN for each {Ticket Type}: its price
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
      "The export has no time of sale, so the service takes the time of sending: order-time-missing warns of it and can stay.",
      "Order status says how the order was paid, not whether, so no row is left out for it. The export does not show refunds.",
      "The check-in column is called Check-in or Checked in, and its words follow the account's language.",
    ],
    source: `
      match: "*tickets*.csv"
      zone: Europe/London   # FILL IN: the time zone of the events, which the export does not name
      columns: {checkin: [Checked in, Check-in]}
      fields:
        eventId: "tt-{Event ID}"
        ticketId: "{Ticket reference}"
      actions:
        - newEvent:   # with the first row of each event
            fields:
              eventName: "{Event}"
              startTime: {from: "{Event start}", format: "EEE d MMM yyyy HH:mm"}
              currency: GBP   # FILL IN: the currency of the events
        - soldTicket:
            fields:
              userId: "{Order ID}"   # the export holds no other id of the buyer
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
      "A ticket is void when it or its order was invalidated; it was sold before, so it gives its sale, its scan and then its invalidation. What is not paid gives nothing.",
    ],
    source: `
      match: "*tickets*.csv"
      zone: Europe/Amsterdam   # FILL IN: the time zone of the export's times
      expect:
        paid_currency: EUR   # FILL IN as {paid_currency}: the event's currency; another one is a problem
      fields:
        eventId: wave-26   # FILL IN: the id of the event, which the export does not hold
        ticketId: "{barcode}"
      actions:
        - soldTicket:
            when: {order_status: paid}
            fields:
              userId: "{email}"
              price: {from: "{ticket_value}", thousands: ","}
              orderTime: {from: "{created_at}", format: iso}
              name: "{ticket_name}"
              metadataAttributes:
                Seat: "{seat}"
        - scannedTicket:
            when: {order_status: paid, is_scanned: ["true", "1", "yes"]}
            fields:
              orderTime: {from: "{first_scanned_at}", format: iso}
        - invalidatedTicket:
            when:
              - {order_status: paid, ticket_invalidated: ["true", "1", "yes"]}
              - {order_status: paid, order_invalidated: ["true", "1", "yes"]}
            fields:
              orderTime: {from: ["{ticket_invalidated_at}", "{order_invalidated_at}"], format: iso}
    `,
  },
  {
    name: "tito-tickets",
    title: "Tito, tickets",
    headers: ["Number", "Ticket Created Date", "Ticket", "Event", "Void Status", "Price", "Ticket Reference"],
    notes: [
      "How Tito writes dates and voided tickets is not documented: look at them with tickets plan FILE --preview.",
      "A voided ticket was sold before, so it gives its sale and then its invalidation, which has no time of its own.",
    ],
    source: `
      match: "*tickets*.csv"
      zone: Europe/Dublin   # FILL IN: the time zone of the export's times
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
      "The file has times without a date: its name must say on which one the evening began. Times before the rollover belong to the day after.",
      "Its column Price is a code, not an amount.",
    ],
    source: `
      match: "*scans*.csv"
      zone: America/New_York   # FILL IN: the time zone of the venue
      fields:
        ticketId: "{Barcode}"
      actions:
        - scannedTicket:
            fields:
              orderTime: {from: "{file.date} {Time}", format: "yyyy-MM-dd H:mm", rollover: "06:00"}   # the date in the file's name
    `,
  },
  {
    name: "stubhub-sales",
    title: "StubHub, sales, one JSON object a line",
    headers: ["created_at", "proceeds", "number_of_tickets", "status", "barcodes"],
    notes: [
      "The sale names no buyer, so each sale counts as a buyer of its own.",
      "It is assumed that proceeds are those of the whole sale, and that CONFIRMED means sold. A sale in any other state gives nothing.",
    ],
    source: `
      match: "*sales*.ndjson"
      each: {path: barcodes}   # one resale per barcode
      expect:
        proceeds.currency_code: USD   # FILL IN: the currency of the event
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
