/** Appends to a tamper-evident ledger on SQLite and verifies it. */
import { openLedger } from '@remit/core/ledger'

const folder = process.argv[2] ?? '.'
const ledger = await openLedger({
  database: `sqlite:${folder}/audit.db`,
  keyFile: `${folder}/audit.key`,
})

const { row } = await ledger.append({ kind: 'invoice.paid', data: { invoice: 4711 } })
console.log(`entry ${row.seq} has the hash ${row.hash}`)
const { status, checked } = await ledger.verify()
console.log(`${status}: ${checked.entries} entries`)
await ledger.close()
