/** The attacker of `pnpm bench isolation`, a separate process: see `attacks.ts`. */
import { ATTACKS, run } from './attacks.ts'
import type { AttackerSpec, FromAttacker } from './attacks.ts'

const spec = JSON.parse(process.argv[2] ?? '') as AttackerSpec
const tell = (message: FromAttacker) => process.send?.(message)
const attacks = spec.attacks.flatMap((name) => ATTACKS[name] ?? [])
const statuses: Record<number, number> = {}
let over = new AbortController()

for (const attack of attacks) await attack.prepare?.(spec.target)
tell({ kind: 'prepared' })

process.on('disconnect', () => process.exit(1))
process.on('message', (message) => {
  if (message === 'stop') {
    over.abort()
    tell({ kind: 'stopped', statuses })
    return
  }
  over = new AbortController()
  for (const attack of attacks)
    void run(attack, spec.target, over.signal, (status) => {
      statuses[status] = (statuses[status] ?? 0) + 1
    })
})
