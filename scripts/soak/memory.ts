import { readFileSync } from 'node:fs'
import type { PostgresNode } from '@remit/testing'
import type { Result } from '@remit/testing/bench'
import type { BenchServer } from '../bench/servers.ts'
import { slopeOf } from './account.ts'

const MIB = 2 ** 20
const PAGE = 4096
const SECONDS = 3600

/** The samples, and the growth in MiB per hour that an hour of load must stay below. */
const ROLES = {
  'heap of the server that is not restarted': 20,
  'resident memory of that server': 60,
  'own memory of PostgreSQL, all processes': 60,
} as const

type Role = keyof typeof ROLES

/** Memory of the processes of a soak, by their roles. */
export class Memory {
  readonly #server: BenchServer
  readonly #database: PostgresNode
  readonly #samples = new Map<Role, [seconds: number, mib: number][]>()
  count = 0

  constructor(server: BenchServer, database: PostgresNode) {
    this.#server = server
    this.#database = database
  }

  async sample(second: number): Promise<void> {
    this.count++
    const add = (role: Role, bytes: number) => {
      const known = this.#samples.get(role) ?? []
      known.push([second, bytes / MIB])
      this.#samples.set(role, known)
    }
    // After a garbage collection.
    add('heap of the server that is not restarted', await this.#server.heapBytes())
    add('resident memory of that server', (await this.#server.usage()).rssBytes)
    add('own memory of PostgreSQL, all processes', ownBytes(this.#database.processes()))
  }

  /** The growth in an hour. A shorter soak has no goal: the first minutes fill caches. */
  results(seconds: number): Result[] {
    return [...this.#samples].map(([role, samples]) => {
      const settled = samples.filter(([second]) => second > seconds / 4)
      return {
        name: role,
        value: slopeOf(settled) * SECONDS,
        unit: ' MiB/h',
        goal: seconds >= SECONDS ? { below: ROLES[role] } : null,
        detail: `${settled[0]?.[1].toFixed(0)} MiB after a quarter, ${settled.at(-1)?.[1].toFixed(0)} MiB at the end`,
      }
    })
  }
}

/** Resident bytes that a process shares with no other; 0 for one that has ended. */
function ownBytes(pids: readonly number[]): number {
  let pages = 0
  for (const pid of pids) {
    try {
      const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8')
        .split(' ')
        .map(Number)
      pages += resident - shared
    } catch {
      // Connections come and go.
    }
  }
  return pages * PAGE
}
