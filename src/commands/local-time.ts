/** Times for people: local, to the minute. An output names the zone once. */

const SHORT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

type Time = string | number | Date;

/** `28 Nov 03:00`; of another year `28 Nov 2025 03:00` */
export function localTime(time: Time): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return String(time);
  const [day = "", clock = ""] = SHORT.format(at).split(", ");
  return at.getFullYear() === new Date().getFullYear() ? `${day} ${clock}` : `${day} ${at.getFullYear()} ${clock}`;
}

/** The times of one output, of which the first names the zone: `28 Nov 03:00 (Europe/Berlin)`, then `28 Nov 03:12`. */
export function localTimes(): (time: Time) => string {
  let isNamed = false;
  return (time) => {
    const text = isNamed ? localTime(time) : `${localTime(time)} (${SHORT.resolvedOptions().timeZone})`;
    isNamed = true;
    return text;
  };
}
