import type { CreateMeter } from '../meter.ts'
import { failing, outcome } from '../outcome.ts'
import { numberIn, recordIn, textIn } from '../recorded-json.ts'

/** The last inventory of a host in the period. */
interface HostInventory {
  readonly seq: number
  readonly ungoverned: number
  readonly unread: number
}

/** M52: agent hosts with parts that nothing governs, as the last inventory of each has them. */
export const hostsMeter: CreateMeter = ({ seqsOf }) => {
  const failed = seqsOf('DEC-7')
  const hosts = new Map<string, HostInventory>()
  return {
    reads: ['inventory.reported'],
    entry({ seq, data }, _state, inPeriod) {
      const inventory = recordIn(data, 'inventory')
      const host = inventory && textIn(inventory, 'host')
      if (!inPeriod || inventory === null || host === null) return
      const items = numberIn(inventory, 'items') ?? 0
      const governed = numberIn(inventory, 'governed') ?? 0
      const unread = numberIn(inventory, 'unread') ?? 0
      hosts.set(host, { seq, ungoverned: items - governed, unread })
    },
    end() {
      let [ungoverned, unread] = [0, 0]
      for (const host of hosts.values()) {
        ungoverned += host.ungoverned
        unread += host.unread
        if (host.ungoverned + host.unread > 0) failed.add(host.seq)
      }
      const value = { hosts: failed.count, ungoverned, unread }
      return {
        metrics: [{ id: 'M52', value, population: hosts.size }],
        checks: [
          outcome({
            check: 'DEC-7',
            population: hosts.size,
            value,
            failures: failing(failed, { n: failed.count, ungoverned, unread }),
          }),
        ],
      }
    },
  }
}
