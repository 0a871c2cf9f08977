/**
 * Words that show what the columns and statuses of an unknown export mean, in German, English, French, Italian, Spanish,
 * Dutch and Portuguese.
 */

/** Without capitals, accents and the like: `Événement` and `evenement` are one word. */
function plainText(text: string): string {
  return text
    .toLowerCase()
    .replace(/ß/g, "ss")
    .replace(/œ/g, "oe")
    .replace(/æ/g, "ae")
    .replace(/ø/g, "o")
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "");
}

/** `Order Date/Time` and `orderDateTime` → order, date, time; `N° billet` → n, billet. */
export const wordsOf = (name: string): readonly string[] =>
  plainText(name.replace(/^item\.|[°º]/g, " ").replace(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, "$1 "))
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");

export const joinedWords = (name: string): string => wordsOf(name).join("");

/** A pattern that is a whole word: any of these, with `|` between them. */
const anyWord = (...words: readonly string[]): RegExp => new RegExp(`^(?:${words.join("|")})$`);

/** The header words of each field, the surest first; compared with the whole name, or with words in a row of it, written together. */
export const WORDS = {
  ticketId:
    "ticketid barcode ticketbarcode ticketsecret qrcode attendeeid publicid voucherid strichcode codebarres " +
    "codeabarres codiceabarre codigodebarras codigobarras streepjescode ticket billet biglietto entrada boleto " +
    "bilhete ingresso kaartje eintrittskarte karte code codice codigo cod uuid guid serial serialnumber id",
  eventId:
    "eventid event veranstaltung vorstellung show evenement spectacle manifestation seance representation evento " +
    "spettacolo rappresentazione espectaculo funcion sesion voorstelling espetaculo sessao",
  userId:
    "userid customerid buyerid accountid memberid externalcustomerid kundennummer kundennr kaufernummer kaufernr " +
    "numeroclient nclient idclient clientid codiceclienti idcliente clienteid ncliente klantnummer klantnr email " +
    "emailaddress buyeremail customeremail mail " +
    "courriel correo customer buyer client cliente kunde klant kaufer kaeufer acheteur acquirente comprador koper",
  price:
    "ticketprice unitprice priceperticket einzelpreis stuckpreis kartenpreis endpreis verkaufspreis prixunitaire " +
    "prezzounitario preciounitario precounitario pricepaid paidprice price facevalue ticketvalue totalpaid " +
    "amountpaid amount total totalamount paid preis ticketpreis betrag prix montant prezzo importo precio importe " +
    "preco valor prijs bedrag gross net brutto netto gesamtpreis gesamtbetrag summe",
  orderTime:
    "ordertime soldat soldon dateofsale dateofpurchase paidat paidon datesold dateordered datepaid boughtat " +
    "boughton reservationdate ordered sold purchased bought booked verkauft verkauftam zahldatum bezahltam " +
    "gekauft gekauftam bestellt bestelltam gebuchtam datedevente datevente datedachat dateachat datedecommande " +
    "datecommande commandele achetele venduele vendule datedivendita datadivendita datavendita datadiacquisto " +
    "dataacquisto datadordine dataordine fechadeventa fechaventa fechadecompra fechacompra datadavenda datavenda " +
    "datadacompra datacompra compradoem vendidoem verkoopdatum aankoopdatum besteldatum verkochtop gekochtop " +
    "besteldop createdat createddate creationdate created datetime timestamp date time datum fecha data zeitpunkt " +
    "uhrzeit zeit heure hora ora tijd when moment",
  status:
    "ticketstatus attendeestatus status orderstatus state paymentstatus zustand statut etat stato estado estatus " +
    "toestand situacao situacion situation",
  quantity:
    "quantity qty ticketqty ticketcount tickets numberoftickets nooftickets numtickets ticketspurchased partysize " +
    "groupsize headcount anzahl menge count quantite nombre quantita cantidad quantidade aantal " +
    "spaces bookingspaces seats numseats numberofseats guests persons people admissions adults kids children items " +
    "units personen erwachsene kinder personnes adultes enfants personas adultos persone adulti personen " +
    "volwassenen kinderen pessoas platze plaetze " +
    "adult child kid person guest senior seniors student students concession concessions youth infants erwachsener " +
    "jugendliche senioren studenten ermassigt ermassigte enfant adulte etudiants nino bambini ragazzi anziani " +
    "pax admits stuck stueck stk stuckzahl stueckzahl places nombredeplaces antal liczba",
  currency: "currency currencycode paidcurrency waehrung wahrung devise valuta divisa moneda moeda munt",
  eventName:
    "eventname eventtitle event title veranstaltung veranstaltungsname titel titre nomevenement evenement titolo " +
    "evento titulo espectaculo spettacolo",
  startTime:
    "termin eventstart eventdate eventdatetime eventtime showdate showtime concertdate performancedate " +
    "veranstaltungsdatum vorstellungsdatum datedelevenement dataevento fechaevento fechadelevento startdate " +
    "starttime startsat start starts begin begins beginn debut datedebut inizio datainizio inicio fechainicio " +
    "datainicio aanvang",
  endTime: "eventend enddate endtime endsat end ends ende fin datefin fine datafine fim datafim fechafin einde",
} as const;

/** Whole words in a row, written together: of `Event Fees` eventfees, event and fees. */
export function runsOf(name: string): ReadonlySet<string> {
  const words = wordsOf(name).slice(0, 12);
  return new Set(
    words.flatMap((_word, from) => words.slice(from).map((_, more) => words.slice(from, from + more + 1).join(""))),
  );
}

/** Kinds of orders, and how their numbers are called. */
const ORDER =
  "order|booking|purchase|request|beleg|kassenbon|bon|reservation|transaction|invoice|receipt|bestellungs?|bestell|buchungs?|auftrags?|reservierungs?|rechnungs?|commande|facture|ordine|prenotazione|pedido|reserva|encomenda|bestelling|bestel";
const NUMBER = "ids?|no|nr|n|num|number|nummer|numero|ref|reference|referenz|code|key|codigo|codice";

/** What was paid in all, or before or after something else. */
const IN_ALL = anyWord(
  "total\\w*|subtotal|sum|summe|gesamt\\w*|amount|paid|gross|net|brutto\\w*|netto\\w*|brut|lordo|bruto|neto",
  "liquido|incl|excl|inkl|exkl|including|excluding|betrag|montant|importo|importe|bedrag|bezahlt|paye|pagato",
  "pagado|pago|betaald",
);

/** What a single word of a column's name says of it, unless another word of it says the second. */
const NAMES = {
  /** Also what begins or ends with such a stem: `Zahlungsstatus`, `Buchungszustand`; and yes or no to a loss. */
  status:
    /(?:status|statut|zustand)$|^(?:etats?|stato|estado|estatus|toestand|situacao|situacion|situation|situazione|state|cancell?ed|refunded|voided?|storniert|storno|erstattet|annulee?|remboursee?|annullat[oa]|rimborsat[oa]|anulad[oa]|cancelad[oa]|reembolsad[oa]|estornad[oa]|geannuleerd|terugbetaald)$/,
  /** Whether it was tried out only. */
  test: /^(?:is)?(?:test|tests|testmode|testing|livemode|sandbox|demo|dummy|testbestellung|testmodus|essai|prova|prueba|teste)$/,
  /** Whether it was sold, as a yes or no. */
  saleFlag:
    /^(?:paid|confirmed|bezahlt|bestatigt|paye|confirme|pagato|confermato|pagado|confirmado|pago|betaald|bevestigd)$/,
  /** What a row is: a sale, or that something was given back. */
  rowKind: anyWord(
    "types?|kind|op|typ|art|tipo|soort|movement|movimento|movimiento|mouvement|vorgang|vorgangsart|buchungsart",
    "transaktionsart|belegart|operation|operacion|operazione|operacao",
  ),
  ofRow: anyWord(
    "transactions?|trans|txn?|sales?|orders?|rows?|records?|lines?|entry|entries|bookings?|purchases?|actions?",
    "activity|journal|transaktions?|verkaufs?|ventes?|ventas?|vendite?|refunds?|returns?|cancellations?|de|di|do",
    "da|la|del|della",
  ),
  /** Whether somebody could enter, or went which way. */
  logState: [
    anyWord(
      "results?|outcome|direction|ok|granted|success|successful|valid|validity|allowed|accepted|admitted|approved",
      "permitted|denied|rejected|refused|passed|decision|verdict|response|errors?|checked|checkedin|scanned|arrived",
      "entered|used|redeemed|attended|present|duplicate|inout|ergebnis|resultat|richtung|gultig|erfolg|erfolgreich",
      "zugelassen|abgelehnt|eingecheckt|anwesend|fehler|entwertet|resultado|risultato|esito|direccion|direcao",
      "direzione|sens|richting|uitslag|valid[oae]|presente?|scannee?|entree?|entrato|aanwezig|geldig|ingecheckt",
    ),
    /^(?:by|von|durch|par|por|door|at|device|gate|operator|user|staff|count|id)$/,
  ],
  /** What only a log has. */
  log: anyWord(
    "devices?|gerate?|geraete?|readers?|lesegerat|appareil|dispositif|dispositivo|apparaat|results?|outcome|verdict",
    "direction|inout|ergebnis|resultat|richtung|resultado|risultato|esito|direccion|direcao|direzione|sens|uitslag",
    "resultaat",
  ),
  cents:
    /^(?:in)?(?:cents?|ct|cts|centimes?|centesim[oi]|centimos?|centavos?|pence|penny|pennies|rappen|ore|oere|grosz[ey]?|halere?u?|kopeks?|kopecks?|kopeek|paise|paisa|kurus|bani|stotinki|lipa|euro?cents?)$|^(?:price|amount|total|value|betrag|preis|prix|montant|prezzo|importo|precio|importe|preco|valor|prijs|bedrag|paid|fee)(?:in)?cents?$|^cents?(?:price|amount|total|value|betrag|preis|bedrag|prijs)$|^копе/u,
  minorUnits: /^(?:minor|minorunits?|subunits?|smallest|fils|millimes?|baisa)$/,
  /** Of each ticket, whatever else the row holds. */
  perTicket: [
    anyWord(
      "unit|each|single|tickets?|billet|biglietto|entrada|bilhete|einzel\\w*|stuck\\w*|kartenpreis|ticketpreis",
      "ticketprice|unitprice|unitaire|unitario",
    ),
    IN_ALL,
  ],
  /** Of all tickets of the row, for certain. */
  total: /^(?:total\w*|subtotal|sum|summe|gesamt\w*|totaal\w*)$/,
  inAll: IN_ALL,
  time: anyWord(
    "at|on|am|um|le|el|il|op|em|dates?|\\w*datum|\\w*time|\\w*timestamp|\\w*zeit|zeitpunkt|fecha|data|hora|heure",
    "ora|tijd|when|moment|starts?|begins?|ends?|until",
  ),
  /** Amounts of something else than what a ticket cost, unless they are said to be in it or not. */
  surcharge: [
    anyWord(
      "fees?|balance|refund(?:ed)?|tax|taxes|vat|mwst|ust|tva|iva|btw|gebuhr(?:en)?|gebuehr(?:en)?|steuern?",
      "discounts?|rabatte?|frais|remise|sconto|descuento|desconto|korting|commission|provision|shipping|versand",
      "donation|spende|tip|revenue|umsatz",
    ),
    anyWord(
      "incl|excl|inkl|exkl|including|excluding|included|excluded|inclusive|exclusive|with|without|before|after|plus",
      "less|mit|ohne|vor|nach|zzgl|abzgl|ttc|ht|hors|avec|con|senza|sin|com|sem|met|zonder",
    ),
  ],
  /** What was sold, also what is no ticket. */
  goods: anyWord(
    "artikel|articles?|articulos?|articol[oi]|artigos?|products?|produkte?|produits?|productos?|prodott[oi]|sku",
    "items?",
  ),
  /** What was before a ticket was sold by its holder. */
  before: [
    anyWord(
      "from|old|previous|prev|prior|original|originally|former|sellers?|sender|giver|listing|listed|list|asking|ask",
      "face|von|alt|alter|alte|vorheriger?|bisheriger?|urspruenglich\\w*|ursprunglich\\w*|verkaufer\\w*",
      "verkaeufer\\w*|ancien\\w*|precedent\\w*|vendeur|venditore|precedente|vendedor|anterior|verkoper|vorige",
    ),
    anyWord(
      "to|new|next|buyer|purchaser|recipient|receiver|current|an|neu|neuer|neue|kaufer\\w*|kaeufer\\w*|nouveau",
      "nouvelle|acheteur|nuovo|acquirente|nuevo|novo|comprador|nieuwe?|koper",
    ),
  ],
  /** The ticket that is given back or exchanged. */
  original: /^(?:orig\w*|ursprung\w*|ursprueng\w*)$/,
  /** An order as a whole; what was bought together, and what came in for it. */
  inOrder: new RegExp(
    `^(?:(?:${ORDER})\\w*|basket|cart|checkout|payment|revenue|umsatz|warenkorb\\w*|panier|fattura|carrello|factura|cesta|winkelwagen)$`,
  ),
  /** Something else of an order than which one it is. */
  notOrder:
    /^(?:at|on|qty|type)$|(?:date|datum|time|zeit|status|statut|zustand|state|amount|total|price|value|currency|method|fecha|data|heure|hora|preis|betrag|summe|wert|montant|prix|prezzo|importo|precio|importe|count|quantity|anzahl)$/,
  buyer: anyWord(
    "buyer|purchaser|customer|attendee|holder|payer|kunde|kunden(?:nummer|nr|id|name)|kaufer|kaeufer|besteller",
    "teilnehmer|acheteur|client|cliente|acquirente|comprador|koper|klant|klant(?:nummer|nr|id|naam)",
  ),
  price: /^(?:prices?|\w*preis|prix|prezzo|precio|preco|prijs|paid|cost)$/,
  /** Such columns may hold an id of anything. */
  id: anyWord(
    "n|num|numero|numer|codigo|codice|billet|biglietto|bilhete|ingresso|entrada|boleto|kenmerk|referencia",
    "riferimento",
  ),
} satisfies Record<string, RegExp | readonly [RegExp, unless: RegExp]>;

type Says = keyof typeof NAMES;

/** Whether a word of the name says one of these. */
export function says(name: string, ...kinds: readonly Says[]): boolean {
  const words = wordsOf(name);
  return kinds.some((kind) => {
    const [pattern, unless] = [NAMES[kind]].flat();
    const isSaid = words.some((word) => pattern?.test(word));
    return isSaid && (unless === undefined || !words.some((word) => unless.test(word)));
  });
}

/** Whether a column of this name may tell what its row is: `Type`, `Transaction type`; not `Ticket type`. */
export const namesRowKind = (name: string): boolean =>
  says(name, "rowKind") && wordsOf(name).every((word) => NAMES.rowKind.test(word) || NAMES.ofRow.test(word));

const ORDER_NAME = new RegExp(`^(?:(?:${NUMBER})(?:de|del|dell|di|do|da)?)?(?:${ORDER})(?:${NUMBER})?$`);
/** `Order`, `Booking no`, `Numéro de commande`. */
export const isOrderName = (name: string): boolean => ORDER_NAME.test(joinedWords(name));
/** Names that are made of two words, in any of the languages: what it is of, and what of that. */
const TICKET =
  "tickets?|karten?|eintrittskarten?|billets?|biglietto|entrada|boleto|bilhete|ingresso|kaart|kaartje|serial";
const EVENT =
  "events?|shows?|performance|veranstaltungs?|vorstellungs?|va|evenement|evento|spectacle|spettacolo|seance|espectaculo|espetaculo";
const OF = "(?:de|del|dell|della|di|do|da|d|l)?";
const idOf = (what: string): RegExp => new RegExp(`^(?:(?:${what})(?:${NUMBER}|slug)|(?:${NUMBER})${OF}(?:${what}))$`);
const MADE_OF: Readonly<Record<string, RegExp>> = {
  ticketId: idOf(TICKET),
  eventId: idOf(EVENT),
  orderTime:
    /^(?:order(?:ed)?|purchased?|sales?|booking|booked|payment|transaction|placed|bestell|kauf|verkaufs?|buchungs?|zahlungs?)(?:at|on|date|time|datum|zeit|zeitpunkt|tag)$/,
};
/** Whether the words of a name, written together, mean the field. */
export const isMadeOf = (field: string, joined: string): boolean => MADE_OF[field]?.test(joined) === true;

/** Whether a column may tell one order from another. */
export const namesOrder = (name: string): boolean =>
  isOrderName(name) || (says(name, "inOrder") && !says(name, "notOrder"));

const EVENT_NAMES: ReadonlySet<string> = new Set([...WORDS.eventId.split(" "), ...WORDS.eventName.split(" ")]);
/** Whether a column may be filled once for several rows below each other: an order's, an event's. */
export const namesBlock = (name: string): boolean => isOrderName(name) || EVENT_NAMES.has(joinedWords(name));
const COUNT_NAMES: ReadonlySet<string> = new Set(WORDS.quantity.split(" "));
export const namesCount = (name: string): boolean => COUNT_NAMES.has(joinedWords(name));

/** Whole texts by which a column is taken for a status, or for the result of a scan. What they mean, the user says. */
const STATUSES = anyWord(
  "paid|sold|completed?|confirmed|active|valid|attending|acquired|issued|success|successful|ok|bezahlt|verkauft",
  "bestatigt|gultig|paye|payee?s?|vendue?s?|confirmee?s?|valide|validee|pagat[oa]|vendut[oa]|confermat[oa]",
  "pagad[oa]|pag[oa]|vendid[oa]|confirmad[oa]|betaald|verkocht|bevestigd|geldig|cancell?ed|refunded|void|voided",
  "invalid|invalidated|revoked|storniert|storno|annull?iert|erstattet|annulee?s?|remboursee?s?|annullat[oa]",
  "rimborsat[oa]|anulad[oa]|cancelad[oa]|reembolsad[oa]|estornad[oa]|geannuleerd|terugbetaald|checked[ _-]?in",
  "arrived|scanned|entered|eingecheckt|entree?s?|scannee?s?|entrat[oa]|scansionat[oa]|escanead[oa]|ingecheckt",
  "gescand|pending|open|unpaid|reserved|expired|failed|declined|draft|offen|ausstehend|unbezahlt|reserviert",
  "abgelaufen|en attente|en cours|impayee?s?|reservee?s?|expiree?s?|in attesa|in sospeso|prenotat[oa]|scadut[oa]",
  "pendientes?|reservad[oa]|caducad[oa]|pendentes?|expirad[oa]|in behandeling|openstaand|gereserveerd|verlopen",
);
const LOG_STATES = anyWord(
  "ok|okay|success|successful|granted|allowed|accepted|admitted|approved|passed?|permitted|valid|welcome",
  "zugelassen|gewahrt|gultig|erfolgreich|accepte|autorise|valide|accettat[oa]|ammess[oa]|valid[oa]|aceptad[oa]",
  "permitid[oa]|aceit[oa]|toegelaten|geldig|denied|rejected|refused|blocked|fail|failure|failed|error|invalid",
  "unknown|not (?:found|valid|allowed|paid)|duplicate|already (?:scanned|used|checked[ -]?in)|no entry|abgelehnt",
  "abgewiesen|verweigert|gesperrt|ungultig|fehler|refusee?|rejetee?|rifiutat[oa]|respint[oa]|rechazad[oa]",
  "denegad[oa]|recusad[oa]|negad[oa]|geweigerd|afgewezen|in|out|entry|re-?entry|exit|enter|leave|left|inbound",
  "outbound|check(?:ed)?[ _-]?out|eingang|ausgang|rein|raus|entree|sortie|entrata|uscita|entrada|salida|saida",
  "ingang|uitgang",
);

const thatAre = (values: readonly string[], words: RegExp): number =>
  values.filter((value) => words.test(plainText(value).trim())).length;

/** Somewhere in a longer text: `partially refunded`, `teilstorniert`, `payment pending`. */
const OF_LOSS =
  /\b(?:cancel|refund(?!able)|pending|unpaid|annul|anulad|rembours|reembols|rimbors|geannul|terugbetaal|en attente|in attesa|pendient|pendente)|stornier|\bstorno|erstattet/;

/** Whether values are statuses by what they say, whatever their column is called. */
export function areStatuses(values: readonly string[]): boolean {
  const known = thatAre(values, STATUSES);
  if (known >= 2 && known * 2 >= values.length) return true;
  return values.length >= 2 && values.some((value) => value.length <= 40 && OF_LOSS.test(plainText(value)));
}

/** Whether values of a log say who could enter, or went which way. */
export const areLogStates = (values: readonly string[]): boolean => thatAre(values, LOG_STATES) * 2 >= values.length;

export const isEventIdName = (name: string): boolean => isMadeOf("eventId", joinedWords(name));

const OTHER_IDS: ReadonlySet<string> = new Set([...WORDS.eventId.split(" "), ...WORDS.userId.split(" ")]);
/** Whether it is the id of an event or a user, and so not of a ticket, even where it is different in every row. */
export const isIdOfOther = (name: string): boolean => OTHER_IDS.has(joinedWords(name)) || isEventIdName(name);

export const isIdName = (name: string): boolean =>
  says(name, "id") ||
  /(?:^|[^a-z])(?:ids?|no|nr)(?:[^a-z]|$)|[a-z]{3}nr(?:[^a-z]|$)|[a-z]I[dD](?:[^a-z]|$)|code|numm?er|#|\bref|reference|position|\bline|index|seat|platz/.test(
    name.replace(/\b[A-Z]+/g, (letters) => letters.toLowerCase()),
  );

/** Names of a ticket; of the words for its id those that say no more than "id" may be an event's. */
const TICKET_NAMES: ReadonlySet<string> = new Set([
  ...WORDS.ticketId.split(" ").filter((word) => !/^(?:publicid|code|codice|codigo|cod|uuid|guid|id)$/.test(word)),
  "nftid",
]);
const TICKET_LIST =
  /^(?:orders?|sales?)?(?:items?|lines?|lineitems?|positions?|positionen|attendees?|seats?|admissions?|passes|billets|entradas|biglietti|bilhetes|kaarten|karten)$/;
const isTicketWord = (joined: string): boolean => TICKET_NAMES.has(joined) || isMadeOf("ticketId", joined);
/** Whether it is named like the id of one ticket: `Barcode`, `Ticket no`. */
export const namesTicket = (name: string): boolean => isTicketWord(joinedWords(name));
/** Whether a column of this name may hold the ids of tickets, of one or of several: `Barcodes`, `Ticket IDs`. */
export function namesTickets(name: string): boolean {
  const joined = joinedWords(name);
  return [joined, joined.replace(/s$/, ""), joined.replace(/(?:es?|en)$/, "")].some(isTicketWord);
}
/** Whether each item of a list of JSON may be a ticket. */
export function namesTicketList(path: string): boolean {
  const last = path.slice(path.lastIndexOf(".") + 1);
  return namesTickets(last) || TICKET_LIST.test(joinedWords(last));
}

/** `Ticket 1 Code`, `Attendee 2`: what it is called without its number; undefined of another name. */
export function numberedTicket(name: string): string | undefined {
  const [first = ""] = wordsOf(name);
  const isOfTicket = /\d/.test(name) && (namesTickets(first) || namesTicketList(first));
  return isOfTicket ? name.replace(/\d+/, "#") : undefined;
}
