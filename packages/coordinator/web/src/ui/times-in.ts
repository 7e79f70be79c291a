const STAMP = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const day = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** A sentence of the coordinator, with its exact times as the reader's clock and calendar. */
export function timesIn(text: string): string {
  return text.replaceAll(STAMP, (stamp) => {
    const at = new Date(stamp);
    const isToday = at.toDateString() === new Date().toDateString();
    return (isToday ? clock : day).format(at);
  });
}
