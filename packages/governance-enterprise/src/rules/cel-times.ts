import { celFunc, celMethod, CelScalar, objectType } from '@bufbuild/cel'
import type { CelFunc } from '@bufbuild/cel'
import { fromJson } from '@bufbuild/protobuf'
import { timestampFromMs, TimestampSchema } from '@bufbuild/protobuf/wkt'
import type { Timestamp } from '@bufbuild/protobuf/wkt'

const { INT, STRING } = CelScalar
const TIMESTAMP = objectType(TimestampSchema)

const DAY_MS = 86_400_000
const [MIN_SECONDS, MAX_SECONDS] = [-62_135_596_800n, 253_402_300_799n]
const OFFSET = /[+-](?:[01]\d|2[0-3]):[0-5]\d$/

/** A time in RFC 3339; throws for a day, hour or offset that does not exist, which the library shifts. */
function timestampOf(text: string): Timestamp {
  const written = text.slice(0, 19)
  const isReal =
    (text.endsWith('Z') || OFFSET.test(text)) &&
    new Date(`${written}Z`).toISOString().startsWith(written)
  if (!isReal) throw new Error('the text is not a time of RFC 3339')
  return fromJson(TimestampSchema, text)
}

function timestampAt(seconds: bigint): Timestamp {
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS)
    throw new Error('the time is not in the years 1 to 9999')
  return timestampFromMs(Number(seconds) * 1000)
}

/** A local time as if it were UTC. */
function localTime({ seconds, nanos }: Timestamp, zone = 'UTC'): Date {
  // Nanoseconds count upwards, also before 1970.
  const ms = Number(seconds) * 1000 + Math.floor(nanos / 1_000_000)
  const [, sign, hours, minutes] = /^([+-]?)(\d\d):(\d\d)$/.exec(zone) ?? []
  if (hours !== undefined) {
    if (Number(hours) > 23 || Number(minutes) > 59) throw new Error('there is no such time zone')
    const offset = (Number(hours) * 60 + Number(minutes)) * 60_000
    return new Date(sign === '-' ? ms - offset : ms + offset)
  }
  return zone === 'UTC' ? new Date(ms) : new Date(ms + offsetAt(ms, zone))
}

/** The milliseconds by which the clocks of a zone are ahead of UTC; throws for an unknown zone. */
function offsetAt(ms: number, zone: string): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]))
  const part = (name: Intl.DateTimeFormatPartTypes) => Number(parts.get(name))
  const year = parts.get('era') === 'BC' ? 1 - part('year') : part('year')
  const local = new Date(0)
  local.setUTCFullYear(year, part('month') - 1, part('day'))
  local.setUTCHours(part('hour'), part('minute'), part('second'))
  return local.getTime() - Math.floor(ms / 1000) * 1000
}

function dayOfYear(local: Date): number {
  const first = new Date(local)
  first.setUTCMonth(0, 1)
  return Math.round((local.getTime() - first.getTime()) / DAY_MS)
}

const GETTERS: Readonly<Record<string, (local: Date) => number>> = {
  getFullYear: (local) => local.getUTCFullYear(),
  getMonth: (local) => local.getUTCMonth(),
  getDate: (local) => local.getUTCDate(),
  getDayOfMonth: (local) => local.getUTCDate() - 1,
  getDayOfWeek: (local) => local.getUTCDay(),
  getDayOfYear: dayOfYear,
  getHours: (local) => local.getUTCHours(),
  getMinutes: (local) => local.getUTCMinutes(),
  getSeconds: (local) => local.getUTCSeconds(),
  getMilliseconds: (local) => local.getUTCMilliseconds(),
}

/**
 * Times in place of the library's, which shifts days that do not exist, rounds up to a millisecond,
 * and reads the parts of a time in the zone of the server, whose clocks skip an hour a year.
 */
export const TIMES: readonly CelFunc[] = [
  celFunc('timestamp', [INT], TIMESTAMP, timestampAt),
  celFunc('timestamp', [STRING], TIMESTAMP, timestampOf),
  ...Object.entries(GETTERS).flatMap(([name, part]) => [
    celMethod(name, TIMESTAMP, [], INT, function () {
      return BigInt(part(localTime(this.message)))
    }),
    celMethod(name, TIMESTAMP, [STRING], INT, function (zone) {
      return BigInt(part(localTime(this.message, zone)))
    }),
  ]),
]
