/**
 * Takes chance and time from a process and its threads, with `--import`: random bytes follow from a seed,
 * computing takes no time, and `setTime` sets the clock.
 */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

const seed = process.env['REMIT_CORPUS_SEED'] ?? ''
const drawn = new Map<string, number>()

/** The next value of a series: a hash of the seed, the name and the number of earlier values. */
export function draw(name: string): Buffer {
  const count = drawn.get(name) ?? 0
  drawn.set(name, count + 1)
  return crypto.hash('sha256', `${seed} ${name} ${count}`, 'buffer')
}

function bytes(name: string, size: number): Buffer {
  const first = draw(name)
  const parts = [first]
  for (let at = first.length; at < size; at += first.length)
    parts.push(crypto.hash('sha256', Buffer.concat([first, Buffer.from(String(at))]), 'buffer'))
  return Buffer.concat(parts).subarray(0, size)
}

let now = Date.parse('2026-11-20T08:00:00.000Z')
export const setTime = (ms: number): void => {
  now = ms
}
export const timeNow = (): number => now

/** Milliseconds that pass at each look at a clock of computing time. */
let hurry = 0
let computed = 0
export const setHurry = (ms: number): void => {
  hurry = ms
}
const look = () => (computed += hurry)

crypto.randomBytes = ((size: number) => bytes(`bytes ${size}`, size)) as typeof crypto.randomBytes
crypto.randomUUID = () => {
  const hex = draw('uuid').toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
syncBuiltinESMExports()
Math.random = () => draw('number').readUInt32BE() / 2 ** 32
Date.now = timeNow
performance.now = look
process.threadCpuUsage = () => ({ user: look() * 1000, system: 0 })
