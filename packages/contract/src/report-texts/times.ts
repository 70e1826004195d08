const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
const DAY = 86_400_000

/** A period of whole UTC days as its first and last day; other periods as instants. */
export function periodText({ from, to }: { readonly from: string; readonly to: string }): string {
  if (!from.endsWith('T00:00:00.000Z') || !to.endsWith('T00:00:00.000Z'))
    return `${momentText(from)} to before ${momentText(to)}`
  const [first, last] = [dayText(Date.parse(from)), dayText(Date.parse(to) - DAY)]
  return first === last ? first : `${first} to ${last}`
}

/** `2026-01-31T08:00:00.000Z` for people, to the second. */
export const momentText = (time: string): string =>
  `${dayText(Date.parse(time))}, ${time.slice(11, 19)} UTC`

// Independent of the locale and time zone of the machine.
export function dayText(time: number): string {
  const date = new Date(time)
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}
