/** Words by which the columns of an unknown export, and its statuses, are told: German, English, French, Italian, Spanish, Dutch, Portuguese. */

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
  plainText(name.replace(/[°º]/g, " ").replace(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, "$1 "))
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");

/** The surest first; compared with the whole name, or with words in a row of it, written together. */
export const WORDS = {
  ticketId:
    "ticketid barcode ticketcode ticketbarcode ticketnumber ticketno ticketreference ticketsecret ticketnummer ticketnr qrcode attendeeid publicid voucherid ticketref " +
    "strichcode kartennummer kartennr codebarres codeabarres codebillet numerobillet numerodebillet nbillet billetid idbillet codiceabarre codicebiglietto numerobiglietto nbiglietto " +
    "codigodebarras codigobarras codigoentrada numeroentrada numerodeentrada nentrada streepjescode kaartnummer numerobilhete numerodobilhete codigobilhete " +
    "ticket billet biglietto entrada boleto bilhete ingresso kaartje eintrittskarte code codice codigo uuid guid id",
  eventId:
    "eventid eventslug eventcode eventreference showid performanceid event veranstaltungsid veranstaltungsnummer veranstaltung vorstellung show evenement spectacle manifestation seance representation " +
    "evento spettacolo rappresentazione espectaculo funcion sesion voorstelling espetaculo sessao",
  userId:
    "userid customerid buyerid accountid memberid externalcustomerid kundennummer kundennr numeroclient nclient idclient clientid codiceclienti idcliente clienteid ncliente klantnummer klantnr email emailaddress buyeremail customeremail mail " +
    "courriel correo client cliente kunde klant kaufer kaeufer acheteur acquirente comprador koper",
  price:
    "ticketprice pricepaid paidprice price facevalue ticketvalue totalpaid amountpaid amount total totalamount paid preis ticketpreis betrag prix montant prezzo importo precio importe preco valor prijs bedrag gross",
  orderTime:
    "ordertime orderdate orderedat purchasedate purchasedat soldat soldon saledate dateofsale createdat createddate created bookingdate bookedat paidat " +
    "bestelldatum kaufdatum verkaufsdatum verkauftam buchungsdatum datedevente datevente datedachat dateachat datedecommande datedivendita datadivendita datavendita datadiacquisto dataacquisto " +
    "fechadeventa fechaventa fechadecompra fechacompra datadavenda datavenda datadacompra datacompra verkoopdatum aankoopdatum besteldatum datetime timestamp date time datum fecha data scannedat",
  status:
    "ticketstatus attendeestatus status orderstatus state paymentstatus zustand statut etat stato estado estatus toestand situacao situacion situation",
  quantity:
    "quantity qty tickets numberoftickets ticketspurchased anzahl menge count quantite nombre quantita cantidad quantidade aantal",
  currency: "currency currencycode paidcurrency waehrung wahrung devise valuta divisa moneda moeda munt",
  checkedIn: "checkedinat checkintime checkindate arrivaltime firstscannedat scannedat scantime checkedin",
  cancelled:
    "cancelledat canceledat refundedat invalidatedat ticketinvalidatedat voidedat storniertam stornodatum annulele dateannulation datedannulation dataannullamento fechaanulacion fechacancelacion datacancelamento annuleringsdatum",
  eventName:
    "eventname eventtitle event title veranstaltung veranstaltungsname titel titre nomevenement evenement titolo evento titulo espectaculo spettacolo",
  startTime:
    "eventstart startdate starttime startsat start begin beginn debut datedebut inizio datainizio inicio fechainicio datainicio aanvang",
  endTime: "eventend enddate endtime endsat end ende fin datefin fine datafine fim datafim fechafin einde",
} as const;

export const TRAITS: Readonly<Record<string, string>> = {
  "Ticket type":
    "tickettype ticketname product category productname tarif kategorie categorie categoria tariffa tarifa tarief typedebillet tipodientrada tipobiglietto",
  Section: "section seatzone zone block bereich zona settore secteur sector vak",
  Row: "row seatrow reihe rang rangee fila fileira rij",
  Seat: "seat seatnumber seatno platz sitz siege posto asiento stoel lugar",
};

/** Words that end in such a stem, or begin so: `Zahlungsstatus`, `Buchungszustand`. */
const STATUS_NAME =
  /(?:status|statut|zustand)$|^(?:etats?|stato|estado|estatus|toestand|situacao|situacion|situation|situazione|state)$/;

/** Statuses that need no explanation, whole. Of others the user must say what they are. */
const SOLD =
  /^(?:paid|sold|completed?|confirmed|active|valid|attending|acquired|issued|success|successful|ok|bezahlt|verkauft|bestatigt|gultig|paye|payee?s?|vendue?s?|confirmee?s?|valide|validee|pagat[oa]|vendut[oa]|confermat[oa]|pagad[oa]|pag[oa]|vendid[oa]|confirmad[oa]|betaald|verkocht|bevestigd|geldig)$/;
const GONE =
  /^(?:cancell?ed|refunded|void|voided|invalid|invalidated|revoked|storniert|storno|annull?iert|erstattet|annulee?s?|remboursee?s?|annullat[oa]|rimborsat[oa]|anulad[oa]|cancelad[oa]|reembolsad[oa]|estornad[oa]|geannuleerd|terugbetaald)$/;
const IN =
  /^(?:checked[ _-]?in|arrived|scanned|entered|eingecheckt|entree?s?|scannee?s?|entrat[oa]|scansionat[oa]|escanead[oa]|ingecheckt|gescand)$/;
/** Neither sold nor gone. */
const OPEN =
  /^(?:pending|open|unpaid|reserved|expired|failed|declined|draft|offen|ausstehend|unbezahlt|reserviert|abgelaufen|en attente|en cours|impayee?s?|reservee?s?|expiree?s?|in attesa|in sospeso|prenotat[oa]|scadut[oa]|pendientes?|reservad[oa]|caducad[oa]|pendentes?|expirad[oa]|in behandeling|openstaand|gereserveerd|verlopen)$/;
/** Somewhere in a longer text: `partially refunded`, `teilstorniert`, `payment pending`. */
const TELLS_OF_LOSS =
  /\b(?:cancel|refund(?!able)|pending|unpaid|annul|anulad|rembours|reembols|rimbors|geannul|terugbetaal|en attente|in attesa|pendient|pendente)|stornier|\bstorno|erstattet/;
const MOST_STATUS = 40;
/** Names of columns that say yes or no to it. */
const LOSS_NAME =
  /^(?:cancell?ed|refunded|voided?|storniert|storno|erstattet|annulee?|remboursee?|annullat[oa]|rimborsat[oa]|anulad[oa]|cancelad[oa]|reembolsad[oa]|estornad[oa]|geannuleerd|terugbetaald)$/;

const isWord = (pattern: RegExp) => (value: string) => pattern.test(plainText(value).trim());
export const saysSold = isWord(SOLD);
export const saysGone = isWord(GONE);
export const saysIn = isWord(IN);
const saysOpen = isWord(OPEN);

export const isStatusName = (name: string): boolean =>
  wordsOf(name).some((word) => STATUS_NAME.test(word) || LOSS_NAME.test(word));

/** Whether values are statuses by what they say, whatever their column is called. */
export function areStatuses(values: readonly string[]): boolean {
  const known = values.filter((value) => [saysSold, saysGone, saysIn, saysOpen].some((says) => says(value)));
  if (known.length >= 2 && known.length * 2 >= values.length) return true;
  return (
    values.length >= 2 && values.some((value) => value.length <= MOST_STATUS && TELLS_OF_LOSS.test(plainText(value)))
  );
}
